"""What the keyboard fuzz found, once and for all: keys that went nowhere, text that broke a row."""

from __future__ import annotations

import pytest
from textual import events

from gatewright.agent.commands.outcome import Say
from gatewright.agent.commands.panels import DoctorPanel
from gatewright.agent.record.events import (
    AssistantMessage,
    Cleared,
    ModeChanged,
    Noticed,
    ToolFinished,
    ToolStarted,
)
from gatewright.agent.record.messages import TextPart
from gatewright.tui.picker import Picking
from gatewright.tui.prompt.menu import Choice
from gatewright.tui.prompt.paste import seen
from tests.tui.fuzz_rules import check
from tests.tui.scenes import permission, tools
from tests.tui.stage import Stage, stage


async def mouse(s: Stage, x: int, y: int) -> None:
    for kind in (events.MouseDown, events.MouseUp):
        s.app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))
    await s.pilot.pause()


async def test_a_mouse_beyond_the_edge_takes_no_keys() -> None:
    async with stage() as s:
        await mouse(s, 300, 70)
        await s.press("h", "i")
        assert s.app.repl.box.text == "hi"


async def test_tab_stays_in_a_list() -> None:
    async with stage() as s:
        await s.type("one")
        await s.press("enter", "ctrl+r", "tab", "escape")
        assert not s.app.repl.picker.open
        assert s.app.repl.box.text == ""


async def test_a_click_into_the_prompt_leaves_the_keys_to_the_question() -> None:
    async with stage() as s:
        permission(s.session)
        await s.see("Yes, once")
        await mouse(s, 10, 21)
        assert s.app.focused is s.app.repl.panel


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
        ("\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07end", "red end"),
        ("a\x1b[201~y\n\x9bq\x07", "ay\nq"),
        ("\x1b", ""),
        ("z\u202ey \ud800 \U000e0041", "z<U+202E>y <U+D800> <U+E0041>"),
        ("one\u2028two", "one\ntwo"),
        ("\u0645\u06cc\u200c\u062e \U0001f468\u200d\U0001f469", None),
    ],
)
async def test_nothing_that_comes_into_the_prompt_reaches_the_terminal_raw(
    text: str, harmless: str | None
) -> None:
    wanted = text if harmless is None else harmless
    assert seen(text) == wanted
    async with stage() as s:
        box = s.app.repl.box
        await s.paste(text)
        assert box.text == wanted
        check(s.app)
        box.put("")
        box.put(text)
        assert box.text == wanted


@pytest.mark.parametrize("key", ["ctrl+o", "ctrl+home", "pageup"])
async def test_a_transcript_that_a_question_hides_can_change(key: str) -> None:
    async with stage(size=(40, 10)) as s:
        tools(s.session)
        permission(s.session)
        await s.see("Yes, once")
        s.session.publish(Cleared())
        await s.settled()
        await s.press(key)
        await s.see("Yes, once")


async def test_half_a_pair_of_a_model_can_be_copied_and_edited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VISUAL", "true")
    async with stage() as s:
        s.session.publish(AssistantMessage(id="m", model="x", parts=(TextPart("half \ud800"),)))
        await s.see("half <U+D800>")
        await s.type("/copy")
        await s.press("enter")
        await s.see("Copied 13 characters.")
        await s.press("ctrl+t", "v")
        await s.until(lambda: not s.app.editor.running)
        await s.press("q")
        await s.until(lambda: s.app.screen is s.app.repl)


async def test_a_panel_that_opens_behind_a_question_takes_no_keys() -> None:
    async with stage() as s:
        permission(s.session)
        await s.see("Yes, once")
        s.app.repl.reach.open_panel(DoctorPanel(fallback=Say(()), checks=()))
        await s.settled()
        assert s.app.focused is s.app.repl.panel
        check(s.app)


async def test_typing_ends_a_row_of_kills() -> None:
    async with stage() as s:
        await s.press(*"one", "ctrl+u", *"two", "ctrl+u", "ctrl+y")
        assert s.app.repl.box.text == "two"


async def test_a_second_enter_after_a_list_or_a_key_answers_no_question() -> None:
    async with stage() as s:
        permission(s.session)
        await s.see("Yes, once")
        s.clock.now += 2
        repl = s.app.repl
        repl.reach.pick(Picking("Pick", [Choice("a", "a")], lambda _: None))
        await s.settled()
        await s.press("enter", "enter", "y")
        await s.wait(0.3)
        assert s.session.answers == []


async def test_a_mode_of_any_name_has_one_row() -> None:
    async with stage() as s:
        s.session.publish(ModeChanged(mode="a:/b\nc", by="user"))
        await s.see("a:/b c")
        check(s.app)


async def test_a_note_leaves_the_greeting_where_it_is() -> None:
    """Which model answers, and why, is seen where a start has something to tell."""
    async with stage(size=(80, 24)) as s:
        s.session.publish(Noticed(text="Found Claude Code's settings"))
        await s.see("Gatewright", "? keys", "Found Claude Code's settings")
        view = s.app.repl.transcript
        y = next(y for y, row in enumerate(s.text().splitlines()) if "Found" in row)
        await s.mouse(events.MouseDown, 3, y)
        await s.mouse(events.MouseMove, 30, y)
        assert view.selected_text().startswith("Found Claude")
        await s.mouse(events.MouseUp, 30, y)
        await s.type("hi")
        await s.press("enter")
        await s.gone("? keys")


async def test_a_clipboard_without_a_picture_is_told() -> None:
    async with stage() as s:
        await s.press("ctrl+v")
        await s.see("no picture in the clipboard")
        await s.press("x")
        assert s.app.repl.box.text == "x"


async def test_how_a_call_ended_is_found_too_and_no_key_is_cut() -> None:
    async with stage(size=(80, 24)) as s:
        for id, ok, summary in (("a", False, "refused"), ("b", True, "unchanged")):
            s.session.publish(
                ToolStarted(call_id=id, name="Edit", input={}, verb="Edit", target="prices.py"),
                ToolFinished(call_id=id, ok=ok, content=(), summary=summary),
            )
        await s.see("unchanged")
        await s.press("ctrl+t")
        await s.see("/ searches")
        for word in ("refused", "unchanged"):
            await s.press("slash", *word, "enter")
            await s.see(f"{word}: 1 of 1")
        await s.press("slash", *"nowhere", "enter")
        foot = (await s.see("Nothing found for nowhere")).rstrip().rpartition("\n")[2]
        assert "…" not in foot and "esc closes" in foot
