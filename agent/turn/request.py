"""Builds the request for the next answer from what stays the same and what was said."""

from __future__ import annotations

import msgspec

from gatewright.agent.providers.protocol import Request
from gatewright.agent.record.conversation import Conversation
from gatewright.tools.protocol import JsonObject, ToolSpec


class RequestFrame(msgspec.Struct, frozen=True, kw_only=True):
    """Byte-stable for a session: providers cache this prefix. Tools are sorted by name.

    `raised_output` is the model's highest limit, asked for once an answer reached the usual one.
    """

    model: str
    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    max_output: int
    raised_output: int = 0
    effort: str = ""
    session: str = ""
    schema: JsonObject | None = None

    def can_raise(self) -> bool:
        return self.raised_output > self.max_output

    def request(self, talk: Conversation, agent: str, *, raised: bool = False) -> Request:
        return Request(
            model=self.model,
            system=self.system,
            tools=self.tools,
            turns=talk.view(),
            max_output=self.raised_output if raised else self.max_output,
            effort=self.effort,
            session=self.session,
            schema=self.schema,
            agent=agent,
        )
