"""The port through which something else than a person judges what would be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from gatewright.tools.access import Access
from gatewright.tools.judgement import Judgement, Word
from gatewright.tools.protocol import ToolCall


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waits for an answer: what it is, what it would touch, and why it asks.

    `facts` is what the gate found out about it, not what anybody says of it.
    """

    call: ToolCall
    access: Access
    agent: str
    mode: str
    reason: str
    facts: Mapping[str, object] = {}


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """The default is none at all: then a person answers, and without one the call does not run."""

    word: Word = ""
    text: str = ""  # one sentence: why, or why there is no opinion
    permits: str = ""  # of a refusal: what would let it run
    leave: str = ""  # with no opinion: the mode that a person may go on in
    stops: str = (
        ""  # where nobody is there the turn ends, as so much was refused: what it says then
    )
    judged: Judgement | None = None


class Classify(Protocol):
    async def __call__(self, pending: Pending) -> Opinion: ...
