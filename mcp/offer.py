"""What one server offers a model: as it was listed last, and as it was accepted."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from gatewright.mcp.definitions import Definition
from gatewright.mcp.described import Described, Hello, Listing
from gatewright.mcp.known import Known, KnownServers
from gatewright.mcp.names import tool_names
from gatewright.tools.protocol import ToolSpec

NEW = "A new tool of this server, which nobody has accepted yet: the person is asked."


class _Made(msgspec.Struct, frozen=True):
    """What a model is told of the tools, and `of` what that was made."""

    of: tuple[Listing, Known]
    specs: Sequence[ToolSpec]
    size: int


class Offer:
    def __init__(self, definition: Definition, store: KnownServers) -> None:
        self._definition, self._store = definition, store
        self.known = store.read(definition.signature) if definition.kept else Known()
        fresh = self.known if self.known.fresh(time.time()) else Known()
        self.hello = fresh.hello
        self.listing = Listing(tools=self._allowed(fresh.tools), prompts=fresh.prompts)
        self._made: _Made | None = None
        self._rename()

    def tools(self) -> dict[str, Described]:
        """By the name for a model."""
        return {self._named[tool.name]: tool for tool in self.listing.tools}

    def spec(self, name: str, tool: Described) -> ToolSpec:
        """As it was accepted; of what nobody accepted yet only the name."""
        shown = self.accepted(tool)
        if shown is None:
            return ToolSpec(name, NEW, {"type": "object"})
        return ToolSpec(name, shown.description or shown.title, shown.schema)

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return self._now().specs

    @property
    def size(self) -> int:
        """Characters that the tools would take in a request."""
        return self._now().size

    def _now(self) -> _Made:
        """Made once for what is listed and accepted: there may be a thousand tools."""
        made, of = self._made, (self.listing, self.known)
        if made is None or made.of[0] is not of[0] or made.of[1] is not of[1]:
            specs = [self.spec(name, tool) for name, tool in self.tools().items()]
            size = sum(len(msgspec.json.encode(spec)) for spec in specs)
            self._made = made = _Made(of, specs, size)
        return made

    def accepted(self, tool: Described) -> Described | None:
        """The tool as it was accepted; None for one that nobody has accepted."""
        if not self._definition.pinned:
            return tool
        pin = self.known.pins.get(tool.name)
        if pin == tool.pin:
            return tool
        return next(
            (old for old in self.known.accepted if old.name == tool.name and old.pin == pin), None
        )

    def accept(self) -> None:
        """All of its tools as they are now."""
        if self._definition.pinned:
            signature = self._definition.signature
            self.known = self._store.listed(signature, self.hello, self.listing, accept=True)

    def take(self, hello: Hello, listing: Listing) -> None:
        """What was listed just now."""
        self.hello = hello
        if self._definition.kept:
            self.known = self._store.listed(self._definition.signature, hello, listing)
        self.listing = msgspec.structs.replace(listing, tools=self._allowed(listing.tools))
        self._rename()

    def _allowed(self, tools: Sequence[Described]) -> tuple[Described, ...]:
        """Those that the definition lets anybody see."""
        return tuple(tool for tool in tools if self._definition.tools.show(tool.name))

    def _rename(self) -> None:
        self._named = tool_names(self._definition.name, (t.name for t in self.listing.tools))
