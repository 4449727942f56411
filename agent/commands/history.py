"""Commands about what was said: summarise it, look where the tokens are, go back, name it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gatewright.agent.commands import session_switch as goto
from gatewright.agent.commands.outcome import Outcome, Panel, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.compact.estimate import text_tokens, turns_tokens
from gatewright.agent.errors import GatewrightError
from gatewright.agent.history.plan import Step
from gatewright.agent.session.history_actions import Past
from gatewright.agent.session.rewind import Gone, Point, What
from gatewright.tools.blocks import Block, Table, Text

SHOWN = 20
WIDTH = 60
NO_PAST = "This session has no past to work with."
WHAT: dict[str, What] = {"both": "both", "talk": "talk", "conversation": "talk", "code": "code"}


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="compact",
            summary="Summarise the conversation to make room",
            args="[what to look to | --preview | undo]",
            run=compact,
        ),
        Command(name="context", summary="Where the tokens of the window are", run=context),
        Command(
            name="rewind",
            summary="Go back to an earlier message: conversation, files, or both",
            args="[N [both|talk|code|preview] | undo]",
            aliases=("checkpoint",),
            run=rewind,
        ),
        Command(name="rename", summary="Name this session", args="TITLE", run=rename),
        *goto.commands(),
        Command(
            name="export",
            summary="Write this session to a file",
            args="[md|json|html] [FILE]",
            run=export,
        ),
    )


async def compact(args: str, context: CommandContext) -> Outcome:
    past = context.past
    if past is None:
        return Say.text(NO_PAST, "warning")
    try:
        if args in ("--preview", "preview"):
            return Say(await _preview(past))
        if args == "undo":
            return Say(_gone(await past.undo()))
        done = await past.compact(args)
    except GatewrightError as error:
        return Say.text(str(error), "warning")
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


async def context(args: str, context: CommandContext) -> Outcome:
    del args
    if context.past is None:
        return Say.text(NO_PAST, "warning")
    try:
        return Panel("context", fallback=Say(tuple(await context.past.context())))
    except GatewrightError as error:
        return Say.text(str(error), "warning")


async def rewind(args: str, context: CommandContext) -> Outcome:
    past = context.past
    if past is None:
        return Say.text(NO_PAST, "warning")
    points = past.points()
    number, _, what = args.partition(" ")
    try:
        if number == "undo":
            return Say(_gone(await past.undo()))
        if not number:
            return Panel("rewind", fallback=Say(_points(points)))
        if not number.isdecimal() or not 1 <= int(number) <= len(points):
            return Say.text(f"/rewind takes a number from 1 to {len(points)}, or undo.", "warning")
        point = points[len(points) - int(number)]
        if what == "preview":
            return Say(_steps(await past.plan(point.id)))
        if (what or "both") not in WHAT:
            return Say.text("/rewind N takes both, talk, code or preview.", "warning")
        return Say(_gone(await past.go_back(point.id, WHAT[what or "both"])))
    except GatewrightError as error:
        return Say.text(str(error), "warning")


def _points(points: Sequence[Point]) -> tuple[Block, ...]:
    """The newest first, as they are numbered."""
    if not points:
        return (Text("There is nothing to go back to yet."),)
    rows = tuple(
        (
            str(number),
            time.strftime("%H:%M", time.localtime(point.time)),
            " ".join(point.text.split())[:WIDTH],
            _files(point.files) if point.files else "",
        )
        for number, point in enumerate(reversed(points[-SHOWN:]), start=1)
    )
    hint = Text("/rewind N goes back to before message N; /rewind N preview shows what it does.")
    return (Table(("", "At", "Message", "Changed"), rows), hint)


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
    if gone.text:
        blocks.append(Text(f"The conversation is back to before: {gone.text[:WIDTH]}"))
    if not blocks:
        blocks.append(Text("The conversation is back where it was."))
    blocks.append(Text("/rewind undo takes this back.", "dim"))
    return tuple(blocks)


async def rename(args: str, context: CommandContext) -> Outcome:
    if context.past is None or not args:
        return Say.text("Usage: /rename TITLE", "warning")
    return Say.text(f"This session is called: {context.past.rename(args)}")


async def export(args: str, context: CommandContext) -> Outcome:
    if context.past is None:
        return Say.text(NO_PAST, "warning")
    format, _, target = args.partition(" ")
    try:
        path = await context.past.export(format or "md", target.strip())
    except GatewrightError as error:
        return Say.text(str(error), "warning")
    return Say.text(f"Written to {path}, with secrets taken out.")
