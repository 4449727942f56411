"""Which agent changed a file last, for whoever finds it other than it was read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

from gatewright.tools.access import MAIN
from gatewright.tools.system.exact import real_path

KEPT = 2_000  # files


class FileChanges:
    def __init__(self) -> None:
        self._by: OrderedDict[str, str] = OrderedDict()
        self._listening: list[Callable[[str, str], None]] = []

    def listen(self, heard: Callable[[str, str], None]) -> None:
        """From now on with each change: the agent, and the real path."""
        self._listening.append(heard)

    def wrote(self, agent: str, paths: Iterable[Path]) -> None:
        for path in paths:
            key = real_path(path)
            for heard in self._listening:
                heard(agent, key)
            self._by[key] = agent
            self._by.move_to_end(key)
        while len(self._by) > KEPT:
            self._by.popitem(last=False)

    def known(self, path: str) -> bool:
        """Whether an agent of this session changed what lies at that real path."""
        return path in self._by

    def of(self, agent: str) -> list[str]:
        """What that agent changed last, as real paths."""
        return [path for path, who in self._by.items() if who == agent]

    def by_others(self, agent: str) -> Callable[[str], str]:
        """For the ledger of that agent: who else changed a real path last."""

        def named(path: str) -> str:
            who = self._by.get(path, agent)
            if who == agent:
                return ""
            return "the main agent" if who == MAIN else f"agent {who.rpartition('/')[2]}"

        return named
