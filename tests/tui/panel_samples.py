"""One panel of every kind there is, with rows that a number makes up. The lists are explicit:
who adds a panel adds a sample here, so that the fuzz and the pictures know it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gatewright.agent.commands import panels
from gatewright.agent.commands.diff import Changes, Diffs, Entry
from gatewright.agent.commands.outcome import Panel, Say, Secret, Sessions
from gatewright.agent.commands.plan import PlanFile
from gatewright.agent.commands.tasks import TaskRow, Tasks
from gatewright.tools.blocks import Block
from tests.tui.happenings import Chance


def _tasks(chance: Chance) -> Panel:
    count = chance.choice((0, 1, 30))
    rows = [_task(chance, n) for n in range(count)]

    def output(_id: str) -> Sequence[Block]:
        return chance.view()

    return Tasks("tasks", Say(()), rows=lambda: rows, output=output)


def _task(chance: Chance, number: int) -> TaskRow:
    return TaskRow(
        id=f"t{number}",
        title=chance.row(),
        seconds=chance.random() * 1e5,
        status=chance.choice(("running", chance.row())),
        running=chance.random() < 0.5,
        last=chance.row(),
    )


def _diffs(chance: Chance) -> Panel:
    entries = tuple(
        Entry(chance.row(), "changed", chance.randrange(-1, 9**6), 0, lambda: (None, None))
        for _ in range(chance.choice((0, 2, 30)))
    )
    views = tuple(Changes(name, chance.row(), entries, len(entries)) for name in ("one", "two"))

    async def show(_entry: Entry) -> Sequence[Block]:
        return chance.view()

    return Diffs("diff", Say(()), views=views, show=show)


def _sessions(chance: Chance) -> Panel:
    table = chance.table(5, chance.choice((0, 1, 30)))
    return Sessions("resume", Say((table,)), table=table)


def _plan(chance: Chance) -> Panel:
    async def save(_text: str) -> Say:
        return Say(chance.view())

    return PlanFile("plan", Say(()), text=chance.text(), save=save)


MADE: dict[type[Panel], Callable[[Chance], Panel]] = {
    Tasks: _tasks,
    Diffs: _diffs,
    Sessions: _sessions,
    PlanFile: _plan,
}
# Opened by their commands, for what they show has to be there for real.
BY_COMMAND: dict[type[Panel], str] = {
    panels.RulesPanel: "/permissions",
    panels.ConfigPanel: "/config",
    panels.DoctorPanel: "/doctor",
    panels.SettingChanged: "/config theme light",
}
BY_STEP = {Secret: "secret"}


def kinds(of: type[Panel] = Panel) -> Iterator[type[Panel]]:
    """Every kind of panel that a command may open."""
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)
