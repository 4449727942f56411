"""A model opened for a session: how to ask it, what one request costs, how much fits."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from gatewright.agent.providers.protocol import Provider
from gatewright.agent.record.messages import Usage
from gatewright.agent.turn.request import RequestFrame
from gatewright.tools.protocol import JsonObject, ToolSpec


class OpenModel(msgspec.Struct, frozen=True, kw_only=True):
    name: str  # as people write it: provider/model, or an alias that depends on the mode
    provider: Provider
    frame: RequestFrame
    window: int
    price: Callable[[Usage], float]  # dollars of one request
    lack: str = ""  # what its server is likely to lack where calls come as text
    by_mode: bool = False  # planning or not decides which one it is
    structured: bool = False  # its API holds answers to a schema
    note: str = ""  # what the person should know of it, once
    aside: str = ""  # and who has just named it

    def briefed(
        self,
        system: tuple[str, ...],
        tools: tuple[ToolSpec, ...],
        schema: JsonObject | None = None,
    ) -> OpenModel:
        """The same model with a prompt and an array of its own: for an agent of another kind."""
        return replace(self, frame=replace(self.frame, system=system, tools=tools, schema=schema))
