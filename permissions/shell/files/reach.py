"""Where the words of a line lead: locations of operands, secrets, and what a part opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from gatewright.permissions.paths import Located, Paths, Place
from gatewright.permissions.rulebook.patterns import PathPattern, compile_pattern
from gatewright.permissions.rulebook.rules import PathForm
from gatewright.permissions.shell.danger.danger_table import CREDENTIALS, NOT_CREDENTIALS
from gatewright.permissions.shell.files.loose import Loose, loose_of
from gatewright.permissions.shell.files.operand import Operand, Touched
from gatewright.permissions.shell.files.operands import touched
from gatewright.permissions.shell.line import Bases, Part, Start
from gatewright.permissions.shell.parse.words import Arg
from gatewright.permissions.shell.patches import applied
from gatewright.permissions.shell.wrappers import wrapped_by

Use: TypeAlias = Literal["read", "write", "maybe"]


class Reach:
    """Looks words up for one line; every answer is for restricting unless it says otherwise."""

    def __init__(
        self, paths: Paths, start: Start, still: Callable[[], bool] = lambda: False
    ) -> None:
        """`still` tells whether nothing but the one command runs that is asked about."""
        self._still = still
        self.paths = paths
        self.start = start
        self._touched: dict[int, tuple[Part, Touched]] = {}
        self._loose: dict[int, tuple[Part, Loose]] = {}
        self._opened: dict[int, tuple[Part, tuple[Part, ...]]] = {}

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
        """What one part wraps, one level deep."""
        known = self._opened.get(id(part))
        if known is None:
            known = part, tuple(wrapped_by(part, self.start))
            self._opened[id(part)] = known
        return known[1]

    def touched(self, part: Part) -> Touched:
        """The part's files; remembered, because every stage asks again."""
        known = self._touched.get(id(part))
        if known is None:
            found = touched(part)
            if found.sweeps:
                found = applied(part, found, self.paths, still=self._still())
            known = part, found
            self._touched[id(part)] = known
        return known[1]

    def loose(self, part: Part) -> Loose:
        """What words of an unknown program may be; remembered like its files."""
        known = self._loose.get(id(part))
        if known is None:
            known = part, loose_of(part, self.opened_of)
            self._loose[id(part)] = known
        return known[1]

    def operands(self, parts: Iterable[Part]) -> Iterator[tuple[Operand, Use]]:
        """Every file operand of these parts, and what becomes of it."""
        for part in parts:
            of_part = self.touched(part)
            groups: tuple[tuple[tuple[Operand, ...], Use], ...] = (
                (of_part.reads, "read"), (of_part.writes, "write"), (of_part.maybe, "maybe")
            )  # fmt: skip
            for operands, use in groups:
                for one in operands:
                    yield one, use

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
