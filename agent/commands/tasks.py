"""/tasks: what runs in the background or did, what it prints, and how to end it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.commands.outcome import Outcome, Panel, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.tools import blocks
from gatewright.tools.blocks import Block, Output, Table, Text

if TYPE_CHECKING:
    from gatewright.agent.session.jobs import SessionJobs

WIDTH = 60
SHOWN = 20
NOTHING = "Nothing runs in the background."
HINT = "/tasks ID shows what it printed, /tasks stop ID ends it."


class TaskRow(msgspec.Struct, frozen=True):
    """A job at one moment: how it stands, how long it runs or ran, the last line it printed."""

    id: str
    title: str
    status: str
    running: bool
    seconds: float
    last: str


class Tasks(Panel, frozen=True, kw_only=True):
    """A list that follows what happens: `rows` are as they are when asked, the newest first."""

    rows: Callable[[], Sequence[TaskRow]]
    output: Callable[[str], Sequence[Block]]


def commands() -> tuple[Command, ...]:
    return (
        Command(
            name="tasks",
            summary="What runs in the background: look at it, stop it",
            args="[ID | stop ID]",
            aliases=("bashes",),
            run=tasks,
        ),
    )


async def tasks(args: str, context: CommandContext) -> Outcome:
    jobs = context.jobs
    if jobs is None:
        return Say.text(NOTHING)
    verb, _, id = args.partition(" ")
    try:
        if verb == "stop":
            id = id.strip()
            return Say.text(f"{id}: {await jobs.stop(id)}")
        if verb:
            return Say(tuple(_output(jobs, verb)))
    except GatewrightError as error:
        return Say.text(str(error), "warning")
    rows = jobs.rows()
    if not rows:
        return Say.text(NOTHING)
    cells = tuple(
        (row.id, row.status, elapsed(row.seconds), _cut(row.title), _cut(row.last)) for row in rows
    )
    table = Table(("Task", "State", "For", "Command", "Last line"), cells[:SHOWN])
    return Tasks(
        "tasks",
        fallback=Say((table, Text(HINT, "dim"))),
        rows=jobs.rows,
        output=lambda id: _output(jobs, id),
    )


def _output(jobs: SessionJobs, id: str) -> Sequence[Block]:
    """Raises GatewrightError where there is no such task."""
    job = jobs.known(id)
    state = f"{id}: {job.status()}, {elapsed(job.progress().seconds)}"
    return (blocks.Command(job.title), Output(job.output().rstrip()), Text(state, "dim"))


def elapsed(seconds: float) -> str:
    """A duration for people, by the second: 12 s, 3 min 05 s, 2 h 10 min."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole // 60 % 60:02d} min"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
