"""Commands about what was said: summarise it, look where the tokens are, go back, name it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias

from gatewright.agent.commands.outcome import Choice, Outcome, Page, Pick, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.compact.estimate import text_tokens, turns_tokens
from gatewright.agent.errors import GatewrightError
from gatewright.agent.history.plan import Step
from gatewright.agent.session.history_actions import Past
from gatewright.agent.session.rewind import Gone, Point, What
from gatewright.tools.blocks import Block, Table, Text

SHOWN = 20
WIDTH = 60
SNIP = "[N | FROM-TO | last N | tool results | undo]"
Run: TypeAlias = Callable[[Past, CommandContext], Awaitable[Outcome]]
WHAT: dict[str, What] = {"both": "both", "talk": "talk", "conversation": "talk", "code": "code"}


def past_commands(past: Past, *, between: tuple[Command, ...] = ()) -> tuple[Command, ...]:
    """`between` are listed before the last one."""

    def of(name: str, summary: str, run: Run, args: str = "", *aliases: str) -> Command:
        bound = partial(run, past)
        return Command(name=name, summary=summary, args=args, aliases=aliases, run=bound)

    ways = "[N [both|talk|code|preview] | undo]"
    back = "Go back to an earlier message: conversation, files, or both"
    return (
        of(
            "compact",
            "Summarise the conversation to make room",
            compact,
            "[what to look to | --preview | undo]",
        ),
        of("snip", "Cut finished rounds out of the model's view", snip, SNIP),
        of("context", "Where the tokens of the window are", context_),
        of("rewind", back, rewind, ways, "checkpoint"),
        of("rename", "Name this session", rename, "TITLE"),
        *between,
        of("export", "Write this session to a file", export, "[md|json|html] [FILE]"),
    )


async def compact(past: Past, context: CommandContext) -> Outcome:
    args = context.args
    if args in ("--preview", "preview"):
        return Say(await _preview(past))
    if args == "undo":
        return Say(_gone(await past.undo()))
    done = await past.compact(args)
    return Say.text(
        f"Summarised: about {done.tokens_after:,} tokens instead of {done.tokens_before:,}. "
        "/compact undo takes it back."
    )


async def _preview(past: Past) -> tuple[Block, ...]:
    kept = await past.preview()
    words = sum(map(text_tokens, kept.words))
    rows = (
        ("Summarised", f"{kept.dropped} messages", ""),
        ("Your words before that, kept", f"{len(kept.words)} messages", f"{words:,}"),
        ("The newest part, kept", f"{len(kept.recent)} messages", f"{turns_tokens(kept.recent):,}"),
        ("Put back beside it", "plan, task list, files worked on last", ""),
    )
    return (Table(("", "", "Tokens"), rows),)


async def snip(past: Past, context: CommandContext) -> Outcome:
    if context.args:
        return await _snipped(past, context.args)
    rounds = await past.rounds()
    rows = tuple(
        (str(each.number), each.text[:WIDTH], f"{each.tokens:,}", "cut" if each.cut else "")
        for each in rounds
    )
    about = f"/snip {SNIP}. Nothing leaves the session's file."
    blocks = (Table(("", "Round", "Tokens", ""), rows), Text(about, "dim"))
    if not rounds:
        return Say.text("There is no finished round since the last summary or /clear.")
    choices = tuple(
        Choice(number, f"{number}. {text}", f"{tokens} tokens", cut, typed=f"/snip {number}")
        for number, text, tokens, cut in rows
    )
    return Pick(
        title="Cut a round out of the model's view",
        choices=choices,
        choose=partial(_snipped, past),
        about=(about,),
        at=len(choices) - 1,
        fallback=Say(blocks),
    )


async def _snipped(past: Past, wish: str) -> Outcome:
    try:
        done = await past.snip(wish)
    except GatewrightError as error:
        return Problem.of(str(error))
    if done.undo:
        return Say.text("The last cut is taken back: the model sees that again.")
    return Say.text(f"Cut: about {done.tokens:,} tokens are free. /snip undo takes it back.")


async def context_(past: Past, context: CommandContext) -> Outcome:  # noqa: ARG001  one signature
    return Page(title="Context", fallback=Say(tuple(await past.context())))


async def rewind(past: Past, context: CommandContext) -> Outcome:
    points = past.points()
    number, _, what = context.args.partition(" ")
    if number == "undo":
        return await _told(past.undo())
    if not number:
        nothing = Page(title="Go back to", fallback=Say(_points(points)))
        return _offered(past, points) if points else nothing
    if not number.isdecimal() or not 1 <= int(number) <= len(points):
        if not points:
            return Problem.of("There is nothing to go back to yet.")
        return Problem.of(f"/rewind takes a number from 1 to {len(points)}, or undo.")
    return await _back(past, points[len(points) - int(number)], what)


async def _back(past: Past, point: Point, what: str) -> Outcome:
    if what == "preview":
        steps = _steps(await past.plan(point.id))
        return Say((*steps, *((Text(past.unknown, "dim"),) if past.unknown else ())))
    if (what or "both") not in WHAT:
        return Problem.of("/rewind N takes both, talk, code or preview.")
    return await _told(past.go_back(point.id, WHAT[what or "both"]))


async def _told(going: Awaitable[Gone]) -> Outcome:
    try:
        return Say(_gone(await going))
    except GatewrightError as error:
        return Problem.of(str(error))


def _offered(past: Past, points: Sequence[Point]) -> Pick:
    """Messages to go back to; where files changed since, what goes back is asked too."""
    shown = list(reversed(points[-SHOWN:]))
    rows = [_row(number, point) for number, point in enumerate(shown, start=1)]

    async def choose(id: str) -> Outcome:
        number = next(n for n, point in enumerate(shown) if point.id == id)
        if any(point.files for point in shown[: number + 1]):
            return _what(past, shown[number], rows[number][2], number + 1)
        return await _back(past, shown[number], "")

    return Pick(
        fallback=Say(_points(points)),
        title="Go back to",
        choices=tuple(
            Choice(point.id, text, files, at, f"/rewind {number}")
            for point, (number, at, text, files) in zip(shown, rows, strict=True)
        ),
        choose=choose,
    )


def _what(past: Past, point: Point, label: str, number: int) -> Pick:
    def of(what: str, name: str, about: str = "") -> Choice:
        return Choice(what, name, about, typed=f"/rewind {number} {what}")

    async def again() -> Outcome:
        return _offered(past, past.points())

    return Pick(
        fallback=Say.text("/rewind N takes both, talk, code or preview."),
        title=f"Go back to before: {label}",
        choices=(
            of("both", "Conversation and files"),
            of("talk", "Conversation", "the files stay as they are"),
            of("code", "Files", "the conversation stays"),
            of("preview", "See what would change", "nothing is done yet"),
        ),
        choose=lambda what: _back(past, point, what),
        back=again,
    )


def _points(points: Sequence[Point]) -> tuple[Block, ...]:
    """The newest first, as they are numbered."""
    if not points:
        return (Text("There is nothing to go back to yet."),)
    newest = enumerate(reversed(points[-SHOWN:]), start=1)
    rows = tuple(_row(number, point) for number, point in newest)
    hint = Text("/rewind N goes back to before message N; /rewind N preview shows what it does.")
    return (Table(("", "At", "Message", "Changed"), rows), hint)


def _row(number: int, point: Point) -> tuple[str, str, str, str]:
    at = time.strftime("%H:%M", time.localtime(point.time))
    files = _files(point.files) if point.files else ""
    return str(number), at, " ".join(point.text.split())[:WIDTH], files


def _steps(steps: Sequence[Step]) -> tuple[Block, ...]:
    if not steps:
        return (Text("No file would change."),)
    rows = tuple(
        (
            {"change": "put back", "create": "made again", "delete": "deleted"}.get(
                step.kind, "left"
            ),
            str(step.target.path),
            step.why or f"+{step.added} -{step.removed}",
        )
        for step in steps
    )
    return (Table(("", "File", "Lines"), rows),)


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def _gone(gone: Gone) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if gone.text:
        blocks.append(Text(f"The conversation is back to before: {gone.text[:WIDTH]}"))
    if gone.restored is not None:
        count = len(gone.restored.undo)
        if count or not gone.text:
            blocks.append(Text(f"{_files(count)} put back."))
        blocks += [
            Text(f"Could not be put back: {text}", "warning") for text in gone.restored.failed
        ]
    if gone.left:
        names = ", ".join(f"{step.target.path} ({step.why})" for step in gone.left[:SHOWN])
        blocks.append(Text(f"Left as they are: {names}", "dim"))
    if gone.unknown:
        blocks.append(Text(gone.unknown, "dim"))
    if not blocks:
        blocks.append(Text("The conversation is back where it was."))
    blocks.append(Text("/rewind undo takes this back.", "dim"))
    return tuple(blocks)


async def rename(past: Past, context: CommandContext) -> Outcome:
    if not context.args:
        return Problem.of("Usage: /rename TITLE")
    return Say.text(f"This session is called: {past.rename(context.args)}")


async def export(past: Past, context: CommandContext) -> Outcome:
    format, _, target = context.args.partition(" ")
    path = await past.export(format or "md", target.strip())
    return Say.text(f"Written to {path}, with secrets taken out.")
