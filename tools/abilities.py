"""What a tool may offer besides the protocol; who wants it asks with isinstance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from gatewright.tools.access import Where
from gatewright.tools.blocks import Block


@runtime_checkable
class KeyedForLoops(Protocol):
    """Knows better than its whole input when two of its calls are the same."""

    def loop_key(self, input: Any) -> str:
        """Equal for calls that do the same; empty where repeating is the point (polling)."""
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """Can tell what a call would change in the file as it is now."""

    def foresee(self, input: Any, where: Where) -> Sequence[Block]:
        """Reads the file; nothing where that cannot be told, then `view` is all there is."""
        ...
