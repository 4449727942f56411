"""What a command offers as something on the screen: a list to choose from or to look into, a form.

A list that follows what happens costs nothing when it is closed; closing what was read returns to
the row it was opened from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from gatewright.agent.commands.outcome import Choice as Row
from gatewright.agent.commands.outcome import (
    Draft,
    Form,
    Listing,
    Offer,
    Outcome,
    Page,
    Pick,
    Say,
    Secret,
)
from gatewright.agent.commands.panels import ConfigPanel, DoctorPanel, RulesPanel, WorkflowsPanel
from gatewright.tools.blocks import Block, Text
from gatewright.tui.panels.checks import ChecksView
from gatewright.tui.panels.config import ConfigView
from gatewright.tui.panels.page import PageView
from gatewright.tui.panels.rules import RulesView
from gatewright.tui.panels.table import open_table
from gatewright.tui.picker import Key, Picking
from gatewright.tui.prompt.menu import Choice

if TYPE_CHECKING:
    from gatewright.tui.command_effects import Reach  # it opens these

Reads: TypeAlias = Callable[[str], Awaitable[Sequence[Block]]]
EVERY = 1.0  # seconds between two looks at a list that follows what happens


def open_offer(offer: Offer, screen: Reach) -> bool:  # noqa: C901  one kind each
    """Open it; False where the screen cannot."""
    match offer:
        case Pick():
            screen.pick(_picking(offer, screen))
        case Listing(columns=columns) if columns:
            open_table(offer, screen)
        case Listing():
            _open_listing(offer, screen)
        case Page(title=title, fallback=Say(blocks=blocks)):
            page = PageView(title, blocks or (Text("Nothing to show.", "dim"),))
            screen.show_panel(lambda _sheet: page, high=True)
        case Secret():
            screen.ask_secret(offer)
        case Form(text=text, take=take):
            screen.edit(text, take)
        case Draft(text=text):
            screen.draft(text)
        case RulesPanel(book=book, tab=tab):
            screen.show_panel(lambda sheet: RulesView(sheet, book, tab).listing)
        case ConfigPanel() as panel:
            themes = screen.themed.offered
            follow = partial(_take_up, panel, screen)
            screen.show_panel(lambda sheet: ConfigView(sheet, panel, themes, follow).listing)
        case WorkflowsPanel():
            from gatewright.tui.workflows.panel import open_workflows  # noqa: PLC0415  lazy: few look

            open_workflows(offer, screen)
        case DoctorPanel(checks=checks):
            screen.show_panel(lambda sheet: ChecksView(sheet, checks))
        case _:
            return False
    return True


def _take_up(panel: ConfigPanel, screen: Reach, key: str) -> None:
    screen.talk.follow(f"/config {key}", partial(panel.taken_up, key))


def choice_of(row: Row) -> Choice:
    return Choice(row.id, row.label, row.detail, row.source)


def _picking(offer: Pick, screen: Reach) -> Picking:
    lines = {row.id: row.typed or row.label for row in offer.choices}
    back = offer.back

    def pick(choice: Choice) -> None:
        screen.talk.follow(lines[choice.insert], partial(offer.choose, choice.insert))

    return Picking(
        offer.title,
        [choice_of(row) for row in offer.choices],
        pick,
        cancel=None if back is None else lambda: screen.talk.follow("", back),
        at=offer.at,
        about=offer.about,
        head=None if offer.head is None else choice_of(offer.head),
    )


def _open_listing(offer: Listing, screen: Reach, first: str = "", at: int = 0) -> None:
    """`first` is the tab shown first, `at` the row in it."""
    shown = _listed(offer, screen, first, at)
    screen.pick(shown)

    def follow() -> bool:
        nonlocal shown
        before, fresh = shown, _listed(offer, screen, first, at)
        if fresh.choices != before.choices:
            shown = fresh
        return screen.renew(before, shown)

    if offer.follows:
        screen.every(EVERY, follow)


def _listed(offer: Listing, screen: Reach, first: str, at: int) -> Picking:
    rows = {_place(offer, row): row for row in offer.rows()}

    def pick(choice: Choice) -> None:
        row = rows[choice.insert]
        at = _at(offer, rows.values(), row)
        screen.talk.spawn(partial(_read, offer, screen, row, at, offer.read))

    def act(run: Callable[[str], Awaitable[Outcome]], choice: Choice) -> None:
        if row := rows.get(choice.insert):
            screen.talk.follow(row.typed or row.label, partial(run, row.id))

    def look(read: Reads, choice: Choice) -> None:
        if row := rows.get(choice.insert):
            at = _at(offer, rows.values(), row)
            screen.talk.spawn(partial(_read, offer, screen, row, at, read))

    return Picking(
        offer.title,
        [
            Choice(place, row.label, row.detail, "" if offer.tabs else row.source)
            for place, row in rows.items()
        ],
        pick=pick,
        keys=(
            *(Key(one.key, one.label, partial(act, one.run)) for one in offer.acts),
            *(Key(one.key, one.label, partial(look, one.read)) for one in offer.looks),
        ),
        tabs=sorted(offer.tabs, key=lambda tab: tab != first),
        at=at,
    )


def _place(offer: Listing, row: Row) -> str:
    """The id of a row in its tab."""
    return f"{row.source} {row.id}" if offer.tabs else row.id


def _at(offer: Listing, rows: Iterable[Row], row: Row) -> int:
    """The number of a row in its tab."""
    tab = [each.id for each in rows if not offer.tabs or each.source == row.source]
    return tab.index(row.id)


async def _read(offer: Listing, screen: Reach, row: Row, at: int, read: Reads) -> None:
    again = partial(_open_listing, offer, screen, row.source, at)
    screen.read(await read(row.id), again, from_top=not offer.follows)
