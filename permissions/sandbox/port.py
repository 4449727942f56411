"""What a yes of the person opens to one call, and what the gate is offered of that.

Imports nothing of the sandbox itself: that is loaded with the first command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

File: TypeAlias = tuple[int, int] | None  # which one it is on its disk; None: there was none


class Opening(msgspec.Struct, frozen=True):
    """Files that one call may read, and others that it may change, because a person said so."""

    reads: Mapping[str, File] = msgspec.field(default_factory=dict[str, File])
    writes: Mapping[str, File] = msgspec.field(default_factory=dict[str, File])

    def __bool__(self) -> bool:
        return bool(self.reads or self.writes)


CLOSED = Opening()


class Offer(msgspec.Struct, frozen=True):
    """What a yes would open, and in one sentence what it would not."""

    opening: Opening = CLOSED
    kept: str = ""
