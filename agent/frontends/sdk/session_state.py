"""Whether a session works, waits for the client, or has nothing left to do, told as it changes.

A client of the public kind closes its end once a session is idle: so that is said only when no
turn is owed any more, neither to a message nor to an agent that still works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from gatewright.agent.frontends.sdk.shapes import Line
from gatewright.agent.session.session import Session

ASKED = "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"
FOR_THE_CLIENT = "CLAUDE_CODE_SDK_READS_SESSION_STATE"  # which keeps it from who uses it
OFF = ("", "0", "false", "no", "off")


class SessionState:
    """`owed` says that a turn is to come, `asking` that the client has a question to answer."""

    def __init__(
        self,
        session: Session,
        tell: Callable[[Line], object],
        *,
        owed: Callable[[], bool],
        asking: Callable[[], bool],
        hidden: bool,
    ) -> None:
        self._session = session
        self._tell = tell
        self._owed, self._asking = owed, asking
        self._hidden = hidden
        self._state = "idle"
        self._settling: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Tell it, if it has changed."""
        working = self._session.busy or self._owed()
        state = "requires_action" if self._asking() else "running" if working else "idle"
        if state == self._state:
            return
        self._state = state
        line: Line = {"type": "system", "subtype": "session_state_changed", "state": state}
        self._tell({**line, "sdk_host_only": True} if self._hidden else line)

    def turn_ended(self) -> None:
        """It is known a moment later whether another one follows."""
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle())

    async def _settle(self) -> None:
        await self._session.idle()
        self.look()

    def close(self) -> None:
        if self._settling is not None:
            self._settling.cancel()


def wanted(env: Mapping[str, str]) -> tuple[bool, bool]:
    """Whether anybody wants to know, and whether that is the client alone."""
    asked = env.get(ASKED, "").strip().lower() not in OFF
    client = env.get(FOR_THE_CLIENT, "").strip().lower() not in OFF
    return asked or client, not asked
