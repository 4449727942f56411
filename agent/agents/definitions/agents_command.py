"""/agents: every type of agent, whose it is and what it may use; try one, edit one, write a new."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gatewright.agent.commands.outcome import (
    Act,
    Choice,
    Draft,
    Form,
    Listing,
    Outcome,
    Problem,
    Say,
    Submit,
)
from gatewright.agent.commands.registry import Command, CommandContext, TaskRow
from gatewright.agent.commands.tasks import elapsed
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block, Markdown, Table, Text

if TYPE_CHECKING:
    from gatewright.agent.agents.definitions.book import KindBook
    from gatewright.agent.agents.definitions.rows import KindRow

USAGE = "Usage: /agents [NAME | try NAME TASK | new NAME DESCRIPTION]"
HINT = "/agents NAME shows one, /agents try NAME TASK starts one, /agents new NAME DESCRIPTION."
TASK = "Start the agent {name} with exactly this task, and tell me what it reports:\n\n{task}"
WIDTH = 60
RUNNING = "running"


class Definitions(Protocol):
    """What a session has of definitions; `folder` is where a new one of the project is kept."""

    @property
    def book(self) -> KindBook: ...
    @property
    def folder(self) -> Path: ...
    def at_work(self) -> Sequence[TaskRow]:
        """The agents that run."""
        ...


def agent_commands(agents: Definitions) -> tuple[Command, ...]:
    return (
        Command(
            name="agents",
            summary="Types of agents: what each may use, try one, write one",
            args="[NAME | try NAME TASK | new NAME DESCRIPTION]",
            run=partial(show_agents, agents),
        ),
    )


async def show_agents(agents: Definitions, context: CommandContext) -> Outcome:
    words = context.args.strip()
    verb, _, rest = words.partition(" ")
    name, _, more = rest.strip().partition(" ")
    if not words:
        return await asyncio.to_thread(listing, agents)
    if verb == "try" and name and more.strip():
        return _tried(agents, name, more.strip())
    if verb == "new" and name and more.strip():
        return await asyncio.to_thread(_made, agents, name, more.strip())
    if verb in ("try", "new"):
        return Problem.of(USAGE)
    blocks = await asyncio.to_thread(_details, agents, words)
    if blocks is None:
        return Problem.of(f"{agents.book.refusal(words)} {USAGE}")
    return Say(tuple(blocks))


def listing(agents: Definitions) -> Listing:
    """By what counts first; those that do not count say why."""

    async def read(id: str) -> Sequence[Block]:
        name, about = _named(id)
        if not name:
            return (Text(about, "warning"),)
        found = await asyncio.to_thread(_details, agents, *_named(id))
        return found if found is not None else (Text("It is gone.", "warning"),)

    async def try_one(id: str) -> Outcome:
        name = _named(id)[0]
        kind = agents.book.find(name)
        if any(row.id == name for row in agents.at_work()):
            return Problem.of("It is at work: enter opens it. t is for the types below.")
        if kind is None or kind.withheld:
            return Problem.of(agents.book.refusal(name) if name else "It cannot be used.")
        return Draft(fallback=Say.text(USAGE), text=f"/agents try {kind.name} ")

    async def edit(id: str) -> Outcome:
        return await asyncio.to_thread(_edited, agents, *_named(id))

    types = [*(_choice(row) for row in _rows(agents)), *_problems(agents)]
    return Listing(
        fallback=Say((*_table(agents), Text(HINT, "dim"))),
        title="Agents",
        rows=lambda: [*map(_running, agents.at_work()), *types],
        read=read,
        acts=(Act("t", "tries it on a task", try_one), Act("e", "edits its file", edit)),
        columns=("From", "State", "Model", "Agent", "For"),
        follows=True,
    )


def _rows(agents: Definitions) -> Sequence[KindRow]:
    from gatewright.agent.agents.definitions.rows import rows_of  # noqa: PLC0415  only who looks

    return rows_of(agents.book)


def _choice(row: KindRow) -> Choice:
    state = "" if row.state == "offered" else row.state
    return Choice(
        f"{row.name}\n{row.path}",
        row.name,
        state or _cut(row.description),
        row.source,
        f"/agents {row.name}",
        cells=(row.source, state, row.model, row.name, " ".join(row.description.split())),
    )


def _running(row: TaskRow) -> Choice:
    """One at work; what it says of itself is seen live."""
    return Choice(
        f"{row.id}\n",
        row.title,
        row.last,
        RUNNING,
        f"/tasks {row.id}",
        cells=(RUNNING, elapsed(row.seconds), "", row.title, row.last),
        numbers=(0.0, row.seconds),
        agent=row.agent,
    )


def _problems(agents: Definitions) -> Sequence[Choice]:
    """What cannot be used is there, too: chosen, it says why."""
    return [
        Choice(f"\n{text}", text, "", "wrong", cells=("", "wrong", "", text, ""))
        for text in agents.book.problems()
    ]


def _named(id: str) -> tuple[str, str]:
    """The name and the file that the id of a row stands for."""
    name, _, path = id.partition("\n")
    return name, path


def _table(agents: Definitions) -> tuple[Block, ...]:
    rows = tuple(
        (row.name, row.source, "" if row.state == "offered" else row.state, row.model,
         _cut(row.description))
        for row in _rows(agents)
    )  # fmt: skip
    problems = agents.book.problems()
    told = (Text("\n".join(problems), "warning"),) if problems else ()
    return Table(("Agent", "Source", "", "Model", "For"), rows), *told


def _details(agents: Definitions, name: str, path: str = "") -> Sequence[Block] | None:
    from gatewright.agent.agents.definitions.rows import facts_of  # noqa: PLC0415  only who looks

    wanted = name.strip().casefold()
    found = [row for row in _rows(agents) if row.name.casefold() == wanted]
    row = next((row for row in found if not path or row.path == path), None)
    if row is None:
        return None
    kind = agents.book.now().find(name)
    counts = kind is not None and str(kind.path or "") == row.path
    prompt = (Markdown(kind.prompt),) if kind is not None and counts else ()
    return Text(row.description), Table(("", ""), facts_of(row)), *prompt


def _tried(agents: Definitions, name: str, task: str) -> Outcome:
    kind = agents.book.find(name)
    if kind is None or kind.withheld:
        return Problem.of(agents.book.refusal(name))
    return Submit(TASK.format(name=kind.name, task=task))


def _edited(agents: Definitions, name: str, path: str) -> Outcome:
    row = next((row for row in _rows(agents) if row.name == name and row.path == path), None)
    if row is None or not row.path or row.source == "managed":
        return Problem.of(f"{name} has no file of yours; /agents new NAME DESCRIPTION writes one.")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Problem.of(f"{path} cannot be read: {error}.")

    async def take(changed: str) -> Outcome:
        return await asyncio.to_thread(_saved, agents, Path(path), changed)

    return Form(fallback=Say.text(f"{name} is defined in {path}."), text=text, take=take)


def _saved(agents: Definitions, path: Path, text: str) -> Outcome:
    """What was written is kept in any case; what is wrong with it is told."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        return Problem.of(f"{path} cannot be written: {error.strerror or error}.")
    wrong = [problem for problem in agents.book.problems() if problem.startswith(str(path))]
    return Problem.of("\n".join(wrong)) if wrong else Say.text(f"{path} is changed.")


def _made(agents: Definitions, name: str, description: str) -> Outcome:
    from gatewright.agent.agents.definitions.new_definition import (  # noqa: PLC0415  only who writes
        new_definition,
        write_definition,
    )

    try:
        text = new_definition(name, description, {})
        path = write_definition(agents.folder, name, text)
    except GatewrightError as error:
        return Problem.of(str(error))

    async def take(changed: str) -> Outcome:
        return await asyncio.to_thread(_saved, agents, path, changed)

    said = f"{path} is there: say in it what the agent does. It counts from the next call on."
    return Form(fallback=Say.text(said), text=text, take=take)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
