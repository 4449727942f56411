"""Pages to look at: opened by a command, left by a key or by typing on."""

from __future__ import annotations

import pytest

from gatewright.agent.commands.outcome import Page, Say
from gatewright.agent.commands.panels import Check, DoctorPanel, Finding
from gatewright.tools.blocks import Share, Shares, Table, Text, plain
from gatewright.tui.blocks.registry import draw
from gatewright.tui.keys import KEYS
from tests.tui.stage import Stage, stage

LONG = Text("\n".join(f"line {n}" for n in range(1, 101)))


def opened(s: Stage, *blocks: Text | Table) -> None:
    assert s.app.repl.reach.open_panel(Page(title="A page", fallback=Say(blocks)))


@pytest.mark.parametrize("command", ["/help", "/cost", "/status", "/keys"])
async def test_what_is_looked_up_leaves_nothing_in_the_conversation(command: str) -> None:
    async with stage() as s:
        await s.type(command)
        await s.press("enter")
        await s.until(lambda: s.app.repl.sheet.open)
        await s.see("esc closes")
        await s.press("escape")
        await s.gone("esc closes")
        assert s.app.repl.transcript.records.all() == []
        assert s.app.focused is s.app.repl.box


async def test_what_opens_when_the_program_is_being_left_begins_nothing() -> None:
    """Its work would be cancelled before it began, and its screen be gone."""
    begun: list[str] = []

    async def command() -> DoctorPanel:
        s.app.exit(0)
        begun.append("command")
        return DoctorPanel(fallback=Say(()), checks=[Check("one", one)])

    def one() -> list[Finding]:
        begun.append("one")
        return []

    async with stage() as s:
        s.app.talk.follow("/doctor", command)
        await s.until(lambda: bool(begun))
    assert not s.app.repl.sheet.open
    assert begun == ["command"]
    assert s.app.failures == []


async def test_typing_goes_on_in_the_prompt() -> None:
    async with stage() as s:
        await s.press("question_mark")
        await s.see("esc closes")
        await s.press("slash", "m")
        await s.see("/mode")
        assert s.app.repl.box.text == "/m"
        assert not s.app.repl.sheet.open


async def test_a_long_page_scrolls_and_says_what_is_hidden() -> None:
    async with stage() as s:
        opened(s, LONG)
        text = await s.see("A page", "line 1", "up down, pgup pgdn scroll", "below")
        assert "above" not in text
        await s.press("down")
        await s.see("1 above")
        await s.press("end")
        text = await s.see("line 100")
        assert "below" not in text
        await s.press("pageup", "pagedown")
        await s.see("line 100")
        await s.press("home")
        await s.see("line 1")


async def test_a_page_fits_a_low_screen() -> None:
    async with stage(size=(40, 10)) as s:
        opened(s, LONG)
        await s.see("A page", "line 1", "esc closes")


async def test_all_keys_are_reached() -> None:
    async with stage(size=(120, 60)) as s:
        await s.press("question_mark")
        await s.see("esc closes")
        await s.press("end")
        await s.see(KEYS[-1].help)


def test_figures_end_below_each_other_and_words_begin_so() -> None:
    table = Table(("Name", "Tokens", "Cost"), (("a", "12", "$0.0100"), ("bb", "1,955", "-")))
    assert [row.plain for row in draw(table, 60)] == [
        "Name  Tokens  Cost   ",
        "\u2500" * 21,
        "a         12  $0.0100",
        "bb     1,955  -      ",
    ]


def test_each_part_has_its_bar_and_what_is_free_has_no_colour() -> None:
    parts = (Share("Tools", 250), Share("Answers", 1), Share("Free", 749, spare=True))
    shares = Shares(parts, 1000)
    rows = draw(shares, 80)
    assert all(row.width <= 80 for row in rows)
    together = rows[0].spans
    assert [len(span.text) for span in together] == [15, 1, 44]  # the least is seen too
    little = Shares(
        (Share("A", 3), Share("B", 2), Share("C", 1), Share("Free", 994, spare=True)), 1000
    )
    lengths = [len(span.text) for span in draw(little, 80)[0].spans]
    assert sum(lengths[:-1]) == 1, "what is not used does not look used"
    assert [row.plain.count("\u2588") for row in draw(little, 80)[2:]] == [59, 39, 19, 0]
    assert [row.plain.split()[1:4] for row in rows[2:]] == [
        ["Tools", "250", "25.0%"],
        ["Answers", "1", "0.1%"],
        ["Free", "749", "74.9%"],
    ]
    assert [row.spans[0].role for row in rows[2:]] == ["accent", "string", "faint"]
    assert plain(shares).splitlines()[0].split() == ["Tools", "250", "25.0%"]
    for width in (8, 20, 30, 200):
        assert all(row.width <= width for row in draw(shares, width) if width > 20)


async def test_the_most_needed_keys_stand_side_by_side_where_there_is_room() -> None:
    async with stage(size=(80, 24)) as s:
        await s.press("question_mark")
        await s.see(
            "Writing", "While it works", "new line", "to the shell, fg returns", "esc closes"
        )
        assert "\u276f" in s.text(), "the prompt is seen below"
    async with stage(size=(40, 12)) as s:
        await s.press("question_mark")
        await s.see("What it does", "esc closes")
        assert "While it works" not in s.text()


async def test_a_page_leaves_the_screen_as_it_was() -> None:
    async with stage(size=(80, 24)) as s:
        await s.settled()
        before = s.text()
        await s.press("question_mark")
        await s.see("Writing")
        await s.press("escape")
        await s.until(lambda: s.text() == before)
