"""The word ultracode while it is typed: seen to count, and dropped by a key."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gatewright.agent.commands.outcome import Outcome, Say, SetUi
from gatewright.agent.commands.registry import Command, CommandContext, always
from gatewright.agent.record.events import UltracodeSwitched
from gatewright.agent.settings.schema import Ui
from tests.tui.stage import Stage, stage


async def nothing(context: CommandContext) -> Outcome:
    del context
    return Say(())


@asynccontextmanager
async def typing(text: str) -> AsyncGenerator[Stage]:
    """In a session that has workflows."""
    async with stage() as s:
        s.session.commands.add(always(Command(name="workflows", summary="Runs", run=nothing)))
        await s.type(text)
        yield s


def shown(s: Stage) -> str:
    """What of the prompt is drawn as the word that counts."""
    box, style = s.app.repl.box, s.app.repl.box.keyword.style()
    found = ""
    for y in range(box.size.height):
        for segment in box.render_line(y):
            if segment.style is not None and segment.style.color == style.color:
                found += segment.text
    return found


async def test_it_is_seen_to_count() -> None:
    async with typing("ultracode: mend all of it") as s:
        assert shown(s) == "ultracode"
        s.app.repl.box.put("mend x/ultracode.py")
        assert shown(s) == ""


async def test_a_key_drops_it_for_this_message() -> None:
    async with typing("ultracode mend it") as s:
        await s.press("alt+w")
        assert shown(s) == "" and s.app.repl.box.text == "ultracode mend it"
        await s.press("enter")
        await s.until(lambda: bool(s.session.sent))
        assert (s.session.sent, s.session.typed) == (["ultracode mend it"], [" mend it"])
        await s.type("ultracode again")
        assert shown(s) == "ultracode"
        await s.press("enter")
        await s.until(lambda: len(s.session.sent) == 2)
        assert s.session.typed[-1] == "ultracode again"


async def test_backspace_right_behind_it_drops_it_and_then_deletes() -> None:
    async with typing("do it ultracode") as s:
        await s.press("backspace")
        assert (shown(s), s.app.repl.box.text) == ("", "do it ultracode")
        await s.press("backspace")
        assert s.app.repl.box.text == "do it ultracod"


async def test_where_it_means_nothing_it_looks_like_nothing() -> None:
    async with stage() as s:
        await s.type("ultracode")
        assert shown(s) == ""
        await s.press("backspace")
        assert s.app.repl.box.text == "ultracod"
    async with typing("ultracode") as s:
        s.app.repl.reach.take_up(SetUi("ui.ultracodeKeyword", Ui(ultracode_keyword=False)))
        s.app.repl.box.put("now ultracode")
        assert shown(s) == ""


async def test_the_status_line_says_the_effort() -> None:
    async with stage() as s:
        s.session.publish(UltracodeSwitched(on=True))
        await s.see("ultracode")
        s.session.publish(UltracodeSwitched(on=False))
        await s.gone("ultracode")
