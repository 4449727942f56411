"""What can go wrong with a server, as its users need to know it. Every text is for people."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatewright.mcp.oauth.challenge import Refusal


class NotConnected(Exception):
    """It could not be connected; `again`: another try may help. `login`: it wants one."""

    def __init__(self, why: str, *, again: bool = False, login: Refusal | None = None) -> None:
        super().__init__(why)
        self.again, self.login = again, login


class Lost(Exception):
    """The connection is gone; `sent`: the server may have done what it was asked."""

    def __init__(self, why: str, *, sent: bool = False) -> None:
        super().__init__(why)
        self.sent = sent


class Refused(Exception):
    """The server answered, and its answer is an error of its own."""


class WantsLogin(Refused):
    """It answered that it wants another login than it has, if it has one."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence())
        self.refusal = refusal


def how_ended(code: int | None) -> str:
    """Of a program: 128 and more is a signal, which says more by its name."""
    try:
        name = signal.Signals((code or 0) - 128).name
    except ValueError:
        return f"exit code {code}"
    return f"signal {name}"
