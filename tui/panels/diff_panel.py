"""The list behind `/diff`: files by view; Enter reads one, and closing that returns to the list."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import Any, Protocol

from gatewright.agent.commands.diff import Changes, Diffs, Entry
from gatewright.tools.blocks import Text
from gatewright.tui.panels.tasks_panel import TasksScreen
from gatewright.tui.picker import Picking
from gatewright.tui.prompt.menu import Choice


class DiffScreen(TasksScreen, Protocol):
    """What the list needs of the screen."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None: ...


def open_diffs(outcome: Diffs, screen: DiffScreen, first: str = "", at: int = 0) -> None:
    """`first` is the view shown first, `at` the row in it."""
    views = sorted(outcome.views, key=lambda view: view.name != first)
    files = {f"{view.name} {file.path}": (view, file) for view in views for file in view.files}

    def pick(choice: Choice) -> None:
        view, file = files[choice.insert]
        screen.spawn(_read(outcome, screen, view, file))

    wide = max((len(file.counts) for _view, file in files.values()), default=0)
    screen.pick(
        Picking(
            "Changed",
            [_choice(view, file, wide) for view in views for file in view.files],
            pick=pick,
            tabs=[view.name for view in views],
            at=at,
        )
    )


async def _read(outcome: Diffs, screen: DiffScreen, view: Changes, file: Entry) -> None:
    blocks = (Text(f"{file.path}  {file.counts}  {view.about}"), *await outcome.show(file))
    again = partial(open_diffs, outcome, screen, view.name, view.files.index(file))
    screen.read(blocks, again, from_top=True)


def _choice(view: Changes, file: Entry, wide: int) -> Choice:
    kind = "" if file.kind == "changed" else file.kind
    detail = f"{file.counts.rjust(wide)}  {kind}".rstrip()
    return Choice(f"{view.name} {file.path}", file.path, detail)
