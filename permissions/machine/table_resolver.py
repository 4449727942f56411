"""A resolver that answers from tables: no disk, no network, the same answers every time."""

from __future__ import annotations

from collections.abc import Mapping

from gatewright.permissions.machine.links import Followed, followed
from gatewright.permissions.paths import components_meet, inside, lexical


class TableResolver:
    """Every path exists and is plain unless `links` says otherwise."""

    def __init__(
        self,
        *,
        links: Mapping[str, str] | None = None,
        hosts: Mapping[str, tuple[str, ...]] | None = None,
        is_dirty: bool = False,
        recoverable: tuple[str, ...] = (),
        unlisted: str = "93.184.216.34",
    ) -> None:
        self._links = {lexical(link): target for link, target in (links or {}).items()}
        self._hosts = {host.lower(): answers for host, answers in (hosts or {}).items()}
        self._dirty = is_dirty
        self._recoverable = recoverable
        self._unlisted = unlisted

    def real(self, path: str) -> str:
        if not self._links:
            return lexical(path)
        return self.followed(path).real

    def followed(self, path: str) -> Followed:
        return followed(path, self._links.get)

    def expand(self, pattern: str) -> tuple[str, ...] | None:
        """The known links a glob matches, and what lies behind a link it goes through."""
        parts = pattern.split("/")
        return tuple(
            link
            for link in self._links
            if all(map(components_meet, link.split("/"), parts)) and link.count("/") < len(parts)
        )

    def config_links(self) -> tuple[str, ...]:
        return tuple(
            self.real(link)
            for link in self._links
            if link.rpartition("/")[2].casefold() == ".gatewright"
        )

    def linked(self, directory: str) -> tuple[str, ...]:
        below = (link for link in self._links if link != directory and inside(link, directory))
        there = map(self.real, below)
        return tuple(place for place in there if not inside(place, directory))

    def nested_repository(self, directory: str, root: str) -> bool:
        del directory, root
        return False

    def planted(self, program: str) -> bool:
        del program
        return False

    def text(self, path: str, most: int) -> str | None:
        del path, most
        return None

    def addresses(self, host: str) -> tuple[str, ...]:
        return self._hosts.get(host, (self._unlisted,))

    def recoverable(self, path: str) -> bool:
        return any(inside(path, one) for one in self._recoverable)

    def loses(self, path: str, *, whole: bool) -> bool | None:
        """A table does not say which files there are."""
        del path, whole
        return None

    def dirty(self, directory: str) -> bool:
        del directory
        return self._dirty
