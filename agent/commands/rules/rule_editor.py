"""The permission rules of a session for people: looked at, tried, added, moved and taken away.

Rules of this session live in the gate; those of settings files are changed there, and count from
the next call on. Raises GatewrightError with a text for the person.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gatewright.agent.commands.rules.judged_calls import JudgedCalls
from gatewright.agent.commands.rules.open_folders import FolderBook
from gatewright.agent.errors import SettingsError
from gatewright.agent.settings.live_settings import LiveSettings
from gatewright.agent.settings.traits import Source
from gatewright.tools.blocks import Block

if TYPE_CHECKING:
    from gatewright.agent.commands.panels import Done, Proposal, RuleRow
    from gatewright.agent.commands.rules.keeping_places import Shelf
    from gatewright.agent.commands.rules.session_rules import Decided, Listed, SessionRules


FIXED = {
    "managed": "It comes from settings that your administrator manages; only they can change it.",
    "cli": "It was given on the command line and ends with this session.",
    "flag": "It comes from --settings; change it there.",
    "command": "It comes with a command and ends with it.",
    "builtin": "It is built in. An allow rule that names the path, such as "
    "Read(~/.ssh/config), goes before it.",
}
OTHERS = {
    "legacy": "It comes from an older agent's file; change it there.",
    "claude": "It comes from a settings file of Claude Code; change it there.",
}
T = TypeVar("T")


class Slot(NamedTuple):
    """A list in a settings file."""

    path: Path
    at: tuple[str, ...]


class Taken(NamedTuple):
    """An entry with its notes, and where it was."""

    slot: Slot
    number: int
    entry: object


class PermissionBook:
    def __init__(
        self,
        rules: SessionRules,
        live: LiveSettings,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._rules = rules
        self._live = live
        self.judged = JudgedCalls(live, say)
        self.folders = FolderBook(rules, live)

    def shelves(self) -> list[Shelf]:
        from gatewright.agent.commands.rules.keeping_places import shelves  # noqa: PLC0415  loaded with the commands

        return shelves(self._live.around)

    def rows(self) -> list[RuleRow]:
        self._live.refresh()
        own = self._own_here()
        return [
            self._row(rule, here=rule.source == Source.USER and (rule.behavior, rule.text) in own)
            for rule in self._rules.listed()
        ]

    def restrictions(self) -> Sequence[tuple[str, str]]:
        """Rules of this session alone that permit less: who goes on elsewhere relies on them."""
        from gatewright.agent.commands.rules.keeping_places import SESSION  # noqa: PLC0415  loaded with the commands

        own = [row for row in self.rows() if row.source == SESSION]
        return [(row.behavior, row.text) for row in own if row.behavior != "allow"]

    def _row(self, rule: Listed, *, here: bool) -> RuleRow:
        from gatewright.agent.commands.panels import RuleRow  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.commands.rules.keeping_places import ONLY_HERE, place_of  # noqa: PLC0415  loaded with the commands

        place = place_of(rule.source, self._live.around) + (ONLY_HERE if here else "")
        fixed = why_fixed(rule.source)
        return RuleRow(
            rule.behavior, rule.text, rule.source, rule.mark, rule.about, place, fixed, here
        )

    def _own_here(self) -> set[tuple[str, str]]:
        """Rules of the person's own file that are for this project alone."""
        around = self._live.around
        parts = [around.loaded.settings.projects.get(each) for each in self._spellings()]
        return {
            (behavior, entry if isinstance(entry, str) else entry.rule)
            for part in parts
            if part is not None
            for behavior, entries in (
                ("allow", part.permissions.allow),
                ("ask", part.permissions.ask),
                ("deny", part.permissions.deny),
            )
            for entry in entries
        }

    def _spellings(self) -> list[str]:
        root = self._live.around.places.root
        return sorted({str(root), str(root.resolve())})

    async def proposal(self, behavior: str, text: str) -> Proposal:
        from gatewright.agent.commands.panels import Proposal  # noqa: PLC0415  loaded with the commands

        found = self._rules.proposed(behavior, text.strip())
        return Proposal(found.valid, found.text, found.hints)

    def past(self) -> Sequence[Decided]:
        return self._rules.past()

    def explain(self, serial: int) -> Sequence[Block]:
        try:
            return self._rules.explain(serial)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    async def add(self, behavior: str, text: str, shelf: Shelf) -> Done:
        from gatewright.agent.commands.panels import Done  # noqa: PLC0415  loaded with the commands

        proposal = await self.proposal(behavior, text)
        if not proposal.valid:
            raise SettingsError(proposal.text)
        rule = text.strip()
        if not await self._put(shelf, behavior, rule):
            return Done(f"{behavior} {rule} stands in {shelf.place} already.")

        async def back() -> str:
            await self._take_from(shelf, behavior, rule)
            return f"Taken back: {behavior} {rule}"

        return Done(f"Added to {shelf.label}: {behavior} {rule}", back)

    async def remove(self, row: RuleRow) -> Done:
        from gatewright.agent.commands.panels import Done  # noqa: PLC0415  loaded with the commands

        told = f"{row.behavior} {row.text}"
        taken = await self._take(row, but=None)

        async def back() -> str:
            await self._give_back(row, taken)
            return f"Back in {row.place}: {told}"

        return Done(f"Removed from {row.place}: {told}", back)

    async def move(self, row: RuleRow, shelf: Shelf) -> Done:
        """It is added before it is removed: a denial never lapses on the way."""
        from gatewright.agent.commands.panels import Done  # noqa: PLC0415  loaded with the commands

        _require_changeable(row)
        told = f"{row.behavior} {row.text}"
        new = await self._put(shelf, row.behavior, row.text)
        taken = await self._take(row, but=shelf)

        async def back() -> str:
            await self._give_back(row, taken)
            if new:
                await self._take_from(shelf, row.behavior, row.text)
            return f"Back in {row.place}: {told}"

        return Done(f"Moved to {shelf.label}: {told}", back)

    async def _put(self, shelf: Shelf, behavior: str, text: str) -> bool:
        """False when it was there already."""
        from gatewright.agent.commands.rules.keeping_places import SESSION  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.settings.rulefile import put_entry  # noqa: PLC0415  lazy

        if shelf.file is None:
            same = (SESSION, behavior, text)
            if any((r.source, r.behavior, r.text) == same for r in self._rules.listed()):
                return False
            try:
                self._rules.add(behavior, text)
            except ValueError as error:
                raise SettingsError(str(error)) from error
            return True
        return await self._file(put_entry, _slot(shelf, behavior), text)

    async def _take_from(self, shelf: Shelf, behavior: str, text: str) -> None:
        from gatewright.agent.settings.rulefile import take_entry  # noqa: PLC0415  lazy

        if shelf.file is None:
            self._rules.remove(text, behavior)
        else:
            await self._file(take_entry, _slot(shelf, behavior), text)

    async def _take(self, row: RuleRow, but: Shelf | None) -> list[Taken]:
        from gatewright.agent.commands.rules.keeping_places import SESSION  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.settings.rulefile import take_entry  # noqa: PLC0415  lazy

        _require_changeable(row)
        if row.source == SESSION:
            if but is None or but.file is not None:
                self._rules.remove(row.text, row.behavior)
            return []
        kept = _slot(but, row.behavior) if but is not None and but.file is not None else None
        taken: list[Taken] = []
        for slot in self._slots(row):
            if slot != kept:
                found = await self._file(take_entry, slot, row.text)
                taken += (Taken(slot, index, entry) for index, entry in found)
        return taken

    async def _give_back(self, row: RuleRow, taken: Sequence[Taken]) -> None:
        from gatewright.agent.commands.rules.keeping_places import SESSION  # noqa: PLC0415  loaded with the commands
        from gatewright.agent.settings.rulefile import put_entry  # noqa: PLC0415  lazy

        if row.source == SESSION:
            self._rules.add(row.behavior, row.text)
        for slot, index, entry in taken:
            await self._file(put_entry, slot, entry, index)

    async def _file(self, change: Callable[..., T], slot: Slot, *given: object) -> T:
        """Change a file in a thread, then let it count."""
        from gatewright.agent.subcommands.place import refuse_inside_session  # noqa: PLC0415  lazy

        refuse_inside_session()
        done = await asyncio.to_thread(change, *slot, *given)
        self._live.refresh(ours=True)
        return done

    def _slots(self, row: RuleRow) -> list[Slot]:
        """Wherever rules of that source stand; one's own file has a part for this project."""
        places = self._live.around.places
        path = places.file(Source(row.source))
        if path is None:
            return []
        at = ("permissions", row.behavior)
        found = [Slot(path, at)]
        if row.source == Source.USER:
            found += (Slot(path, ("projects", each, *at)) for each in self._spellings())
        return found


def _slot(shelf: Shelf, behavior: str) -> Slot:
    assert shelf.file is not None
    return Slot(shelf.file, (*shelf.under, "permissions", behavior))


def _require_changeable(row: RuleRow) -> None:
    if row.fixed:
        raise SettingsError(row.fixed)


def why_fixed(source: str) -> str:
    """Why rules of this source are not changed here; empty where they are."""
    from gatewright.agent.commands.rules.keeping_places import CHANGEABLE  # noqa: PLC0415  loaded with the commands

    if source in CHANGEABLE:
        return ""
    other = OTHERS.get(source.partition("-")[0], FIXED["command"])
    return FIXED.get(source, other)
