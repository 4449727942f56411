"""Chips stand for large pastes as long as anything may still hold them."""

from __future__ import annotations

from gatewright.tui.prompt.paste import Chips
from tests.tui.stage import stage


def test_a_paste_that_names_a_chip_stays_what_it_is() -> None:
    chips = Chips()
    first = chips.fold("[Pasted 31 lines #2]\n" * 20)
    second = chips.fold("b\n" * 30)
    assert chips.unfold(first + second) == "[Pasted 31 lines #2]\n" * 20 + "b\n" * 30


def test_old_chips_are_forgotten() -> None:
    chips = Chips()
    made = [chips.fold(f"{n}\n" * 20) for n in range(80)]
    chips.trim()
    assert chips.unfold(made[0]) == made[0]
    assert chips.unfold(made[79]) == "79\n" * 20


async def test_a_large_paste_put_aside_is_whole_when_it_comes_back() -> None:
    async with stage() as s:
        await s.paste("row\n" * 40)
        await s.press("ctrl+s")
        await s.type("first")
        await s.press("enter")  # it is the draft again behind what was sent meanwhile
        await s.press("enter")
        await s.until(lambda: s.session.sent == ["first", "row\n" * 40])


async def test_a_message_with_a_paste_comes_back_with_its_chip() -> None:
    text = "row\n" * 300
    async with stage() as s:
        await s.type("look ")
        await s.paste(text)
        assert s.app.repl.box.text == "look [Pasted 300 lines #1]"
        await s.press("enter", "up")
        assert s.app.repl.box.text == "look [Pasted 300 lines #1]"
        await s.press("enter")
        await s.until(lambda: s.session.sent == ["look " + text] * 2)


async def test_a_huge_message_comes_back_as_a_chip() -> None:
    text = "word " * 40_000
    async with stage() as s:
        await s.paste(text)
        await s.press("enter", "up")
        assert s.app.repl.box.text == "[Pasted 1 lines #1]"
        await s.press("ctrl+c", "ctrl+r", "enter", "enter")
        await s.until(lambda: s.session.sent == [text, text])
