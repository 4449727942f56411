"""What the gate knows of the sandbox: whether a call runs in it, and what to say afterwards.

Imports nothing of the sandbox itself: that is loaded with the first command.
"""

from __future__ import annotations

from typing import Protocol

from gatewright.permissions.context import Context
from gatewright.tools.access import Access
from gatewright.tools.protocol import Asker, Confinement, ToolResult


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

    def enter(self, access: Access, ask: Asker) -> ConfinedCall | None:
        """The confinement for a call that was allowed; None: it runs outside."""
        ...

    def left(self, access: Access, confined: ConfinedCall | None) -> None:
        """The call is over."""
        ...

    def explained(self, confined: ConfinedCall | None, result: ToolResult) -> ToolResult:
        """The result with what the sandbox has to say about it, for the model."""
        ...
