"""What a tool, or a source of them, may offer besides the protocol; who wants it asks for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

from gatewright.tools.access import Looks
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import ToolCall, ToolContext, ToolSpec


@runtime_checkable
class Looking(Protocol):
    """Its calls only look at something here: many of them are one step for people."""

    @property
    def looks(self) -> Looks: ...


@runtime_checkable
class KeyedForLoops(Protocol):
    """Knows better than its whole input when two of its calls are the same."""

    def loop_key(self, input: Any) -> str:
        """Equal for calls that do the same; empty where repeating is the point (polling)."""
        ...


@runtime_checkable
class Carrying(Protocol):
    """Only carries the call of another tool: that one is judged, shown, run and counted."""

    def carried(self, id: str, input: Any) -> ToolCall:
        """The call it carries, under the same id."""
        ...


@runtime_checkable
class Deferring(Protocol):
    """A source of tools some of which are found and called, and not offered with each request."""

    def deferred(self) -> Collection[str]:
        """Their names."""
        ...


@runtime_checkable
class Growing(Protocol):
    """A source that may have more tools later than when it was asked first."""

    def grows(self) -> bool: ...
    async def settled(self) -> None:
        """Wait, not for long, for what is on its way."""
        ...


@runtime_checkable
class Finding(Protocol):
    """A source that knows of more than tools: what a search finds besides them."""

    def found(self, query: str, most: int) -> Sequence[str]:
        """A line each, the best first."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A source whose descriptions take a share of the window of the model that reads them."""

    def sized(self, window: int, *, short: bool = False) -> Sequence[ToolSpec]: ...


@runtime_checkable
class Foreseeing(Protocol):
    """Can tell what a call would change in the file as it is now, or that it cannot succeed."""

    def foresee(self, input: Any, ctx: ToolContext) -> Sequence[Block]:
        """Reads the file and changes nothing; ToolFailure as `run` would raise it."""
        ...


@runtime_checkable
class Spending(Protocol):
    """A job that pays: what it used so far."""

    @property
    def tokens(self) -> int: ...
    @property
    def cost(self) -> float: ...


@runtime_checkable
class Paid(Spending, Protocol):
    """A job that is an agent, with its path."""

    @property
    def path(self) -> str: ...


@runtime_checkable
class Reporting(Protocol):
    """A job that has an id of its own, and says its end in its own words."""

    @property
    def id(self) -> str: ...
    def notice(self) -> str:
        """How it ended and what came of it, for the model of whoever started it."""
        ...

    def dismiss(self) -> None:
        """The person ends it, and not who started it."""
        ...
