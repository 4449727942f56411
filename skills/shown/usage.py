"""How often skills were used, and which of them come first where not all can be described."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gatewright.tools.system.regular import read_regular

HALF_LIFE = 7.0  # days
LEAST = 0.1  # what is left of a use, however long ago
DAY = 86_400.0
APART = 60.0  # seconds between uses that count
KEPT = 1_000  # skills
LARGEST = 1024 * 1024


class Use(msgspec.Struct, frozen=True):
    """`last` is in seconds of the clock."""

    uses: int = 0
    last: float = 0.0


NEVER = Use()


def rank(use: Use, now: float) -> float:
    """Uses count less the longer ago the last one was, and never nothing."""
    days = max(0.0, now - use.last) / DAY
    return use.uses * max(math.exp2(-days / HALF_LIFE), LEAST)


def used(use: Use, now: float) -> Use:
    """Once more, but for a second time in one minute."""
    return use if 0 <= now - use.last < APART and use.uses else Use(use.uses + 1, now)


def read_uses(path: Path) -> Mapping[str, Use]:
    """By qualified name. A file that cannot be read says nothing."""
    try:
        return msgspec.json.decode(read_regular(path, LARGEST), type=dict[str, Use])
    except (OSError, ValueError, RecursionError):
        return {}


def kept(uses: Mapping[str, Use], now: float) -> Mapping[str, Use]:
    """Those worth keeping."""
    first = sorted(uses.items(), key=lambda item: -rank(item[1], now))
    return dict(first[:KEPT])
