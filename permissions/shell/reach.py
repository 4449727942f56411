"""Where the words of a line lead: locations of operands, secrets, and what a part opens."""

from __future__ import annotations

from functools import lru_cache

from gatewright.permissions.paths import Located, Paths
from gatewright.permissions.patterns import PathPattern, compile_pattern
from gatewright.permissions.rules import PathForm
from gatewright.permissions.shell.danger_table import CREDENTIALS, NOT_CREDENTIALS
from gatewright.permissions.shell.line import Bases, Part, Start
from gatewright.permissions.shell.words import Arg
from gatewright.permissions.shell.wrappers import wrapped_by
from gatewright.permissions.paths import Place


class Reach:
    """Looks words up for one line; every answer is for restricting unless it says otherwise."""

    def __init__(self, paths: Paths, start: Start) -> None:
        self.paths = paths
        self.start = start

    def locations(self, arg: Arg, bases: Bases) -> tuple[Located, ...]:
        """Every place a word may mean, known as far as it goes; globs are left as they are."""
        found: list[Located] = []
        for base in bases:
            for text in arg.readings:
                if base is None and not text.startswith(("/", "~")):
                    continue
                if "\0" in text:
                    continue
                found.append(self.paths.locate(text, base or "/"))
        return tuple(found)

    def opened_of(self, part: Part) -> tuple[Part, ...]:
        return tuple(wrapped_by(part, self.start))

    def is_credential(self, path: str) -> bool:
        wanted, excepted = _credentials(self.paths.place.home)
        return wanted.matches(path) and not excepted.matches(path)


@lru_cache(maxsize=16)
def _credentials(home: str) -> tuple[_AnyOf, _AnyOf]:
    return _AnyOf(CREDENTIALS, home), _AnyOf(NOT_CREDENTIALS, home)


class _AnyOf:
    """Several path patterns at once, anchored at the root."""

    def __init__(self, patterns: tuple[str, ...], home: str) -> None:
        place = Place("/", "/", home, "/")
        self._patterns: tuple[PathPattern, ...] = tuple(
            compile_pattern(
                PathForm("/" + one if one.startswith("/") else one),
                place,
                builtin=True,
                real=lambda path: path,
            )
            for one in patterns
        )

    def matches(self, path: str) -> bool:
        return any(pattern.matches(path) for pattern in self._patterns)
