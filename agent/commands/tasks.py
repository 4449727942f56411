"""/tasks: what runs in the background or did, what it prints, and how to end it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from gatewright.agent.commands.outcome import Act, Choice, Listing, Outcome, Page, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext, ListedJobs, Resume, TaskRow
from gatewright.agent.errors import GatewrightError
from gatewright.agent.text.money import dollars
from gatewright.tools import blocks
from gatewright.tools.blocks import Block, Output, Table, Text

WIDTH = 60
SHOWN = 20
NAMED = 8  # of those that were stopped at once
COLUMNS = ("Type", "State", "For", "Tokens", "Cost", "Task", "Last line")
NOTHING = "Nothing runs in the background."
HINT = "/tasks ID shows what it printed, /tasks stop ID ends it."


def task_commands(jobs: ListedJobs, resume: Resume) -> tuple[Command, ...]:
    return (
        Command(
            name="tasks",
            summary="What runs in the background: look at it, stop it",
            args="[ID | stop ID]",
            aliases=("bashes",),
            run=partial(tasks, jobs, resume),
        ),
    )


async def tasks(jobs: ListedJobs, resume: Resume, context: CommandContext) -> Outcome:
    verb, _, id = context.args.partition(" ")
    if verb == "stop":
        return Say.text(await _stopped(jobs, id.strip()))
    if verb:
        return Say(tuple(_output(jobs, verb)))
    rows = jobs.rows()
    if not rows:
        return Page.text("Tasks", NOTHING)
    cells = tuple(
        (row.id, row.status, elapsed(row.seconds), _cut(row.title), _cut(row.last)) for row in rows
    )
    table = Table(("Task", "State", "For", "Command", "Last line"), cells[:SHOWN])
    return listing(jobs, resume, Say((table, Text(HINT, "dim"))))


def listing(jobs: ListedJobs, resume: Resume, fallback: Say) -> Listing:
    """Follows what happens, the newest first."""
    return Listing(
        fallback=fallback,
        title="Tasks",
        rows=lambda: [_choice(row) for row in jobs.rows()],
        read=partial(_read, jobs),
        acts=(
            Act("x", "stops", partial(_stop, jobs)),
            Act("X", "stops all", partial(_stop_all, jobs)),
            Act("r", "resumes", partial(_resume, jobs, resume)),
        ),
        columns=COLUMNS,
        follows=True,
    )


async def _read(jobs: ListedJobs, id: str) -> Sequence[Block]:
    try:
        return _output(jobs, id)
    except GatewrightError as error:  # so many came after it that it is forgotten
        return (Text(str(error), "warning"),)


async def _stop(jobs: ListedJobs, id: str) -> Outcome:
    row = next((row for row in jobs.rows() if row.id == id), None)
    if row is None or not row.running:
        return Say(())
    try:
        return Say.text(f"{_called(row)}: {await jobs.stop(id)}")
    except GatewrightError as error:
        return Problem.of(str(error))


async def _stop_all(jobs: ListedJobs, id: str) -> Outcome:
    del id  # whichever the cursor is on
    running = [row for row in jobs.rows() if row.running]
    ended = await asyncio.gather(*(_stop(jobs, each.id) for each in running))
    if problem := next((each for each in ended if isinstance(each, Problem)), None):
        return problem
    names = [_called(row) for row in running[:NAMED]]
    if more := len(running) - len(names):
        names.append(f"{more} more")
    return Say.text(f"Stopped: {', '.join(names) or 'nothing ran'}.")


def _called(row: TaskRow) -> str:
    """As the list shows it: an agent's id is nowhere on the screen."""
    return _cut(row.title.partition(": ")[0]) if row.agent else row.id


async def _resume(jobs: ListedJobs, resume: Resume, id: str) -> Outcome:
    row = next((row for row in jobs.rows() if row.id == id), None)
    if row is None or row.running or not row.agent:
        return Say.text("Only an agent that has ended can go on.", "dim")
    return await resume(row.agent)


def _choice(row: TaskRow) -> Choice:
    cells = (
        row.kind,
        row.status,
        elapsed(row.seconds),
        f"{row.tokens:,}" if row.tokens else "",
        dollars(row.cost) if row.cost else "",
        _task(row),
        row.last,
    )
    return Choice(
        row.id,
        row.title,
        row.last,
        row.kind,
        f"/tasks stop {row.id}",
        cells=cells,
        numbers=(0.0, float(row.running), row.seconds, float(row.tokens), row.cost),
        agent=row.agent,
    )


def _task(row: TaskRow) -> str:
    """What it is about; of an agent without its type, which many share."""
    title = " ".join(row.title.split())
    if not row.agent:
        return title
    called, _, task = title.partition(", ")
    name, colon, _ = called.rpartition(": ")
    return f"{name}: {task}" if colon else task or title


async def _stopped(jobs: ListedJobs, id: str) -> str:
    return f"{id}: {await jobs.stop(id)}"


def _output(jobs: ListedJobs, id: str) -> Sequence[Block]:
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
