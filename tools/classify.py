"""The port through which something else than a person judges what would be asked."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import msgspec

from gatewright.tools.access import Access
from gatewright.tools.protocol import ToolCall

Word: TypeAlias = Literal["", "allow", "deny", "ask"]


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waits for an answer: what it is, what it would touch, and why it asks."""

    call: ToolCall
    access: Access
    agent: str
    mode: str
    reason: str


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """The default is none at all: then a person answers, and without one the call does not run."""

    word: Word = ""
    text: str = ""  # one sentence: why, or why there is no opinion
    label: str = ""


class Classify(Protocol):
    async def __call__(self, pending: Pending) -> Opinion: ...
