"""What another agent may say, as types: version 1 of the Agent Client Protocol, seen by a client.

Fields that nothing is done with are not named. Everything in them is a stranger's text.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gatewright.tools.system.untyped_json import obj

MANY = 1_000  # characters of a name


class _In(msgspec.Struct, frozen=True, rename="camel"):
    pass


class PromptAbilities(_In, frozen=True):
    image: bool = False


class Abilities(_In, frozen=True):
    prompt_capabilities: PromptAbilities | None = None


class Named(_In, frozen=True):
    name: str = ""


class Initialized(_In, frozen=True):
    protocol_version: int
    agent_capabilities: Abilities | None = None
    auth_methods: list[Named] | None = None

    @property
    def images(self) -> bool:
        abilities = self.agent_capabilities
        said = abilities.prompt_capabilities if abilities is not None else None
        return said is not None and said.image


class Opened(_In, frozen=True):
    session_id: str


class Tokens(_In, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None


class Prompted(_In, frozen=True):
    stop_reason: str
    usage: Tokens | None = None


class Cost(_In, frozen=True):
    amount: float
    currency: str = ""


class Place(_In, frozen=True):
    path: str


class Update(_In, frozen=True):
    """Of any kind: which, `session_update` says."""

    session_update: str = ""
    content: Any = None  # a block, or a list of what a tool shows
    tool_call_id: str = ""
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    locations: list[Place] | None = None
    raw_input: Any = None
    entries: list[Any] | None = None
    cost: Cost | None = None


class Notified(_In, frozen=True):
    session_id: str
    update: Update


LOST = "too much to be kept"  # in place of an input: no object, so nobody takes it for all of one


class Brief(_In, frozen=True):
    """Of an update what is always small enough to be kept."""

    session_update: str = ""
    tool_call_id: str = ""
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    cost: Cost | None = None

    def whole(self) -> Update:
        return Update(
            session_update=self.session_update,
            tool_call_id=self.tool_call_id,
            title=self.title and self.title[:MANY],
            kind=self.kind and self.kind[:MANY],
            status=self.status,
            content=_text(f"[{LOST}]") if self.session_update.endswith("_chunk") else None,
            raw_input=LOST,
            cost=self.cost,
        )


class BriefNotified(_In, frozen=True):
    session_id: str
    update: Brief


def brief(update: Update) -> Update:
    return msgspec.convert(update, Brief, from_attributes=True).whole()


class OfSession(_In, frozen=True):
    session_id: str


class ReadFile(OfSession, frozen=True):
    path: str
    line: int | None = None
    limit: int | None = None


class WriteFile(OfSession, frozen=True):
    path: str
    content: str


class Variable(_In, frozen=True):
    name: str
    value: str


class CreateTerminal(OfSession, frozen=True):
    command: str
    args: list[str] | None = None
    env: list[Variable] | None = None
    cwd: str | None = None
    output_byte_limit: int | None = None


class OfTerminal(OfSession, frozen=True):
    terminal_id: str


class Choice(_In, frozen=True):
    option_id: str
    kind: str = ""


class Permission(OfSession, frozen=True):
    tool_call: Update
    options: list[Choice]


def _text(text: str) -> Any:
    return {"type": "text", "text": text}


def text_of(block: object) -> str:
    """The text of a content block; what else it may be says only what it is."""
    table = obj(block)
    text = table.get("text")
    if table.get("type") == "text":
        return text if isinstance(text, str) else ""
    return f"[{str(table.get('type'))[:20]}]" if table else ""
