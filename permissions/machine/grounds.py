"""The directories that calls are judged by: the session's own, and those of its work trees."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from gatewright.permissions.paths import Place, Resolver, inside
from gatewright.permissions.rulebook.patterns import Patterns

MOST = 64


class Grounds:
    """For each root the place, and the rules about paths as they are meant there."""

    def __init__(self, place: Place, resolver: Resolver) -> None:
        self._own, self._resolver = (place, Patterns(place, resolver)), resolver
        self._trees: dict[str, tuple[Place, Patterns]] = {}

    def of(self, root: Path) -> tuple[Place, Patterns]:
        """In a work tree its root takes the place of the person's checkout."""
        place, _ = self._own
        text = str(root).rstrip("/") or "/"
        if text == place.root:
            return self._own
        found = self._trees.get(text)
        if found is None:
            if len(self._trees) >= MOST:
                self._trees.clear()
            found = self._trees[text] = self._tree(text, place)
        return found

    def _tree(self, root: str, main: Place) -> tuple[Place, Patterns]:
        start = root + main.start.removeprefix(main.root) if inside(main.start, main.root) else root
        place = replace(main, root=root, start=start, spelled=(), main=main.root)
        return place, Patterns(place, self._resolver, main)

    def clear(self) -> None:
        """Links may have changed."""
        self._own[1].clear()
        self._trees.clear()
