"""What changed, for a person to look through: since the last commit, in this session, in a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gatewright.agent.history.history import History
from gatewright.agent.history.worktree import WorkTree, read_now
from gatewright.agent.record.events import AnyEvent, Envelope, UserMessage
from gatewright.tools.blocks import Block, Text

if TYPE_CHECKING:
    from gatewright.agent.commands.diff import Changes, Entry, Sides
    from gatewright.agent.history.plan import Target


TURNS = 3  # the last ones that changed anything
SHOWN = 200  # files of a list
LOOKED_AT = 1000  # files of a turn


class Review:
    def __init__(self, history: History, events: Callable[[], Sequence[Envelope]]) -> None:
        self._history = history
        self._events = events

    async def changes(self) -> list[Changes]:
        """Only what has files in it. Never raises OSError: what cannot be read is not there."""
        found = [await asyncio.to_thread(self._uncommitted)]
        if self._history.keeping:
            found += await self._kept()
        return [each for each in found if each.files]

    def unknown(self) -> str:
        """What may have changed and is not listed, where git tells nothing."""
        return "" if self._history.worktree.there() else self._history.unknown

    async def drawn(self, entry: Entry) -> Sequence[Block]:
        """The change of a file as it is now."""
        return await asyncio.to_thread(_drawn, entry)

    def _uncommitted(self) -> Changes:
        from gatewright.agent.commands.diff import Entry  # noqa: PLC0415  loaded with the commands

        tree = self._history.worktree
        try:
            files = tree.changes() if tree.there() else []
        except OSError:
            files = []
        entries = [
            Entry(f.path, f.kind, f.added, f.removed, partial(_committed, tree, f.path))
            for f in files
        ]
        return _listed("uncommitted", "since the last commit", entries)

    async def _kept(self) -> list[Changes]:
        """By turn, the newest first, and above them the session as a whole."""
        events = [envelope.event for envelope in self._events()]
        starts = [n for n, event in enumerate(events) if _begins_turn(event)]
        if not starts:
            return []
        after: Mapping[Path, Target] = {}
        turns: list[Changes] = []
        for number, start in reversed(list(enumerate(starts, start=1))):
            end = starts[number] if number < len(starts) else len(events)
            before = {t.path: t for t in await self._history.before(events[start:end])}
            made = await asyncio.to_thread(self._between, before, after)
            if made:
                turns.append(_listed(f"turn {number}", f"in turn {number}", made))
            after = {**after, **before}
            if len(turns) == TURNS:
                break
        if len(turns) < TURNS:  # all turns were looked at
            whole = await asyncio.to_thread(self._between, after, {})
        else:
            first = {t.path: t for t in await self._history.before(events[starts[0] :])}
            whole = await asyncio.to_thread(self._between, first, {})
        return [_listed("session", "in this session", whole), *turns]

    def _between(self, old: Mapping[Path, Target], new: Mapping[Path, Target]) -> list[Entry]:
        """What differs; a file that is not in `new` is as it is on the disk."""
        from gatewright.agent.commands.diff import Entry  # noqa: PLC0415  loaded with the commands

        found: list[Entry] = []
        for path, target in sorted(old.items())[:LOOKED_AT]:
            if target.left:
                continue
            name = self._name(path)
            later = new.get(path)
            try:
                sides = (target.data, later.data if later else read_now(path))
            except OSError:
                found.append(Entry(name, "changed", -1, -1, partial(_now, target, path)))
                continue
            if sides[0] != sides[1]:
                found.append(_entry(name, sides))
        return found

    def _name(self, path: Path) -> str:
        root = self._history.root
        return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _drawn(entry: Entry) -> Sequence[Block]:
    from gatewright.tools.files.diff import diff  # noqa: PLC0415  lazy: 1 ms

    try:
        old, new = entry.load()
    except OSError as error:
        return (Text(f"{entry.path}: {error}", "warning"),)
    if _binary(old) or _binary(new):
        sizes = " -> ".join(
            "none" if side is None else f"{len(side):,} bytes" for side in (old, new)
        )
        return (Text(f"{entry.path}: binary, {sizes}"),)
    block = diff(entry.path, _text(old), _text(new))
    if not block.hunks:
        return (Text(f"{entry.path}: no change in the text"),)
    return (block,)


def _committed(tree: WorkTree, path: str) -> Sides:
    return tree.old(path), tree.new(path)


def _now(target: Target, path: Path) -> Sides:
    return target.data, read_now(path)


def _same(sides: Sides) -> Sides:
    return sides


def _entry(name: str, sides: Sides) -> Entry:
    from gatewright.agent.commands.diff import Entry  # noqa: PLC0415  loaded with the commands
    from gatewright.tools.files.diff import diff  # noqa: PLC0415  lazy: 1 ms

    old, new = sides
    kind = "new" if old is None else "deleted" if new is None else "changed"
    if _binary(old) or _binary(new):
        return Entry(name, kind, -1, -1, partial(_same, sides))
    block = diff(name, _text(old), _text(new))
    return Entry(name, kind, block.added, block.removed, partial(_same, sides))


def _listed(name: str, about: str, entries: Sequence[Entry]) -> Changes:
    from gatewright.agent.commands.diff import Changes  # noqa: PLC0415  loaded with the commands

    return Changes(name, about, tuple(entries[:SHOWN]), len(entries))


def _begins_turn(event: AnyEvent) -> bool:
    return isinstance(event, UserMessage) and not event.hidden


def _binary(data: bytes | None) -> bool:
    return data is not None and b"\0" in data[:8000]


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", errors="replace")
