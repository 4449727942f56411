"""What a session has of runs, for commands and front ends that ask for it by its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from gatewright.agent.workflows.runs.views import RunBook


class RunsPart(msgspec.Struct, frozen=True):
    """A part of what the extension brings that runs workflows; loaded when it is looked at."""

    opened: Callable[[], RunBook]

    @property
    def book(self) -> RunBook:
        return self.opened()
