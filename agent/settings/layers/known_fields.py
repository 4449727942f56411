"""The fields of a part of the settings, looked at once: each look evaluates all annotations anew,
which for the whole schema takes as long as reading the files.
"""

from __future__ import annotations

from functools import cache

import msgspec
from msgspec import structs


@cache
def known_fields(kind: type[msgspec.Struct]) -> tuple[structs.FieldInfo, ...]:
    """In the order of the schema."""
    return structs.fields(kind)
