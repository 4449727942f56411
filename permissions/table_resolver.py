"""A resolver that answers from tables: no disk, no network, the same answers every time."""

from __future__ import annotations

from collections.abc import Mapping

from gatewright.permissions.paths import components_meet, lexical

MAX_LINKS = 40


class TableResolver:
    """Every path exists and is plain unless `links` says otherwise."""

    def __init__(
        self,
        *,
        links: Mapping[str, str] | None = None,
        hosts: Mapping[str, tuple[str, ...]] | None = None,
        is_dirty: bool = False,
        unlisted: str = "93.184.216.34",
    ) -> None:
        self._links = {lexical(link): target for link, target in (links or {}).items()}
        self._hosts = {host.lower(): answers for host, answers in (hosts or {}).items()}
        self._dirty = is_dirty
        self._unlisted = unlisted

    def real(self, path: str) -> str:
        if not self._links:
            return lexical(path)
        current = "/"
        pending = [part for part in path.split("/") if part not in ("", ".")][::-1]
        followed = 0
        while pending:
            part = pending.pop()
            if part == "..":
                current = current.rpartition("/")[0] or "/"
                continue
            step = f"{current}/{part}" if current != "/" else f"/{part}"
            target = self._links.get(step)
            if target is None:
                current = step
                continue
            followed += 1
            if followed > MAX_LINKS:
                return step  # a loop: no such file, and nothing it could escape to
            if target.startswith("/"):
                current = "/"
            pending.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
        return current

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

    def nested_repository(self, directory: str, root: str) -> bool:
        del directory, root
        return False

    def addresses(self, host: str) -> tuple[str, ...]:
        return self._hosts.get(host, (self._unlisted,))

    def dirty(self, directory: str) -> bool:
        del directory
        return self._dirty
