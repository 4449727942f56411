"""Work beside the screen, handed on as what makes it: of a task that is cancelled before its first
step nothing is left that was made and never awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App
    from textual.worker import Worker

Work = Callable[[], Coroutine[Any, Any, None]]
Spawn = Callable[[Work], None]


def start(app: App[int], work: Work, failed: Callable[[Exception], None]) -> None:
    """Run it for as long as the screen is there; `failed` hears of a defect in it."""

    async def told() -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  the front-end task: the session goes on
            failed(error)

    _: Worker[None] = app.run_worker(told, exit_on_error=False)
