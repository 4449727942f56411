"""What changed of a project's files since the last look, whoever changed it.

Nothing runs between two looks: there is one where somebody is to be told, and it is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from gatewright.agent.lsp.watching.patterns import Wanted, anybody
from gatewright.agent.lsp.watching.walked import (
    MOST,
    TooLarge,
    TooSlow,
    Tree,
    below,
    looked,
    topmost,
)
from gatewright.agent.lsp.watching.walked import without as lacking

CREATED, CHANGED, DELETED = 1, 2, 3
LARGE: Final = (
    f"the project has more than {MOST:,} entries that git does not ignore: changes by commands of "
    "files that no server has open are not seen"
)
PAUSE = 30.0  # seconds after a look for which the disk had no time


class Change(NamedTuple):
    path: str
    kind: int


class Watch:
    """`left_out` says what git ignores below a directory: real paths."""

    def __init__(self, left_out: Callable[[str], Awaitable[Collection[str]]]) -> None:
        self._ask = left_out
        self._tree = Tree()
        self._roots: tuple[str, ...] = ()
        self._wanted: tuple[Wanted, ...] = ()
        self._left_out = set[str]()
        self._one = asyncio.Lock()
        self._not_before = 0.0
        self.why = ""  # it is not looked any more

    def knows(self, root: str) -> bool:
        """Whether there has been a look below it, or there will be none."""
        return bool(self.why) or root in self._roots or below(root, self._roots)

    async def look(self, wanted: Sequence[Wanted]) -> Sequence[Change]:
        """Of a directory that was not looked at before nothing has changed."""
        async with self._one:
            loop = asyncio.get_running_loop()
            if self.why or not wanted or loop.time() < self._not_before:
                return ()
            try:
                return await self._look(tuple(wanted))
            except TooLarge:
                self.why, self._tree = LARGE, Tree()
            except TooSlow:  # what changed is found by the next one
                self._not_before = loop.time() + PAUSE
            return ()

    async def _look(self, wanted: tuple[Wanted, ...]) -> Sequence[Change]:
        roots = topmost(each.root for each in wanted)
        for root in roots:
            if root not in self._roots:
                self._left_out |= set(await self._ask(root))
        tree = await asyncio.to_thread(
            looked, roots, lambda path: anybody(wanted, path), self._left_out
        )
        if any(below(each, self._roots) for each in tree.folders - self._tree.folders):
            for root in roots:  # a new directory may be one that git ignores
                self._left_out |= set(await self._ask(root))
            tree = lacking(tree, self._left_out)
        found = tuple(self._differs(tree, roots))
        self._tree, self._roots, self._wanted = tree, roots, wanted
        return found

    def _differs(self, tree: Tree, roots: Sequence[str]) -> Iterator[Change]:
        before = self._tree.files
        for path, stamp in tree.files.items():
            if path in before:
                if before[path] != stamp:
                    yield Change(path, CHANGED)
            elif below(path, self._roots) and anybody(self._wanted, path):
                yield Change(path, CREATED)
        for path in before.keys() - tree.files.keys():
            if below(path, roots) and not below(path, tree.unread):
                yield Change(path, DELETED)
