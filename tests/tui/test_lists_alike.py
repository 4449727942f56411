"""Every list tells alike what is searched, which row of how many is chosen, and that none fits."""

from __future__ import annotations

import pytest

from gatewright.agent.commands.outcome import Choice, Listing, Offer, Outcome, Pick, Say
from gatewright.agent.commands.panels import WorkflowsPanel
from gatewright.tools.blocks import Block
from gatewright.tui.panels.listing import Item
from gatewright.tui.panels.listing import Listing as SearchedList
from gatewright.tui.panels.table import figures_of, row_line, titles_of, widths_of
from gatewright.tui.transcript.figures import count
from tests.fakes.run_book import FakeRuns
from tests.tui.stage import Stage, stage

NONE_FITS = "Nothing fits; ctrl+u empties the search."


async def _choose(_id: str) -> Outcome:
    return Say(())


async def _read(_id: str) -> tuple[Block, ...]:
    return ()


def _pick(rows: int) -> Offer:
    choices = tuple(Choice(f"c{n}", f"thing {n}") for n in range(rows))
    return Pick(fallback=Say(()), title="Things", choices=choices, choose=_choose)


def _table(rows: int) -> Offer:
    made = [Choice(f"c{n}", f"thing {n}", cells=(f"{n}", f"thing {n}", "x")) for n in range(rows)]
    return Listing(
        fallback=Say(()), title="Things", columns=("Of", "Thing", "Says"), rows=lambda: made,
        read=_read,
    )  # fmt: skip


def _sheet(s: Stage, rows: int) -> None:
    items = [Item(n, f"thing {n}") for n in range(rows)]
    s.app.repl.sheet.show(SearchedList("Things", lambda _tab: items, lambda _item: None))


async def _opened(s: Stage, kind: str, rows: int) -> None:
    if kind == "list":
        _sheet(s, rows)
    else:
        assert s.app.repl.reach.open_panel({"pick": _pick, "table": _table}[kind](rows))
    await s.see("Things")
    s.clock.now += 1


KINDS = pytest.mark.parametrize("kind", ["pick", "table", "list"])


@KINDS
async def test_a_search_that_nothing_fits_says_so_and_is_emptied(kind: str) -> None:
    async with stage() as s:
        await _opened(s, kind, 3)
        await s.press(*(("slash",) if kind == "table" else ()), *"zzz")
        await s.see("Things", "/zzz\u258f", NONE_FITS)
        await s.press("ctrl+u")
        await s.see("thing 0", "thing 2")


@KINDS
async def test_the_title_says_which_of_how_many_where_not_all_are_seen(kind: str) -> None:
    async with stage(size=(80, 24)) as s:
        await _opened(s, kind, 30)
        await s.see("1 of 30")
        await s.press("down", "down")
        await s.see("3 of 30")
    async with stage(size=(80, 24)) as s:
        await _opened(s, kind, 3)
        await s.see("thing 2")
        assert "1 of 3" not in s.text()


@KINDS
async def test_no_key_is_shown_that_would_do_nothing(kind: str) -> None:
    async with stage() as s:
        await _opened(s, kind, 0)
        shown = await s.see("Nothing here.", "esc closes")
        assert "search" not in shown and "enter" not in shown


async def test_what_workflows_are_is_told_to_its_end_where_none_ran() -> None:
    async with stage(size=(60, 24)) as s:
        book = FakeRuns()
        book.runs = []
        panel = WorkflowsPanel(fallback=Say(()), book=book, keeping=book)
        assert s.app.repl.reach.open_panel(panel)
        shown = await s.see("No workflow has run here yet.", "saved one.", "esc closes")
        assert "pauses" not in shown and "f by state" not in shown


def test_numbers_end_below_each_other_and_so_does_their_title() -> None:
    columns = ("State", "Tokens", "$", "Name", "Says")
    rows = [
        Choice("a", "a", cells=("done", "9.1k", "$12.50", "a", "")),
        Choice("b", "b", cells=("2nd", "423k", "", "b", "")),
    ]
    widths, right = widths_of(columns, rows, 60), figures_of(columns, rows)
    assert right == {1, 2}  # a word that begins with a figure once is a word
    drawn = [row_line(row, widths, right, here=False).plain for row in rows]
    title = titles_of(columns, widths, right).plain
    ends = {
        text.index(word) + len(word) for text, word in zip(drawn, ("9.1k", "423k"), strict=True)
    }
    assert ends == {title.index("Tokens") + len("Tokens")}
    assert title.index("$") + 1 == drawn[0].index("$12.50") + len("$12.50")


@pytest.mark.parametrize(
    ("tokens", "told"),
    [(999, "999"), (9_949, "9.9k"), (9_990, "10k"), (20_800, "21k"), (999_900, "999k")],
)
def test_thousands_are_the_nearest(tokens: int, told: str) -> None:
    assert count(tokens) == told


@pytest.mark.parametrize("width", [30, 34, 50, 76, 140])
def test_in_little_room_the_name_stays_whole_and_all_else_goes(width: int) -> None:
    columns = ("From", "State", "Tokens", "Skill", "For")
    cells = ("built-in", "on", "1,074", "skill-creator", "Write a skill, improve one, or test it.")
    shown = widths_of(columns, [Choice("a", "a", cells=cells)], width)
    assert sum(each + 2 for each in shown if each) <= width
    assert shown[3] == len("skill-creator")
    assert shown[4] >= 12
    assert bool(shown[0]) is (width >= 50)
