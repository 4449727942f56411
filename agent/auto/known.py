"""What the session knows about a call besides the gate: what it made itself, and what was named.

Looked up on disk when a call is judged, in a thread; what cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from gatewright.agent.auto.entries import cut
from gatewright.agent.context.readable import Readable
from gatewright.tools.access import Access
from gatewright.tools.protocol import JsonObject

SCRIPT = 8_192  # bytes of a file that the session wrote and is about to run
MOST = 8  # files, hosts
_ADDRESS = re.compile(r"\b(?:https?|ssh|git|ftp|wss?)://([^\s/'\"<>|;&()]{1,255})", re.IGNORECASE)


class Known:
    """`wrote` are the real paths that the session changed, `words` all that the person said.

    `remotes` are those of the repository as they were before anything ran.
    """

    def __init__(
        self,
        remotes: JsonObject,
        readable: Readable,
        began: float,
        wrote: Callable[[str], bool],
        words: Callable[[], Iterable[str]],
        environment: Callable[[], Iterable[str]],
    ) -> None:
        self._remotes = remotes
        self._readable = readable
        self._began = began
        self._wrote = wrote
        self._words = words
        self._environment = environment

    def facts(self, access: Access, facts: Mapping[str, object]) -> JsonObject:
        """Blocks. Adds to what the gate found, never replaces it."""
        found: JsonObject = {}
        paths = [*_listed(facts.get("inside")), *_listed(facts.get("outside"))]
        writes = [path.partition(" ")[2] for path in paths if path.startswith("writes ")]
        reads = [path.partition(" ")[2] for path in paths if path.startswith("reads ")]
        if older := [path for path in writes if self._older(path)]:
            found["not_made_by_this_session"] = older[:MOST]
        if scripts := self._scripts(reads if access.runs is not None else ()):
            found["written_by_this_session"] = scripts
        if hosts := self._hosts(access):
            found["hosts"] = hosts
        if access.runs is not None and "git" in access.runs.command and self._remotes:
            found |= self._remotes
        return found

    def _older(self, path: str) -> bool:
        if self._wrote(path):
            return False
        try:
            return Path(path).lstat().st_mtime < self._began
        except OSError:
            return False

    def _scripts(self, paths: Iterable[str]) -> JsonObject:
        found: JsonObject = {}
        for path in paths:
            if len(found) < MOST and self._wrote(path):
                try:
                    data = self._readable.head(Path(path), SCRIPT)
                    found[path] = cut(data.decode("utf-8", "replace"))
                except OSError:
                    continue
        return found

    def _hosts(self, access: Access) -> JsonObject:
        hosts = [urlsplit(url).hostname or "" for url in access.urls]
        if access.runs is not None:
            named = _ADDRESS.findall(access.runs.command)
            hosts += [part.rpartition("@")[2].partition(":")[0].lower() for part in named]
        found: JsonObject = {}
        for host in list(dict.fromkeys(filter(None, hosts)))[:MOST]:
            by_person = any(_names(text, host) for text in self._words())
            listed = any(_names(text, host) for text in self._environment())
            found[host] = {"named_by_the_person": by_person, "in_environment": listed}
        return found


def _names(text: str, host: str) -> bool:
    """Whether the host stands there by itself, not as the end or the beginning of another."""
    pattern = rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _listed(value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    return [str(each) for each in cast("Sequence[object]", value)]
