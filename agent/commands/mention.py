"""What can be named behind an @, besides files, for who completes it."""

from __future__ import annotations

import msgspec


class Mention(msgspec.Struct, frozen=True, omit_defaults=True):
    """`name` is what stands behind the @; where it is `open` it goes on."""

    name: str
    about: str = ""
    open: bool = False
