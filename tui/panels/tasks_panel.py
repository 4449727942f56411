"""The list behind `/tasks`: follows what happens while it is open, costs nothing when closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from gatewright.agent.commands.tasks import TaskRow, Tasks, elapsed
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block, Text
from gatewright.tui.picker import Key, Picking
from gatewright.tui.prompt.menu import Choice

EVERY = 1.0


class TasksScreen(Protocol):
    """What the list needs of the screen."""

    def pick(self, picking: Picking) -> None: ...
    def renew(self, old: Picking, new: Picking) -> bool: ...
    def every(self, seconds: float, work: Callable[[], bool]) -> None: ...
    def read(
        self, blocks: Sequence[Block], then: Callable[[], None], *, from_top: bool = False
    ) -> None: ...
    def run_line(self, line: str) -> None: ...


def open_tasks(outcome: Tasks, screen: TasksScreen, at: int = 0) -> None:
    """Show the list and keep it up to date for as long as it is there."""
    shown = _picking(outcome.rows(), outcome, screen, at)
    screen.pick(shown)

    def follow() -> bool:
        nonlocal shown
        before, fresh = shown, _picking(outcome.rows(), outcome, screen, at)
        if fresh.choices != before.choices:
            shown = fresh
        return screen.renew(before, shown)

    screen.every(EVERY, follow)


def _picking(rows: Sequence[TaskRow], outcome: Tasks, screen: TasksScreen, at: int) -> Picking:
    places = {row.id: n for n, row in enumerate(rows)}

    def read(choice: Choice) -> None:
        place = places[choice.insert]
        try:
            blocks = outcome.output(choice.insert)
        except GatewrightError as error:  # so many came after it that it is forgotten
            blocks = (Text(str(error), "warning"),)
        screen.read(blocks, lambda: open_tasks(outcome, screen, place))

    def stop(choice: Choice) -> None:
        if any(row.running for row in outcome.rows() if row.id == choice.insert):
            screen.run_line(f"/tasks stop {choice.insert}")

    return Picking(
        "Background tasks",
        [_choice(row) for row in rows],
        pick=read,
        keys=(Key("x", "stops", stop),),
        at=at,
    )


def _choice(row: TaskRow) -> Choice:
    state = f"{row.status} · {elapsed(row.seconds)}"
    return Choice(row.id, row.title, row.last if row.running else "", state)
