"""A call on its way: what is judged and shown of it before it runs, and what then runs."""

from __future__ import annotations

from typing import Any

import msgspec

from gatewright.tools.access import Access, Effect, Looks, Row
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import Tool, ToolCall, ToolResult

INVALID = Access(effects=Effect.DESTRUCTIVE)  # a call whose input cannot be read is never grouped


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A call as judged and shown before it runs; `error` is set when it cannot run.

    `loop_key` is what makes two calls of a tool the same to who looks for circles: None is the
    whole input, an empty string says that repeating the call is what it is for.
    """

    access: Access
    verb: str
    target: str
    view: tuple[Block, ...] = ()
    error: str = ""
    loop_key: str | None = None
    row: Row | None = None  # what a tool that is not built in states of itself
    looks: Looks = ""


class Foreseen(msgspec.Struct, frozen=True):
    """What a call would change as things are now, or how it would fail."""

    view: tuple[Block, ...] = ()
    failed: ToolResult | None = None


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A call read once: what was judged and shown of it is what runs.

    Of a call that only carries another one, `call` is the carried one. Without a tool it cannot
    run, and the facts say why.
    """

    call: ToolCall
    facts: Facts
    tool: Tool[Any] | None = None
    input: object = None

    @classmethod
    def unable(cls, call: ToolCall, error: str) -> Prepared:
        return cls(call=call, facts=Facts(access=INVALID, verb=call.name, target="", error=error))

    def judged_as(self, access: Access, error: str) -> Prepared:
        """With the facts as they count here."""
        facts = msgspec.structs.replace(self.facts, access=access, error=error)
        return msgspec.structs.replace(self, facts=facts)
