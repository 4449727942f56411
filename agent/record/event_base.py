"""What every event is: a past-tense fact in plain values, kept or passing."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    durable: ClassVar[bool] = True
