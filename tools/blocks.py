"""What a tool shows to people, as plain data: a tool describes, a front end draws.

Every block has a plain-text form, so a front end that does not know a block still prints it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, assert_never

import msgspec

Tone: TypeAlias = Literal["normal", "dim", "good", "warning", "error"]
TodoState: TypeAlias = Literal["pending", "in_progress", "completed"]
WIDE = 78  # from here on a table of names and what they mean is broken by the terminal
NAME = 28


class _Block(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    pass


class Text(_Block, frozen=True, tag="text"):
    text: str
    tone: Tone = "normal"


class Markdown(_Block, frozen=True, tag="markdown"):
    text: str


class Code(_Block, frozen=True, tag="code"):
    """One that is `folded` is a row in a question, and read at a key."""

    text: str
    language: str = ""
    path: str = ""
    first_line: int = 1
    folded: bool = False


class Hunk(msgspec.Struct, frozen=True):
    """Lines prefixed by ' ', '-' or '+', with the 1-based line each side starts at."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]


class Diff(_Block, frozen=True, tag="diff"):
    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int


class Command(_Block, frozen=True, tag="command"):
    command: str
    cwd: str = ""
    note: str = ""


class Output(_Block, frozen=True, tag="output"):
    """What a command printed; `hidden_lines` were left out, and one line of the text says where."""

    text: str
    exit: int | None = None
    hidden_lines: int = 0


class Table(_Block, frozen=True, tag="table"):
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Share(msgspec.Struct, frozen=True, omit_defaults=True):
    """`spare` is what nothing has taken."""

    name: str
    amount: int
    spare: bool = False


class Shares(_Block, frozen=True, tag="shares"):
    """How a whole is parted, such as the window of a model."""

    parts: tuple[Share, ...]
    whole: int


class TodoItem(msgspec.Struct, frozen=True):
    text: str
    state: TodoState = "pending"


class Todo(_Block, frozen=True, tag="todo"):
    items: tuple[TodoItem, ...]


class Image(_Block, frozen=True, tag="image"):
    media_type: str
    alt: str
    path: str = ""


class Unknown(_Block, frozen=True, tag="unknown"):
    """A block written by a newer version or by an extension."""

    name: str
    raw: dict[str, Any]


Block: TypeAlias = (
    Text | Markdown | Code | Diff | Command | Output | Table | Shares | Todo | Image | Unknown
)

_TODO_MARK = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


def plain(block: Block) -> str:  # noqa: PLR0911  one kind each
    """The block as text, without styling and without a final newline."""
    match block:
        case Text(text=text) | Markdown(text=text) | Code(text=text):
            return text
        case Diff():
            return _plain_diff(block)
        case Command(command=command, cwd=cwd):
            return f"$ {command}\n  in {cwd}" if cwd else f"$ {command}"
        case Output():
            return _plain_output(block)
        case Table():
            return _plain_table(block)
        case Shares(parts=parts, whole=whole):
            rows = tuple((p.name, f"{p.amount:,}", percent(p.amount, whole)) for p in parts)
            return _plain_table(Table(("", "", ""), rows))
        case Todo(items=items):
            return "\n".join(f"{_TODO_MARK[item.state]} {item.text}" for item in items)
        case Image(alt=alt, path=path):
            return f"[image: {alt or path}]"
        case Unknown(name=name, raw=raw):
            return f"[{name}] {_json(raw)}"
        case _:
            assert_never(block)


def percent(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.1%}"


def _json(value: dict[str, Any]) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # half a pair of surrogates
        return json.dumps(value)


def _plain_diff(diff: Diff) -> str:
    lines = [f"{diff.path}  +{diff.added} -{diff.removed}"]
    for hunk in diff.hunks:
        lines.append(f"@@ -{hunk.old_start} +{hunk.new_start} @@")
        lines.extend(hunk.lines)
    return "\n".join(lines)


def _plain_output(output: Output) -> str:
    if output.exit:
        return f"{output.text}\n(exit {output.exit})".lstrip("\n")
    return output.text


def _plain_table(table: Table) -> str:
    rows = [table.headers, *table.rows] if any(table.headers) else list(table.rows)
    columns = max(map(len, (table.headers, *table.rows)))
    rows = [(*row, *[""] * (columns - len(row))) for row in rows]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(columns)]
    if len(widths) == 2 and sum(widths) > WIDE:
        widths[0] = min(widths[0], NAME)  # a longer name has a row of its own
    return "\n".join(_plain_row(row, widths) for row in rows)


def _plain_row(row: Sequence[str], widths: Sequence[int]) -> str:
    text = ""
    for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
        over = len(cell) > width and number < len(row) - 1
        text += f"{cell}\n{' ' * (width + 2)}" if over else f"{cell.ljust(width)}  "
    return text.rstrip()
