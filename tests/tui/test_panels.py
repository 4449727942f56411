"""Lists to choose from, themes, the reader, copying."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from gatewright.agent.commands.config import entering
from gatewright.agent.commands.history import rewind
from gatewright.agent.commands.outcome import Outcome, Pick, Say, Secret
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.history.plan import Step
from gatewright.agent.record import events as ev
from gatewright.agent.record.messages import TextPart
from gatewright.agent.session.history_actions import Past
from gatewright.agent.session.rewind import Gone, Point, What
from gatewright.permissions.modes import CAUTION
from gatewright.tools.blocks import Output
from gatewright.tools.files.preview import preview
from gatewright.tui.style.palette_file import OwnThemes
from gatewright.tui.transcript.items import ToolRun
from gatewright.tui.transcript.tool import collapsed
from tests.fakes.fake_session import Modes
from tests.tui.scenes import prose, tools
from tests.tui.stage import Stage, stage


async def run(s: Stage, line: str) -> None:
    await s.type(line)
    await s.press("enter")


async def test_the_mode_list_switches() -> None:
    async with stage() as s:
        await run(s, "/mode")
        await s.see("only reading", "enter chooses")
        await s.type("pla")
        await s.press("enter")
        await s.until(lambda: s.session.mode == "plan")


class Cautious(Modes):
    def caution(self, name: str) -> str:
        return CAUTION if name == "plan" else ""


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_mode_without_questions_is_explained_and_one_enter_says_no(
    size: tuple[int, int],
) -> None:
    asked = entering(Cautious(), "plan")
    assert isinstance(asked, Pick)
    async with stage(size=size) as s:
        for keys, mode in (
            (("enter",), "default"),
            (("escape",), "default"),
            (("down", "enter"), "plan"),
        ):
            assert s.app.repl.reach.open_panel(asked)
            shown = " ".join(
                (await s.see("▸ No, stay in default", "Yes, in", "esc closes")).split()
            )
            assert "still asks." in shown
            assert "\u276f Ask" in shown
            await s.press(*keys)
            await s.gone("Yes, in this session")
            await s.settled()
            assert s.session.mode == mode


async def test_a_masked_field_fits_a_low_screen() -> None:
    async def take(_text: str) -> Outcome:
        return Say(())

    page = "https://platform.claude.com/settings/keys"
    about = (f"Make a key at {page}", "ANTHROPIC_API_KEY in the environment works as well.")
    asked = Secret(fallback=Say(()), title="Key for anthropic", about=about, take=take)
    async with stage(size=(40, 12)) as s:
        assert s.app.repl.reach.open_panel(asked)
        await s.see(
            "Key for anthropic", "it is not shown", "enter stores", "esc closes", "\u276f Ask"
        )


async def test_what_a_low_screen_hid_is_followed_again_once_it_is_seen() -> None:
    async with stage(size=(40, 24)) as s:
        for number in range(4):
            s.session.publish(ev.Noticed(text=f"row {number}"))
        await s.settled()
        await s.pilot.resize_terminal(40, 8)
        await s.see("row 3")
        await s.press("pageup")
        await s.see("end to follow")
        await s.pilot.resize_terminal(40, 24)
        await s.gone("end to follow")
        await s.see("row 0", "row 3")


class Walking:
    """A past that writes down where it was asked to go."""

    unknown = ""

    def __init__(self) -> None:
        self.went: list[str] = []

    def points(self) -> list[Point]:
        return [
            Point("3", "hi", 0.0, 0),
            Point("2", "fix it", 0.0, 2),
            Point("1", "thanks", 0.0, 0),
        ]

    async def go_back(self, to: str, what: What = "both") -> Gone:
        self.went.append(f"{to} {what}")
        return Gone(text="thanks")

    async def plan(self, to: str) -> list[Step]:
        self.went.append(f"{to} preview")
        return []


async def test_going_back_asks_what_where_files_changed_since() -> None:
    past = Walking()
    async with stage() as s:
        for downs, picked, went in (
            (0, (), "1 both"),
            (1, ("down",), "2 talk"),
            (2, ("down", "down", "down"), "3 preview"),
        ):
            offered = await rewind(cast("Past", past), CommandContext())
            assert isinstance(offered, Pick)
            assert s.app.repl.reach.open_panel(offered)
            await s.see("Go back to", "thanks")
            await s.press(*["down"] * downs, "enter")
            if picked:
                await s.see("Conversation and files", "See what would change")
                await s.press("escape")
                await s.see("Go back to", "thanks")
                await s.press(*["down"] * downs, "enter")
                await s.see("Conversation and files", "See what would change")
                await s.press(*picked, "enter")
            await s.settled()
            assert past.went[-1:] == [went]


async def test_themes_preview_and_escape_takes_them_back() -> None:
    async with stage() as s:
        before = s.app.look.palette.name
        await run(s, "/theme")
        await s.see("Ink on paper")
        await s.press("down")
        await s.until(lambda: s.app.look.palette.name == "light")
        await s.press("escape")
        await s.until(lambda: s.app.look.palette.name == before)
        await run(s, "/theme light")
        await s.see("Theme: light")
        assert s.app.theme == "gatewright-light"


async def test_a_theme_of_a_plugin_is_chosen_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "sea.json"
    file.write_text('{"accent": "#00aaff", "summary": "Like the sea"}', encoding="utf-8")
    kept: list[str] = []
    async with stage() as s:
        s.app.themed.own = OwnThemes(tmp_path / "none", kept.append, lambda: {"tidy:sea": file})
        await run(s, "/theme tidy:sea")
        await s.see("Theme: tidy:sea")
        assert (s.app.theme, kept) == ("gatewright-tidy:sea", ["tidy:sea"])
        assert s.app.look.palette.accent == "#00aaff"
        await run(s, "/theme dark")
        await s.see("Theme: dark")
        await run(s, "/theme")
        await s.see("Like the sea")


async def test_an_unknown_theme_lists_them() -> None:
    async with stage() as s:
        await run(s, "/theme pink")
        await s.see("There is no theme pink", "colour-blind")


async def test_the_reader_searches_and_closes() -> None:
    async with stage() as s:
        prose(s.session)
        tools(s.session)
        await s.settled()
        await s.press("ctrl+t")
        await s.see("v opens an editor")
        await s.press("slash", *"renew", "enter")
        await s.see("renew: ", " of ", "n next  N previous")
        first = s.text()
        await s.press("n")
        assert s.text() != first
        await s.press("slash", *"nowhere", "enter")
        await s.see("Nothing found for nowhere")
        await s.press("q")
        await s.see("Ask anything")


async def test_copying_the_last_answer_and_its_code() -> None:
    async with stage() as s:
        parts = (TextPart("Run this:\n\n```sh\nmake test\n```\n"),)
        s.session.publish(ev.AssistantMessage(id="m", model="x", parts=parts))
        await s.see("make test")
        await run(s, "/copy code")
        await s.see("Copied 9 characters.")
        assert s.app.clipboard == "make test"
        await run(s, "/copy 7")
        await s.see("There is no such answer.")


async def test_dragging_copies_source_text() -> None:
    text = "alpha beta " * 12 + "\n\n- item"
    async with stage() as s:
        s.session.publish(ev.AssistantMessage(id="m", model="x", parts=(TextPart(text),)))
        await s.see("item")
        await s.pilot.mouse_down("#transcript", offset=(0, 0))
        await s.pilot.hover("#transcript", offset=(60, 4))
        await s.pilot.mouse_up("#transcript", offset=(60, 4))
        await s.see("copied")
        assert s.app.clipboard == text.replace("beta \n", "beta\n").replace("- item", "• item")
        await s.press("escape")
        assert not s.app.repl.transcript.has_selection


async def test_help_shows_its_beginning() -> None:
    async with stage() as s:
        await run(s, "/help")
        await s.see("What you can type here")
        await s.press("escape")
        await run(s, "/keys")
        await s.see("While it works", "Enter")


async def test_a_low_screen_keeps_the_draft_and_the_foot() -> None:
    async with stage(size=(40, 10)) as s:
        await s.type("/")
        await s.see("\u276f /", "▸ /help", " more", "default")
        await s.press("escape", "backspace")
        await run(s, "/theme")
        await s.see("▸ dark", "esc closes", "\u276f Ask", "default")


async def test_keys_are_shown_when_something_above_is_read() -> None:
    async with stage() as s:
        await run(s, "/help")
        await s.see("/help [command]")
        await s.press("question_mark")
        await s.see("▎ Keys", "new line")


async def test_reading_above_is_not_disturbed() -> None:
    async with stage() as s:
        prose(s.session)
        tools(s.session)
        await s.settled()
        await s.press("pageup")
        await s.see("end to follow")
        before = s.text().split("\n")[:12]
        s.session.publish(ev.Noticed(text="news one"), ev.Noticed(text="news two"))
        await s.see("2 new below")
        assert s.text().split("\n")[:12] == before
        await s.press("end")
        await s.see("news two")


async def test_the_way_back_to_the_end_covers_nothing() -> None:
    async with stage() as s:
        for number in range(60):
            s.session.publish(ev.Noticed(text=f"row {number} {'x' * 60} end-{number}"))
        await s.settled()
        await s.press("pageup")
        await s.see("end to follow")
        rows = s.text().split("\n")
        (chip,) = (row for row in rows if "end to follow" in row)
        assert chip.strip() == "end to follow"
        shown = [row for row in rows if "row " in row]
        assert all("end-" in row for row in shown)


async def test_opening_a_call_shows_all_of_it() -> None:
    async with stage() as s:
        started, finished = (
            ev.ToolStarted(call_id="c", name="Bash", input={}, verb="Run", target="make"),
            ev.ToolFinished(
                call_id="c",
                ok=True,
                content=(),
                view=(tools_output(),),
                summary="done",
            ),
        )
        s.session.publish(started, finished)
        await s.see("lines above", "line 99")
        await s.press("ctrl+o")
        await s.see("line 0")
        await s.press("ctrl+o")
        await s.see("lines above", "line 99")


async def test_what_is_folded_away_again_leaves_the_end_in_view() -> None:
    async with stage(size=(80, 16)) as s:
        calls(s, 1)
        await s.see("call 0 line 11")
        await s.press("ctrl+o")
        await s.see("call 0 line 0", "end to follow")
        await s.press("ctrl+o")
        await s.gone("end to follow")
        assert s.app.repl.transcript.following


def calls(s: Stage, count: int) -> None:
    for n in range(count):
        output = Output("\n".join(f"call {n} line {row}" for row in range(12)))
        started = ev.ToolStarted(call_id=f"{n}", name="Bash", input={}, verb="Run", target=f"t{n}")
        s.session.publish(
            started,
            ev.ToolFinished(call_id=f"{n}", ok=True, content=(), view=(output,), summary="done"),
        )


async def test_what_is_in_view_opens_not_what_came_last() -> None:
    async with stage() as s:
        calls(s, 9)
        await s.see("call 8 line 11")
        await s.press("ctrl+home")
        await s.see("t0")
        await s.press("ctrl+o")
        await s.see("call 0 line 0", "call 0 line 11")
        assert "t0" in s.text()


async def test_a_second_press_opens_all_and_the_next_closes_them() -> None:
    async with stage(size=(80, 60)) as s:
        calls(s, 3)
        await s.see("call 2 line 11")
        await s.press("ctrl+o")
        await s.see("call 2 line 0")
        assert "call 1 line 0\n" not in s.text()
        await s.press("ctrl+o")
        await s.see("call 0 line 0", "call 1 line 0", "call 2 line 0")
        await s.press("ctrl+o")
        await s.gone("call 2 line 0")
        assert not any(f"call {n} line 0\n" in s.text() for n in range(3))


async def test_a_collapsed_output_counts_the_lines_that_are_not_shown() -> None:
    text, hidden = preview("\n".join(f"line {n}" for n in range(2000)))
    item = ToolRun(0, "c", "Bash", "Run", "make", "ok", view=(Output(text, 0, hidden),))
    rows = [row.plain.strip() for row in collapsed(item, 80)]
    assert rows[1:] == ["… 1,995 lines above  ctrl+o", *(f"line {n}" for n in range(1995, 2000))]


async def test_a_line_over_several_rows_is_one_line() -> None:
    text = "\n".join([*(f"line {n}" for n in range(9)), "x" * 100])
    item = ToolRun(0, "c", "Bash", "Run", "make", "ok", view=(Output(text),))
    rows = [row.plain.strip() for row in collapsed(item, 44)]
    assert rows[1:4] == ["… 7 lines above  ctrl+o", "line 7", "line 8"] and len(rows) == 7


def tools_output() -> Output:
    return Output("\n".join(f"line {n}" for n in range(100)))
