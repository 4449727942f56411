"""What is taken before the prompt is there, beside what the prompt makes of the same keys."""

from __future__ import annotations

import random

import pytest

from gatewright.tui.early.typed import Typed
from gatewright.tui.terminal.input import Input
from tests.fakes.examples import many
from tests.tui.stage import Stage, stage

ROOM = 40
KEYS = (
    *"abcXYZ 019.,;:-_/@!#?\u00e9\u00df",
    *("\x7f", "\x08", "\x1b[D", "\x1b[C", "\x1bOD", "\x1b[H", "\x1b[F", "\x1b[1~", "\x1b[4~"),
    *("\x01", "\x05", "\x02", "\x06", "\x1b[97;;97u", "\x1b[65;2;65u", "\x1b[127u"),
    *("\x1b[?2026;2$y", "\x1b[I", "\x1b[O"),
)
RARE = ("\x0b", "\x15", "\x17", "\x19", "\u6f22", "\x1b[3~", "\x1b[200~a b\x1b[201~", "\x1bb", "\n")


def test_what_is_certain_is_taken_and_the_rest_is_left_in_its_order() -> None:
    typed = Typed(ROOM)
    assert typed.feed(b"ab\x1b[?2026;2$yc\x1b[Dd\x17e", 5.0) == b"\x1b[?2026;2$y\x17e"
    assert (typed.text, typed.at, typed.left, typed.last) == ("abdc", 3, True, 5.0)
    assert typed.feed(b"f", 6.0) == b"f"
    assert typed.text == "abdc"


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"\r",
            b"\t",
            b"\x03",
            b"\x1b",
            b"\x1b[",
            b"\x1b[A",
            b"?",
            b"\xc3",
            b"\xe6\xbc\xa2",
            b"\x04",
        ),
        *(b"\x1b[13u", b"\x1b[97;5u", b"\x1b[200~a\x1b[201~", b"\x1b[<0;1;1M", b"\x1b]11;x\x07"),
    ],
)
def test_what_means_more_is_left(data: bytes) -> None:
    typed = Typed(ROOM)
    assert typed.feed(data, 1.0) == data
    assert typed.left


def test_no_more_than_fits_in_the_row() -> None:
    typed = Typed(10)
    rest = typed.feed(b"0123456789", 1.0)
    assert (typed.text.encode() + rest, len(typed.text)) == (b"0123456789", 9)


async def test_the_prompt_makes_the_same_of_it() -> None:
    chance = random.Random(7)
    async with stage() as s:
        for _ in range(many(240)):
            keys = chance.choices(KEYS, k=chance.randrange(1, 14))
            if chance.random() < 0.3:
                keys.insert(chance.randrange(len(keys)), chance.choice(RARE))
            chunks = ["".join(keys[n : n + 3]).encode() for n in range(0, len(keys), 3)]
            wanted = await played(s, Typed(0), chunks)
            assert await played(s, Typed(ROOM), chunks) == wanted, str(keys)


async def played(s: Stage, typed: Typed, chunks: list[bytes]) -> tuple[str, tuple[int, int]]:
    """The prompt's text and cursor once one half was typed before it was there."""
    await s.recover()
    box, source = s.app.repl.box, Input()
    box.history_.begin()
    early = [typed.feed(chunk, 0.0) for chunk in chunks[: len(chunks) // 2 + 1]]
    box.begin(typed.text, typed.at, 0.0)
    for chunk in (*early, *chunks[len(chunks) // 2 + 1 :]):
        for message in (*source.feed(chunk), *source.tick()):
            s.app.post_message(message)
        await s.pilot.pause()
    return (box.text, box.cursor_location)


@pytest.mark.parametrize(
    ("burst", "text"),
    [("a\x1b[H;", ";a"), ("ba\x1b[D\x1b[D;", ";ba"), ("ab\x1b[D\x1b[3~c", "ac")],
)
async def test_keys_of_one_burst_act_in_their_order(burst: str, text: str) -> None:
    async with stage() as s:
        assert (await played(s, Typed(0), [burst.encode()]))[0] == text
