"""What a server may use of the session: who is told and asked, and what it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gatewright.mcp.asked.questions import Elicitation, Reply, Sampled, Sampling
from gatewright.mcp.definitions import Definition
from gatewright.mcp.known import KnownServers
from gatewright.mcp.surroundings import Around


def nothing(name: str, what: str) -> None:
    """Nobody wants to hear of it."""


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    """What a server may use of the session."""

    around: Callable[[], Around]
    roots: Callable[[], Sequence[Path]]
    known: KnownServers
    logs: Path
    told: Callable[[str], None]  # for the person, once for each cause
    stdio: asyncio.Semaphore
    remote: asyncio.Semaphore
    cap: Callable[[], int]
    alone: bool  # nobody looks on
    background: Callable[[], float] = float  # seconds after which a call goes on by itself
    elicits: Callable[[str, Elicitation], Coroutine[Any, Any, Reply]] | None = None  # by name
    samples: Callable[[Definition, Sampling], Coroutine[Any, Any, Sampled]] | None = None
    listed: Callable[[], object] = tuple  # what a server offers may be something else
    updated: Callable[[str, str], object] = nothing  # a resource that was read, by name and URI
    completed: Callable[[str, str], object] = nothing  # what an address was opened for
