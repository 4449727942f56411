"""`/permissions`: rules by what they do, open directories, the last decisions.

Taking something away asks nothing: Ctrl+Z puts it back as it was.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.panels import Done, FolderRow, RuleRow, Undo
from gatewright.agent.errors import GatewrightError
from gatewright.tools.blocks import Block, plain
from gatewright.tui.line import Line, Span, line, wrap
from gatewright.tui.panels.field import Field, Wanted
from gatewright.tui.panels.listing import STEPS, Act, Item, Listing, Tabs
from gatewright.tui.panels.sheet import Press, Sheet
from gatewright.tui.sanitize import visible

if TYPE_CHECKING:  # the core: the screen is there before it
    from gatewright.agent.commands.rules.keeping_places import Shelf
    from gatewright.agent.commands.rules.rule_editor import PermissionBook
    from gatewright.agent.commands.rules.session_rules import Decided

BEHAVIORS = ("allow", "ask", "deny")
FOLDERS, PAST = "directories", "recent"
TABS = (*BEHAVIORS, FOLDERS, PAST)
JUDGED = "judge"
ENTRUSTED = {
    "": "What you say to the agent",
    "environment": "What is trusted (autoMode.environment, your settings)",
    "allow": "What may run (autoMode.allow, your settings)",
}
ADD, NONE = "add", "none"
UNDECIDED = "Nothing was decided since the program began"
BEFORE = "What was decided before a resume is not kept: have the call made again to act on it."
REMOVE = "remove"
TITLES = {"allow": "A rule that allows", "ask": "A rule that asks", "deny": "A rule that denies"}
OPENS = "It counts as inside from then on, for tools and for confined commands."
DOES = {
    "allow": "Calls that match run without asking.",
    "ask": "Calls that match always ask first.",
    "deny": "Calls that match never run.",
}


class RulesView:
    def __init__(self, sheet: Sheet, book: PermissionBook, tab: str = "") -> None:
        self._sheet = sheet
        self._book = book
        self._undo: Undo | None = None
        self._past: dict[object, Decided] = {}
        self.listing = Listing(
            "Permissions",
            self._load,
            self._enter,
            tabs=Tabs(TABS, tab),
            acts=self._acts,
            enters=lambda: "tells why" if self.listing.tab == PAST else "",
        )

    def _acts(self) -> Sequence[Act]:
        removes = Act(("ctrl+d", "delete"), "removes", self._remove)
        undoes = Act(("ctrl+z",), "undoes", self._undone)
        acts = self._on_refused() if self.listing.tab == PAST else (removes,)
        return (*acts, undoes) if self._undo else acts

    def _on_refused(self) -> tuple[Act, ...]:
        """What can be done about a call that a judge refused, or did not judge."""
        row = self.listing.chosen()
        past = self._past.get(row.of) if row is not None else None
        if past is None or past.behavior != "deny" or past.by != JUDGED:
            return ()
        return (
            Act(("ctrl+r",), "says it may run", partial(self._entrust, "")),
            Act(("ctrl+e",), "trusts what it is about", partial(self._entrust, "environment")),
            Act(("ctrl+a",), "allows such calls", partial(self._entrust, "allow")),
        )

    def _entrust(self, section: str, item: Item | None) -> None:
        past = self._past.get(item.of) if item is not None else None
        if past is None:
            return
        judged = self._book.judged
        begun = f"You may run this: {past.target}" if not section else ""

        async def take(text: str, shelf: Shelf | None) -> None:
            del shelf
            work = partial(judged.written, section, text) if section else partial(judged.said, text)
            await self._done(work, leave=True)

        wanted = Wanted(ENTRUSTED[section], begun, enters="stores" if section else "says it")
        check = partial(judged.weighed, section=section)
        self._sheet.push(Field(self._sheet, wanted, check, take))

    # what is shown

    def _load(self, tab: str) -> Sequence[Item]:
        if tab == PAST:
            self._past = {past.serial: past for past in self._book.past()}
            return [_past_item(past) for past in self._past.values()] or [
                Item(NONE, UNDECIDED, about=((BEFORE, "dim"),), counts=False)
            ]
        if tab == FOLDERS:
            add = Item(ADD, "Open a directory\u2026", about=((OPENS, "dim"),), counts=False)
            return [add, *map(_folder_item, self._book.folders.rows())]
        rows = [row for row in self._book.rows() if row.behavior == tab]
        add = Item(ADD, "Add a rule\u2026", about=((DOES[tab], "dim"),), counts=False)
        return [add, *map(_rule_item, rows)]

    # what is done

    def _enter(self, item: Item) -> None:
        match item.of:
            case "add":
                self._add(self.listing.tab)
            case "none":
                self._sheet.tell(BEFORE, "dim")
            case RuleRow() as row:
                self._choose(row)
            case FolderRow() as folder:
                self._sheet.tell(folder.fixed or "ctrl+d closes it.", "dim")
            case serial:
                self._explain(item, serial)

    def _add(self, tab: str) -> None:
        book = self._book
        if tab == FOLDERS:
            folders = book.folders

            async def open_(text: str, shelf: Shelf | None) -> None:
                assert shelf is not None
                await self._done(partial(folders.open, text, shelf, anyway=True), leave=True)

            wanted = Wanted(
                "Open a directory", shelves=folders.shelves(), complete=folders.complete
            )
            field = Field(self._sheet, wanted, folders.proposal, open_)
        else:

            async def add(text: str, shelf: Shelf | None) -> None:
                assert shelf is not None
                await self._done(partial(book.add, tab, text, shelf), leave=True)

            wanted = Wanted(TITLES[tab], shelves=book.shelves())
            field = Field(self._sheet, wanted, lambda text: book.proposal(tab, text), add)
        self._sheet.push(field)

    def _choose(self, row: RuleRow) -> None:
        """What can be done with one rule."""
        if row.fixed:
            self._sheet.tell(row.fixed, "warning")
            return
        items = [
            Item(shelf, f"Move to {shelf.label}", shelf.shown)
            for shelf in self._book.shelves()
            if not _stands_on(row, shelf)
        ]
        items.append(Item(REMOVE, "Remove", row.place))

        def chosen(item: Item) -> None:
            moves = item.of != REMOVE
            book = self._book
            work = partial(book.move, row, item.of) if moves else partial(book.remove, row)
            self._sheet.work(partial(self._done, work, leave=True))

        self._sheet.push(Listing(f"{row.behavior} {row.text}", lambda _: items, chosen))

    def _explain(self, item: Item, serial: int) -> None:
        try:
            blocks = self._book.explain(serial)
        except GatewrightError as error:
            self._sheet.tell(str(error), "warning")
            return
        self._sheet.push(Pages(f"Why {item.detail}", blocks, self._sheet.hand_on))

    def _remove(self, item: Item | None) -> None:
        match item.of if item is not None else None:
            case RuleRow() as row:
                self._sheet.work(partial(self._done, partial(self._book.remove, row)))
            case FolderRow() as folder:
                close = partial(self._book.folders.close, folder)
                self._sheet.work(partial(self._done, close))
            case _:
                self._sheet.tell("There is nothing to remove in this row.", "dim")

    def _undone(self, item: Item | None) -> None:
        del item  # what was done last, wherever the cursor is
        self._sheet.work(self._take_back)

    async def _done(self, work: Callable[[], Awaitable[Done]], *, leave: bool = False) -> None:
        done = await work()
        self._undo = done.undo
        self.listing.reload()
        if leave:
            self._sheet.back()
        self._sheet.tell(f"{done.text} \u00b7 ctrl+z undoes" if done.undo else done.text)

    async def _take_back(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            self._sheet.tell(await undo())
            self.listing.reload()


def _stands_on(row: RuleRow, shelf: Shelf) -> bool:
    return bool(shelf.under) if row.here else shelf.name == row.source


def _rule_item(row: RuleRow) -> Item:
    role = "warning" if row.mark else "dim"
    about = ((row.about, role), (row.fixed or row.place, "faint"))
    source = f"{row.source}, here" if row.here else row.source
    return Item(row, row.text, "", row.mark, source, about)


def _folder_item(row: FolderRow) -> Item:
    about = ((row.place, "dim"), (row.fixed, "faint"))
    return Item(row, row.path, "", "", row.source, about)


def _past_item(past: Decided) -> Item:
    """Newest first; the whole call stands below the list."""
    at = time.strftime("%H:%M:%S", time.localtime(past.at))
    denied = past.behavior == "deny"
    word, role = ("denied", "warning") if denied else ("allowed", "dim")
    by = " \u00b7 ".join(filter(None, (f"{word}: {past.by}", past.why)))
    about = ((past.target, "dim"), (by, "faint"))
    return Item(past.serial, f"{at}  {past.tool}", past.target, "", word, about, role=role)


class Pages:
    """Blocks to read inside a panel, a screenful at a time."""

    def __init__(
        self, title: str, blocks: Sequence[Block], hand_on: Callable[[str], object]
    ) -> None:
        self._title, self._hand_on = title, hand_on
        self._texts = [visible(row) for block in blocks for row in plain(block).splitlines()]
        self._at = 0

    @property
    def keys(self) -> Sequence[str]:
        return ("up down scroll",)

    def press(self, press: Press) -> bool:
        step = STEPS.get(press.key)
        if step is not None:
            self._at = max(0, self._at + step)
        elif press.character and press.character.isprintable():
            self._hand_on(press.character)
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Nothing is typed here."""

    def lines(self, width: int, height: int) -> list[Line]:
        rows = [
            row
            for text in self._texts
            for row in wrap((Span(text, "text" if text.startswith(">") else "dim"),), width)
        ]
        room = max(1, height - 1)
        self._at = min(self._at, max(0, len(rows) - room))
        below = len(rows) - room - self._at
        more = Span(f"   {below} more below" if below > 0 else "", "faint")
        return [line(Span(self._title, "text:b"), more), *rows[self._at : self._at + room]]
