"""Keeps what a call is about to change, before it runs: the other half of going back.

A file tool names the files it writes; a command may touch anything, so the project is kept as a
whole, once a turn and again at the turn's end, to know what the commands of that turn did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gatewright.agent.history.blobs import Blobs
from gatewright.agent.record.events import (
    AnyEvent,
    FileSaved,
    Noticed,
    TreeSaved,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.events_of_past import FileState
from gatewright.tools.access import Access
from gatewright.tools.system.exact import real_path

if TYPE_CHECKING:
    from gatewright.agent.history.shadow import Shadow


OFF = "Changes that commands make cannot be undone here"


class Checkpoints:
    """Owned by the session; `saw` is fed with its events, `before` is called for each call."""

    def __init__(
        self, blobs: Blobs, shadow: Shadow | None, emit: Callable[[AnyEvent], object]
    ) -> None:
        self._blobs = blobs
        self._shadow = shadow
        self._emit = emit
        self._saved: dict[Path, str] = {}  # of this turn, with the hashes
        self._open = False  # a command ran in this turn
        self._ending: asyncio.Task[None] | None = None
        self._warned = False
        self._working = asyncio.Lock()

    async def before(self, access: Access, *, losing: bool = False) -> None:
        """Returns once the state is safe. `losing`: uncommitted work is about to be thrown away."""
        async with self._working:  # agents side by side share one project
            await self._keep(access, losing=losing)

    async def _keep(self, access: Access, *, losing: bool) -> None:
        await self.settled()
        for path in access.writes:
            await self._save(path)
        if access.runs is not None and (losing or not self._open):
            await self._keep_tree(after=self._open)
            if self._open:  # the end of what was, and the beginning of what comes
                await self._keep_tree(after=False)
            self._open = True

    async def keeps(self, path: Path) -> bool:
        """Keep the project as it is now; whether all at and below a path is in that."""
        async with self._working:
            await self.settled()
            if self._shadow is None:
                return False
            await self._keep_tree(after=self._open)
            if self._open:
                await self._keep_tree(after=False)
            self._open = True
            return await asyncio.to_thread(self._holds, path)

    def _holds(self, path: Path) -> bool:
        if self._shadow is None:  # it could not be taken
            return False
        try:
            return self._shadow.holds(path)
        except OSError:
            return False

    def saw(self, event: AnyEvent) -> None:
        """A new turn of the person begins a new checkpoint."""
        if isinstance(event, UserMessage) and not event.hidden:
            if self._saved:
                self._blobs.turn(self._saved.values())
            self._saved = {}
        elif isinstance(event, TurnEnded) and self._open:
            self._open = False
            self._ending = asyncio.create_task(
                self._keep_tree(after=True), name="snapshot at the end of the turn"
            )

    async def settled(self) -> None:
        """Wait for the snapshot of the last turn's end."""
        if self._ending is not None:
            ending, self._ending = self._ending, None
            await ending

    async def _save(self, path: Path) -> None:
        if path in self._saved:
            return
        try:
            state = await asyncio.to_thread(self._state_of, path)
        except ValueError:  # no such name can be: the tool will say so
            return
        self._saved[path] = state.hash
        self._emit(FileSaved(state=state))

    def _state_of(self, path: Path) -> FileState:
        return self._blobs.state_of(Path(real_path(path)))

    async def _keep_tree(self, *, after: bool) -> None:
        if self._shadow is None:
            return
        try:
            taken = await asyncio.to_thread(self._shadow.take)
        except OSError as error:
            self._shadow = None
            self._warn(f"{OFF}: {error}.")
            return
        self._emit(TreeSaved(tree=taken.tree, after=after, left=taken.left))

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            self._emit(Noticed(text=text, tone="warning"))
