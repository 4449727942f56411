"""Runs as front ends read them, and what a person may do with one: plain values and a port."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from gatewright.agent.record.events_of_workflows import CallNow, PhaseNow, RunStatus
from gatewright.agent.record.messages import Usage


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `live` is false for one of an earlier process, which can only be looked at and
    resumed."""

    id: str
    name: str
    status: RunStatus
    title: str = ""
    description: str = ""
    phases: tuple[PhaseNow, ...] = ()
    phase: str = ""  # of the newest call
    total: int = 0
    done: int = 0
    running: int = 0
    failed: int = 0
    replayed: int = 0
    asks: int = 0
    tokens: int = 0
    usage: Usage = Usage()
    cost: float = 0.0
    seconds: float = 0.0
    began: float = 0.0  # seconds since the epoch
    why: str = ""  # how it ended, where it is not done
    result: str = ""  # what it returned, cut
    folder: Path = Path()
    script_path: Path = Path()
    result_path: Path | None = None
    task: str = ""  # the id of its job
    session: str = ""  # which one it belongs to
    live: bool = True
    budget: str = ""  # in words


class CallView(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a run, to be looked at."""

    now: CallNow
    prompt: str
    result: str = ""  # cut
    last: tuple[str, ...] = ()  # what its agent did last, a line each
    agent_path: str = ""  # to watch while it lives; empty before and where it was replayed
    transcript: Path | None = None
    worktree: str = ""


class RunBook(Protocol):
    """The runs of a session. Whatever is done to a run returns a sentence of how it went."""

    def views(self) -> Sequence[RunView]:
        """Those of this session, the newest first."""
        ...

    async def past(self) -> Sequence[RunView]:
        """Those of other sessions in this project, the newest first."""
        ...

    def view(self, run: str) -> RunView | None: ...
    def calls(self, run: str, *, phase: str | None = None) -> Sequence[CallNow]:
        """In their order; of one phase, or of all."""
        ...

    def call(self, run: str, index: int) -> CallView | None: ...
    def log(self, run: str) -> Sequence[str]: ...
    def script(self, run: str) -> str: ...
    def follow(self, changed: Callable[[str], object]) -> Callable[[], None]:
        """Called with the id of a run that changed, four times a second at most; until what is
        returned is called."""
        ...

    def pause(self, run: str) -> str: ...
    def unpause(self, run: str) -> str: ...
    async def stop(self, run: str) -> str: ...
    async def stop_call(self, run: str, index: int) -> str: ...
    async def restart_call(self, run: str, index: int) -> str: ...
    def message(self, run: str, index: int, text: str) -> str:
        """For the agent of a call that runs; its result is not replayed any more."""
        ...
