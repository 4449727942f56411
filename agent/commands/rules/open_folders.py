"""The directories of a session: looked at before they are opened, opened, and closed again.

A project's files never open one before the project is trusted.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import expanded

if TYPE_CHECKING:
    from gatewright.agent.commands.panels import Done, FolderRow, Proposal
    from gatewright.agent.commands.rules.keeping_places import Shelf


AT = ("permissions", "additionalDirectories")
SCANNED = 2000  # names of a directory that is being completed
OFFERED = 8
FIXED = {
    Source.MANAGED: "Your administrator opened it; only they can close it.",
    Source.FLAG: "It comes from --settings; change it there.",
}


class Doubt(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def never(self) -> bool: ...


class Doubts(Protocol):
    """Who knows which directories are protected."""

    def doubt(self, directory: Path) -> Doubt: ...


class FolderBook:
    def __init__(self, doubts: Doubts, live: LiveSettings) -> None:
        self._doubts = doubts
        self._live = live

    def shelves(self) -> list[Shelf]:
        from gatewright.agent.commands.rules.keeping_places import shelves  # noqa: PLC0415  lazy

        return shelves(self._live.around, directories=True)

    def rows(self) -> list[FolderRow]:
        """The project first."""
        from gatewright.agent.commands.panels import FolderRow  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.commands.rules.keeping_places import SESSION, place_of  # noqa: PLC0415  lazy

        self._live.refresh()
        around = self._live.around
        trust = "the project" if around.trusted else "the project, not trusted"
        root = str(around.where.root)
        rows = [FolderRow(root, root, "root", trust, "It is the project you work on.")]
        for source, texts in around.loaded.directories.items():
            name = SESSION if source is Source.CLI else str(source)
            place = place_of(name, around)
            fixed = FIXED.get(source, "")
            rows += (FolderRow(str(self._real(t)), t, name, place, fixed) for t in texts)
        return rows

    def look(self, text: str) -> Proposal:
        """Looks at the disk: call it in a thread."""
        from gatewright.agent.commands.panels import Proposal  # noqa: PLC0415  loaded with the commands

        text = text.strip()
        if not text:
            return Proposal(False, "A directory, such as ../shared or ~/notes.")
        where = self._live.around.where
        path = self._real(text)
        if not path.exists():
            return Proposal(False, f"There is no {path}.")
        if not path.is_dir():
            return Proposal(False, f"{path} is a file; its directory is {path.parent}.")
        for base in (where.root, *where.added):
            if path.is_relative_to(os.path.realpath(base)):
                return Proposal(False, f"It counts as inside already: {base} is open.")
        own = Path(os.path.realpath(self._live.around.places.home))
        doubt = self._doubts.doubt(path)
        if doubt.never or path.is_relative_to(own):
            never = doubt.text or "The agent's own configuration is never opened to it."
            return Proposal(False, never)
        if not os.access(path, os.R_OK | os.X_OK):
            return Proposal(False, f"You may not read {path} yourself.")
        return Proposal(True, f"Opens {path}: it counts as the project does.", (), doubt.text)

    async def proposal(self, text: str) -> Proposal:
        return await asyncio.to_thread(self.look, text)

    async def complete(self, text: str) -> list[str]:
        """Directories that the text may become."""
        return await asyncio.to_thread(lambda: sorted(self._completions(text))[:OFFERED])

    async def open(self, text: str, shelf: Shelf, *, anyway: bool = False) -> Done:
        from gatewright.agent.commands.panels import Done, FolderRow  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.settings.rulefile import put_entry  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.subcommands.place import refuse_inside_session  # noqa: PLC0415  loaded with the commands

        found = await self.proposal(text)
        if not found.valid:
            raise SettingsError(found.text)
        if found.doubt and not anyway:
            raise SettingsError(f"{found.doubt} /add-dir --anyway {text.strip()} opens it.")
        path = str(self._real(text.strip()))
        if shelf.file is None:
            self._live.add_directories((*self._own(), path))
        else:
            refuse_inside_session()
            await asyncio.to_thread(put_entry, shelf.file, AT, path)
            self._live.refresh(ours=True)
        row = FolderRow(path, path, shelf.name, shelf.place)

        async def back() -> str:
            return (await self.close(row)).text

        return Done(f"Open to {shelf.label}: {path}. {found.doubt}".rstrip(), back)

    async def close(self, row: FolderRow) -> Done:
        from gatewright.agent.commands.panels import Done  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.commands.rules.keeping_places import SESSION  # noqa: PLC0415  lazy
        from gatewright.agent.settings.rulefile import put_entry, take_entry  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.subcommands.place import refuse_inside_session  # noqa: PLC0415  loaded with the commands

        if row.fixed:
            raise SettingsError(row.fixed)
        if row.source == SESSION:
            before = self._own()
            self._live.add_directories([text for text in before if text != row.text])

            async def again() -> str:
                self._live.add_directories(before)
                return f"Open again: {row.path}"

            return Done(f"Closed to this session: {row.path}", again)
        path = self._live.around.places.file(Source(row.source))
        assert path is not None
        refuse_inside_session()
        taken = await asyncio.to_thread(take_entry, path, AT, row.text)
        self._live.refresh(ours=True)

        async def back() -> str:
            for index, entry in taken:
                await asyncio.to_thread(put_entry, path, AT, entry, index)
            self._live.refresh(ours=True)
            return f"Open again: {row.path}"

        return Done(f"Removed from {row.place}: {row.path}", back)

    def _own(self) -> tuple[str, ...]:
        return self._live.around.options.add_dirs

    def _real(self, text: str) -> Path:
        where, options = self._live.around.where, self._live.around.options
        return Path(os.path.realpath(expanded(text, Path(options.cwd or where.cwd), where.home)))

    def _completions(self, text: str) -> Iterator[str]:
        where = self._live.around.where
        head, slash, start = text.rpartition("/")
        base = expanded(f"{head}{slash}" or ".", where.cwd, where.home)
        try:
            with os.scandir(base) as entries:
                for number, entry in enumerate(entries):
                    if number >= SCANNED:
                        return
                    hidden = entry.name.startswith(".") and not start.startswith(".")
                    if entry.name.startswith(start) and not hidden and entry.is_dir():
                        yield f"{head}{slash}{entry.name}/"
        except OSError:
            return
