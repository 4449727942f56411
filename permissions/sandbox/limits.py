"""What a sandboxed command may use up: numbers and how people write them."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from gatewright.tools.system.patterns import later

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = later(r"(\d+)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


class Limits(msgspec.Struct, frozen=True):
    """0 leaves a resource as it is. `memory` and `fsize` count bytes, `cpu` seconds."""

    nproc: int = 4096
    memory: int = 0
    fsize: int = 0
    nofile: int = 0
    cpu: int = 0
    tmp: int = 4 << 30  # of the private /tmp, which lives in memory


NAMES = Limits.__struct_fields__


def with_limit(limits: Limits, text: str) -> Limits:
    """`limits` with one "name=value" set. Raises ValueError with a sentence."""
    known = f"Names: {', '.join(NAMES)}."
    name, equals, value = text.partition("=")
    name = name.strip().lower()
    if not equals:
        raise ValueError(f"A limit is written name=value, not {text!r}. {known}")
    number = size(value)
    if name not in NAMES:
        raise ValueError(f"There is no limit {name!r}. {known}")
    return replace(limits, **{name: number})


def size(text: str) -> int:
    """A number with an optional unit: 512M, 2GiB, 100. Raises ValueError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no size; write a number such as 64, 512M or 2G.")
    return int(found[1]) * _UNITS[found[2].upper()]


def written(size: int) -> str:
    """The same in its largest unit, as it may be typed: 512M, 4G; about, where it is no whole."""
    unit = next((name for name in "TGMK" if size >= _UNITS[name]), "")
    return f"{size / _UNITS[unit]:.1f}".removesuffix(".0") + unit


def resource_flags(limits: Limits) -> tuple[str, ...]:
    """The limits as arguments of prlimit(1); core dumps are never written."""
    counted = {
        "nproc": limits.nproc,
        "data": limits.memory,
        "fsize": limits.fsize,
        "nofile": limits.nofile,
        "cpu": limits.cpu,
    }
    return ("--core=0:0", *(f"--{name}={most}:{most}" for name, most in counted.items() if most))
