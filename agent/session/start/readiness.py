"""Loads what a first call takes while the model thinks: nobody waits for it then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from gatewright.agent.record.events import AnyEvent, InputDelta, TurnEnded, TurnStarted
from gatewright.agent.session.housekeeping import Once

Load = Callable[[Sequence[str]], object]


class Idle(Once):
    """Loads what the first request takes, while a person looks and types. Made in a loop."""

    def __init__(self, load: Load, modules: Sequence[str], *, after: float) -> None:
        super().__init__()
        self._task = asyncio.create_task(self._idle(load, modules, after), name="idle")
        self._loading = False

    async def _idle(self, load: Load, modules: Sequence[str], after: float) -> None:
        await asyncio.sleep(after)
        self._loading = True
        await asyncio.to_thread(load, modules)

    async def over(self) -> None:
        await (self.settled() if self._loading else self.close())


class Readiness(Once):
    """All of it once a turn has lasted `after` seconds; what a call names as soon as it begins.

    An answer that is over before has needed nothing.
    """

    def __init__(self, load: Load, modules: Sequence[str], *, after: float) -> None:
        self._load = load
        self._modules = modules
        self._after = after
        self._waiting = False
        super().__init__()

    def saw(self, event: AnyEvent, named: Mapping[str, Sequence[str]]) -> None:
        match event:
            case TurnStarted() if self._task is None:
                self._waiting = True
                self._task = asyncio.create_task(self._while_it_thinks(), name="readiness")
            case TurnEnded() if self._waiting and self._task is not None:
                self._task.cancel()
                self._task, self._waiting = None, False
            case InputDelta(name=name) if self._task is None or self._waiting:
                if self._task is not None:
                    self._task.cancel()
                self._waiting = False
                work = asyncio.to_thread(self._load, named.get(name, self._modules))
                self._task = asyncio.create_task(work, name="readiness")
            case _:
                pass

    async def _while_it_thinks(self) -> None:
        await asyncio.sleep(self._after)
        self._waiting = False
        await asyncio.to_thread(self._load, self._modules)

    async def over(self) -> None:
        """The session ends: what is being loaded comes to its end, what waits does not begin."""
        await (self.close() if self._waiting else self.settled())
