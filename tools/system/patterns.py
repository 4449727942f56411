"""Patterns that are compiled when they are first used: a start imports hundreds and needs a few."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, AnyStr, Generic, cast

if TYPE_CHECKING:
    from re import Pattern


def later(pattern: AnyStr, flags: int = 0) -> Pattern[AnyStr]:
    """As `re.compile`, for modules that a start loads; a mistake in it shows at the first use."""
    return cast("Pattern[AnyStr]", _Later(pattern, flags))


class _Later(Generic[AnyStr]):
    """Has the own bound methods of its pattern from the first use on: as quick as one then."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self._source: tuple[AnyStr, int] = (pattern, flags)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        made = re.compile(*self._source)
        self.__dict__.update(
            search=made.search,
            match=made.match,
            fullmatch=made.fullmatch,
            sub=made.sub,
            subn=made.subn,
            split=made.split,
            findall=made.findall,
            finditer=made.finditer,
            pattern=made.pattern,
            flags=made.flags,
            groups=made.groups,
            groupindex=made.groupindex,
        )
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None
