"""The files' side of a session's past: what is kept before changes, and how it is put back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.history.blobs import Blobs
from gatewright.agent.history.checkpoints import Checkpoints
from gatewright.agent.history.worktree import WorkTree
from gatewright.agent.record.events import AnyEvent, TreeSaved
from gatewright.tools.system.git import Caller

if TYPE_CHECKING:
    from gatewright.agent.history.plan import Sources, Step, Target
    from gatewright.agent.history.restore import Restored
    from gatewright.agent.history.shadow import Change, Shadow


class HistoryPlaces(msgspec.Struct, frozen=True):
    """`own` is the session's folder, `shared` the project's; `trees` whether to keep whole ones."""

    own: Path
    shared: Path
    root: Path
    trees: bool = True
    origin: Path | None = None  # the folder of the session this one is a copy of
    keeping: bool = True  # files are kept before they change


class History:
    def __init__(
        self, places: HistoryPlaces, caller: Caller, emit: Callable[[AnyEvent], object]
    ) -> None:
        from gatewright.agent.history.shadow import Shadow  # noqa: PLC0415  lazy

        own = places.own / "history"
        self._blobs = Blobs(own, places.origin / "history" if places.origin else None)
        self._shadow = (
            Shadow(places.shared / "shadow", own, places.root, caller)
            if places.trees and (places.root / ".git").exists()
            else None
        )
        self.root = places.root
        self.keeping = places.keeping
        self.worktree = WorkTree(places.root, caller)
        self.checkpoints = Checkpoints(self._blobs, self._shadow, emit)

    @property
    def unknown(self) -> str:
        """What commands may have changed and nobody can put back here, in a sentence."""
        if self._shadow is None:
            return "What commands changed is not known here: this is no git repository."
        return "What commands did to files that git ignores, or that are large, is not known."

    async def plan(self, events: Sequence[AnyEvent]) -> list[Step]:
        """What putting files back to before these events would do right now."""
        await self.checkpoints.settled()
        return await asyncio.to_thread(self._plan, events)

    async def before(self, events: Sequence[AnyEvent]) -> list[Target]:
        """How the files that these events changed were before them."""
        await self.checkpoints.settled()
        return await asyncio.to_thread(self._targets, events)

    async def restore(self, plan: Sequence[Step]) -> Restored:
        from gatewright.agent.history.restore import restore  # noqa: PLC0415  lazy

        return await asyncio.to_thread(restore, plan, self._blobs)

    def _plan(self, events: Sequence[AnyEvent]) -> list[Step]:
        from gatewright.agent.history.plan import steps  # noqa: PLC0415  lazy

        return steps(self._targets(events))

    def _targets(self, events: Sequence[AnyEvent]) -> list[Target]:
        from gatewright.agent.history.plan import targets  # noqa: PLC0415  lazy

        shadow = self._shadow
        trees = [event for event in events if isinstance(event, TreeSaved)]
        if shadow is None:
            events = [event for event in events if not isinstance(event, TreeSaved)]
            return targets(events, self._sources(None))
        if trees and not trees[-1].after:  # the turn did not come to its end
            events = [*events, TreeSaved(tree=shadow.take().tree, after=True)]
        return targets(events, self._sources(shadow))

    def _sources(self, shadow: Shadow | None) -> Sources:
        from gatewright.agent.history.plan import Sources  # noqa: PLC0415  lazy

        if shadow is None:
            return Sources(self.root, self._blobs.get, _no_changes, _no_blob)
        return Sources(self.root, self._blobs.get, shadow.changes, shadow.blob)


def _no_changes(old: str, new: str) -> Sequence[Change]:
    """Outside a repository there are no snapshots to compare."""
    del old, new
    return ()


def _no_blob(name: str) -> bytes:
    raise FileNotFoundError(name)
