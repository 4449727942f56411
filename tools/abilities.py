"""What a tool may offer besides the protocol; who wants it asks with isinstance."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class KeyedForLoops(Protocol):
    """Knows better than its whole input when two of its calls are the same."""

    def loop_key(self, input: Any) -> str:
        """Equal for calls that do the same; empty where repeating is the point (polling)."""
        ...
