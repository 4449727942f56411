"""What a tool shows, as content of the Agent Client Protocol: one table from blocks to content.

A diff has whole texts where somebody knows them; else its hunks are text like anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from gatewright.tools.blocks import Block, Command, Diff, Hunk, Markdown, Output, Text, Todo, plain
from gatewright.tools.protocol import Content, ImageContent, TextContent
from gatewright.tools.system.untyped_json import Json

LARGEST = 1024 * 1024  # characters of one side of a diff
LONGEST = 100_000  # characters of anything else
NO_OUTPUT = "(no output)"
PRIORITY = "medium"  # our lists have none, and the protocol wants one


# An absolute path, the text before (None: there was no file), the text after.
Whole: TypeAlias = tuple[str, str | None, str]
WholeOf: TypeAlias = Callable[[Diff], Whole | None]


def unknown(diff: Diff) -> None:
    """Nobody knows more than the hunks."""
    del diff


def contents(view: Sequence[Block], whole_of: WholeOf = unknown) -> list[Json]:
    """All but a list of tasks, which is a plan."""
    return [content(block, whole_of) for block in view if not isinstance(block, Todo)]


def content(block: Block, whole_of: WholeOf = unknown) -> Json:
    match block:
        case Diff() if (whole := whole_of(block)) is not None:
            path, old, new = whole
            return {"type": "diff", "path": path, "oldText": old, "newText": new}
        case Command(command=command, cwd=cwd):
            note = f"\nin {cwd}" if cwd else ""
            return text_content(f"{fenced(command, 'sh')}{note}")
        case Output():
            return text_content(fenced(cut(plain(block))) if plain(block).strip() else NO_OUTPUT)
        case Diff():
            return text_content(fenced(cut(plain(block)), "diff"))
        case _:
            return text_content(cut(markdown(block).rstrip("\n")))


def markdown(block: Block) -> str:
    """What stands in columns or lines stays so: a client flows lines of a paragraph together."""
    text = plain(block)
    if isinstance(block, Markdown) or (isinstance(block, Text) and "\n" not in text.strip()):
        return f"{text}\n"
    return fenced(text) if text.strip() else ""


def results(content: Sequence[Content]) -> Iterator[Json]:
    """Of a call that shows nothing else: what the model got; pictures always."""
    for part in content:
        match part:
            case TextContent(text=text):
                yield text_content(fenced(cut(text)))
            case ImageContent():
                yield picture(part)
            case _:
                pass


def picture(part: ImageContent) -> Json:
    image = {"type": "image", "data": part.data, "mimeType": part.media_type}
    return {"type": "content", "content": image}


def text_content(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}


def terminal_content(id: str) -> Json:
    """A terminal of the client, which shows by itself what is printed in it."""
    return {"type": "terminal", "terminalId": id}


def plan(todo: Todo) -> Json:
    entries = [
        {"content": item.text, "priority": PRIORITY, "status": item.state} for item in todo.items
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def fenced(text: str, language: str = "") -> str:
    """Between fences that nothing in it can close."""
    longest = max((len(run) for run in _ticks(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _ticks(text: str) -> Iterator[str]:
    run = ""
    for line in text.split("\n") if "```" in text else ():
        run = line.lstrip()
        yield run[: len(run) - len(run.lstrip("`"))]


def cut(text: str, limit: int = LONGEST) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[{len(text) - limit:,} more characters]"


def applied(text: str, hunks: Sequence[Hunk], *, back: bool = False) -> str | None:
    """The text after the change, or before it; None where it is not what the hunks are about."""
    lines = text.splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    out: list[str] = []
    at = 0
    for hunk in hunks:
        start = max(0, (hunk.new_start if back else hunk.old_start) - 1)
        if start < at or start > len(lines):
            return None
        out += lines[at:start]
        at = start
        for line in hunk.lines:
            mark, body = line[:1], line[1:]
            if mark == ("-" if back else "+"):
                out.append(body + ending)
                continue
            if mark not in (" ", "+", "-") or at >= len(lines) or _bare(lines[at]) != body:
                return None
            if mark == " ":
                out.append(lines[at])
            at += 1
    out += lines[at:]
    if out and at == len(lines) and lines and not lines[-1].endswith("\n"):
        out[-1] = _bare(out[-1])  # hunks say nothing of a last line's end: it stays as it is
    return "".join(out)


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
