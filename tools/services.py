"""What a session offers to tools besides files and processes: plan mode, web search, a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

PlanStart: TypeAlias = Literal["edit", "accept_edits", "clear"]


class Planning(Protocol):
    """The session's plan mode; only a person's approval leaves it."""

    @property
    def path(self) -> Path:
        """The plan file, the one file plan mode may write."""
        ...

    @property
    def back(self) -> str:
        """The mode that the session goes back to."""
        ...

    def active(self) -> bool: ...
    def enter(self) -> None: ...
    def leave(self, start: PlanStart, plan: str) -> None: ...


class TerminalRun(Protocol):
    """A command in a terminal that is somebody else's, who keeps what it prints."""

    @property
    def dropped(self) -> bool:
        """Whether some of what it printed may be kept by nobody."""
        ...

    @property
    def fault(self) -> str:
        """Why no more is known of it, as half a sentence; empty where it ended, or was ended."""
        ...

    async def read(self) -> bytes:
        """What it printed since; empty at the end."""
        ...

    async def wait(self) -> int | None:
        """The exit status, 128 + n after signal n; None where nobody says."""
        ...

    async def kill(self, grace: float = 2.0) -> None:
        """Have it ended; returns within `grace` seconds whatever its owner does."""
        ...


class Terminal(Protocol):
    """Where commands run that nothing confines, if the person wants that."""

    def wanted(self) -> bool: ...
    async def run(self, argv: Sequence[str], cwd: Path, *, agent: str, call: str) -> TerminalRun:
        """ToolFailure where there is no terminal to be had: then nothing runs."""
        ...


class Hit(msgspec.Struct, frozen=True):
    """One result of a web search."""

    title: str
    url: str
    snippet: str = ""


class Searcher(Protocol):
    """A web search service, chosen in settings."""

    async def search(self, query: str, limit: int) -> Sequence[Hit]: ...


def everything(path: str) -> bool:
    """The read filter of a session without rules against reading."""
    return bool(path)
