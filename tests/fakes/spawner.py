"""Child processes that are scripts of a test: the port `tools.protocol.Spawn` without a kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from gatewright.tools.protocol import SpawnRequest

KILLED = -15


@dataclass(frozen=True)
class Script:
    """What one child prints and how it ends; `hangs` means only until it is killed."""

    output: tuple[bytes, ...] = ()
    exit: int = 0
    hangs: bool = False
    error: OSError | None = None  # raised instead of starting

    @classmethod
    def prints(cls, text: str, *, exit: int = 0) -> Script:
        return cls((text.encode(),), exit)


class FakeChild:
    """Implements `gatewright.tools.protocol.Child`."""

    def __init__(self, pid: int, script: Script) -> None:
        self.pid = pid
        self.killed = False
        self._script = script
        self._output = list(script.output)
        self._ended = asyncio.Event()
        if not script.hangs:
            self._ended.set()

    @property
    def code(self) -> int | None:
        ended = KILLED if self.killed else self._script.exit
        return ended if self._ended.is_set() else None

    async def read(self) -> bytes:
        if self._output:
            return self._output.pop(0)
        await self._ended.wait()
        return b""

    async def wait(self) -> int:
        await self._ended.wait()
        return KILLED if self.killed else self._script.exit

    async def kill(self, grace: float = 2.0) -> None:
        self.killed = self.killed or self._script.hangs
        self._ended.set()


class FakeSpawner:
    """Call it like `Spawn`. Scripts are used in order; `requests` is what was asked for."""

    def __init__(self, scripts: Sequence[Script] = ()) -> None:
        self._scripts = list(scripts)
        self.requests: list[SpawnRequest] = []
        self.children: list[FakeChild] = []

    async def __call__(self, request: SpawnRequest) -> FakeChild:
        self.requests.append(request)
        if not self._scripts:
            raise AssertionError(f"no script is left for {request.argv}")
        script = self._scripts.pop(0)
        if script.error:
            raise script.error
        child = FakeChild(1000 + len(self.requests), script)
        self.children.append(child)
        return child
