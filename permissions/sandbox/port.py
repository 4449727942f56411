"""What the gate knows of the sandbox: whether a call runs in it, and what to say afterwards.

Imports nothing of the sandbox itself: that is loaded with the first command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from gatewright.permissions.context import Context
from gatewright.permissions.decision import Named
from gatewright.tools.access import Access
from gatewright.tools.protocol import Asker, Confinement, ToolResult

File: TypeAlias = tuple[int, int] | None  # which one it is on its disk; None: there was none


@dataclass(frozen=True, slots=True)
class Opening:
    """Files that one call may read, and others that it may change, because a person said so."""

    reads: Mapping[str, File] = field(default_factory=dict[str, File])
    writes: Mapping[str, File] = field(default_factory=dict[str, File])

    def __bool__(self) -> bool:
        return bool(self.reads or self.writes)


CLOSED = Opening()


@dataclass(frozen=True, slots=True)
class Offer:
    """What a yes would open, and in one sentence what it would not."""

    opening: Opening = CLOSED
    kept: str = ""


class ConfinedCall(Confinement, Protocol):
    """The confinement of one call."""


class Commands(Protocol):
    """The session's sandbox. Nothing here raises."""

    async def ready(self, access: Access) -> Access:
        """Find out what works here, once; the facts as they count with that."""
        ...

    def refusal(self, access: Access) -> str:
        """Why a command must not run at all, or an empty string."""
        ...

    def judged(self, context: Context, access: Access) -> Context:
        """The context with what is true of the sandbox for this very call."""
        ...

    def offer(self, access: Access, names: tuple[Named, ...]) -> Offer:
        """What becomes of these files if a person says yes to the call."""
        ...

    def enter(self, access: Access, ask: Asker, opening: Opening = CLOSED) -> ConfinedCall | None:
        """The confinement for a call that was allowed; None: it runs outside."""
        ...

    def left(self, access: Access, confined: ConfinedCall | None) -> None:
        """The call is over."""
        ...

    def explained(self, confined: ConfinedCall | None, result: ToolResult) -> ToolResult:
        """The result with what the sandbox has to say about it, for the model."""
        ...
