"""One panel of every kind there is, with rows that a number makes up. The lists are explicit:
who adds a panel adds a sample here, so that the fuzz and the pictures know it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from gatewright.agent.commands import diff, panels, tasks
from gatewright.agent.commands.diff import Changes, Entry
from gatewright.agent.commands.outcome import (
    Choice,
    Draft,
    Form,
    Listing,
    Offer,
    Outcome,
    Page,
    Pick,
    Say,
    Secret,
)
from gatewright.agent.commands.registry import TaskRow
from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.runs.views import RunView
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import Job
from tests.fakes.run_book import RUN, FakeRuns
from tests.tui.happenings import Chance


class SomeJobs:
    """Tasks that a number makes up."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._rows = [_task(chance, n) for n in range(chance.choice((0, 1, 30)))]

    def rows(self) -> Sequence[TaskRow]:
        return self._rows

    def known(self, id: str) -> Job:
        raise GatewrightError(f"{self._chance.row()} {id}")

    async def stop(self, id: str) -> str:
        return self._chance.row()


def _tasks(chance: Chance) -> Offer:
    return tasks.listing(SomeJobs(chance), _resumed, Say(()))


async def _resumed(agent: str) -> Outcome:
    return Say.text(agent)


def _task(chance: Chance, number: int) -> TaskRow:
    return TaskRow(
        id=f"t{number}",
        title=chance.row(),
        seconds=chance.random() * 1e5,
        status=chance.choice(("running", chance.row())),
        running=chance.random() < 0.5,
        last=chance.row(),
        kind=chance.choice(("shell", "agent", chance.row())),
        tokens=chance.randrange(10**8),
        cost=chance.random() * 99,
        agent=chance.choice(("", "main/a1")),
    )


def _diffs(chance: Chance) -> Offer:
    entries = tuple(
        Entry(chance.row(), "changed", chance.randrange(-1, 9**6), 0, lambda: (None, None))
        for _ in range(chance.choice((0, 2, 30)))
    )
    views = tuple(Changes(name, chance.row(), entries, len(entries)) for name in ("one", "two"))

    async def show(_entry: Entry) -> Sequence[Block]:
        return chance.view()

    return diff.listing(views, show, Say(()))


def _pick(chance: Chance) -> Offer:
    def some(number: int) -> Choice:
        return Choice(f"c{number}", chance.row(), chance.row(), chance.row(), chance.row())

    async def choose(_id: str) -> Outcome:
        return Say(chance.view())

    count = chance.choice((0, 1, 30))
    return Pick(
        fallback=Say(()),
        title=chance.row(),
        choices=tuple(map(some, range(count))),
        choose=choose,
        about=tuple(chance.row() for _ in range(chance.choice((0, 2)))),
    )


def _form(chance: Chance) -> Offer:
    async def take(_text: str) -> Outcome:
        return Say(chance.view())

    return Form(fallback=Say(()), text=chance.text(), take=take)


def _listing(chance: Chance) -> Offer:
    return chance.choice((_tasks, _diffs))(chance)


def _workflows(chance: Chance) -> Offer:
    def some(number: int) -> RunView:
        return replace(
            RUN, id=f"wf_{number}", name=chance.row(), title=chance.row(), why=chance.row(),
            description=chance.text(), result=chance.text(),
        )  # fmt: skip

    runs = FakeRuns(*map(some, range(chance.choice((1, 2, 30)))))
    runs.many = [replace(call, label=chance.row(), doing=chance.row()) for call in runs.many]
    return runs.panel(chance.choice(("", "wf_0")))


MADE: dict[type[Offer], Callable[[Chance], Offer]] = {
    Listing: _listing,
    Pick: _pick,
    Form: _form,
    Page: lambda chance: Page(fallback=Say(chance.view()), title=chance.row()),
    panels.WorkflowsPanel: _workflows,
    Draft: lambda chance: Draft(fallback=Say(()), text=chance.text()),
}
# Opened by their commands, for what they show has to be there for real.
BY_COMMAND: dict[type[Offer], str] = {
    panels.RulesPanel: "/permissions",
    panels.ConfigPanel: "/config",
    panels.DoctorPanel: "/doctor",
}
BY_STEP = {Secret: "secret"}


def kinds(of: type[Offer] = Offer) -> Iterator[type[Offer]]:
    """Every kind of panel that a command may open."""
    for kind in of.__subclasses__():
        if kind is not panels.LivePanel:  # what they have in common
            yield kind
        yield from kinds(kind)
