"""What is kept of a judgement that somebody made of a call in a person's place."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Word: TypeAlias = Literal["", "allow", "deny", "ask"]


class Judgement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an opinion came about, for the record; without a verdict it is why there is none."""

    stage: str = ""  # fast, thinking, reused
    verdict: Word = ""
    label: str = ""
    model: str = ""
    ms: int = 0
    tokens: int = 0
    cost: float = 0.0
    reused: bool = False
