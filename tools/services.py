"""What a session offers to tools besides files and processes: plan mode, web search, a filter."""

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
