"""`/config`: every setting that is one value, with where it comes from; Enter changes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.panels import ConfigPanel, Option, Proposal
from gatewright.tui.panels.field import Field, Wanted
from gatewright.tui.panels.listing import Act, Item, Listing, Tabs
from gatewright.tui.panels.sheet import Sheet

if TYPE_CHECKING:
    from gatewright.agent.commands.rules.keeping_places import Shelf

GROUPS = {  # a section that is named nowhere stands in the last one
    "screen": ("ui", "statusLine"),
    "session": ("",),
    "safety": ("permissions", "sandbox", "autoMode"),
    "agents": ("agents", "workflows", "schedules", "autonomy", "worktree", "skills"),
    "servers": ("mcp", "lsp", "web", "plugins", "acp"),
}
LAST = next(reversed(GROUPS))
PLACES = {section: group for group, sections in GROUPS.items() for section in sections}
CHOSEN = ("switch", "choice")
SPOKEN = {"true": "on", "false": "off"}


class ConfigView:
    """`taken_up` lets a change count in this very session."""

    def __init__(
        self,
        sheet: Sheet,
        panel: ConfigPanel,
        themes: Sequence[tuple[str, str]],
        taken_up: Callable[[str], None],
    ) -> None:
        self._sheet = sheet
        self._book = panel.book
        self._choices = {**panel.choices, "ui.theme": themes}
        self._taken_up = taken_up
        self.listing = Listing(
            "Settings",
            self._load,
            self._enter,
            tabs=Tabs(tuple(GROUPS)),
            acts=lambda: (Act(("ctrl+d",), "takes yours away", self._unset),),
            enters=lambda: "changes",
        )

    def _load(self, tab: str) -> Sequence[Item]:
        options = [o for o in self._book.options() if PLACES.get(_section(o.key), LAST) == tab]
        sections = GROUPS[tab]
        options.sort(key=lambda o: (*sections, _section(o.key)).index(_section(o.key)))
        return [_item(option, listed=bool(self._known(option))) for option in options]

    def _enter(self, item: Item) -> None:
        option: Option = item.of
        if option.fixed:
            self._sheet.tell(option.fixed, "warning")
        elif option.kind == "switch":
            self._store(option.key, "false" if option.value == "true" else "true")
        elif known := self._known(option):
            self._choose(option, known)
        else:
            self._type(option)

    def _known(self, option: Option) -> Sequence[tuple[str, str]]:
        return self._choices.get(option.key) or [(choice, "") for choice in option.choices]

    def _choose(self, option: Option, known: Sequence[tuple[str, str]]) -> None:
        now = _plain(option.value)
        items = [
            Item(value, _spoken(value), means, source="now" if value == now else "")
            for value, means in known
        ]

        def chosen(item: Item) -> None:
            self._sheet.back()
            self._store(option.key, item.of)

        listing = Listing(option.key, lambda _: items, chosen, enters=lambda: "stores")
        self._sheet.push(listing)

    def _type(self, option: Option) -> None:
        async def check(text: str) -> Proposal:
            if not text.strip():
                return Proposal(False, f"{option.help} It takes {option.belongs}.")
            problem = await self._book.problem_of(option.key, text)
            return Proposal(not problem, problem or f"{option.help} It takes {option.belongs}.")

        async def take(text: str, shelf: Shelf | None) -> None:
            del shelf  # a setting is always the person's own
            await self._stored(option.key, text)
            self._sheet.back()

        text = "" if option.value == "null" else _plain(option.value)
        self._sheet.push(Field(self._sheet, Wanted(option.key, text), check, take))

    def _unset(self, item: Item | None) -> None:
        if item is None:
            return
        option: Option = item.of
        if not option.own:
            self._sheet.tell(f"{option.key} is not set in your own settings.", "dim")
            return
        self._sheet.work(partial(self._unstored, option.key))

    def _store(self, key: str, text: str) -> None:
        self._sheet.work(partial(self._stored, key, text))

    async def _stored(self, key: str, text: str) -> None:
        self._changed(key, await self._book.set(key, text))

    async def _unstored(self, key: str) -> None:
        self._changed(key, await self._book.unset(key))

    def _changed(self, key: str, told: str) -> None:
        self._taken_up(key)
        self.listing.reload()
        self._sheet.tell(told)


def _section(key: str) -> str:
    return key.partition(".")[0] if "." in key else ""


def _plain(value: str) -> str:
    """JSON as people write it: a text without its quotes."""
    try:
        found: object = json.loads(value)
    except ValueError:  # a secret was taken out of it
        return value
    return found if isinstance(found, str) else value


def _spoken(value: str) -> str:
    """What is chosen, not typed: a yes or no is one word in every row."""
    return SPOKEN.get(value, value)


def _item(option: Option, *, listed: bool) -> Item:
    value = _spoken(_plain(option.value)) if option.kind in CHOSEN else _plain(option.value)
    shown = "not set" if value in ("", "null") else value
    here = (
        "It is the default." if option.source == "default" else f"Set in {option.source} settings."
    )
    takes = here if listed or option.kind == "switch" else f"{here} It takes {option.belongs}."
    source = "" if option.source == "default" else option.source
    about = ((option.help, "dim"), (option.fixed or takes, "faint"))
    return Item(option, option.key, shown, "", source, about)
