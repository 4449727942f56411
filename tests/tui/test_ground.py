"""Whether the terminal is light: asked once, never waited for, and nothing of it is typed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gatewright.tui.early.certain import asks, first_frame
from gatewright.tui.early.frame import HINT
from gatewright.tui.early.ground import ASK, HEAD, LOST, WINDOW, Ground
from gatewright.tui.style.theme import PALETTES
from tests.e2e.program import Program
from tests.fakes.terminal import Terminal
from tests.fakes.waiting import PATIENCE
from tests.tui.stage import Clock, stage

ROOT = Path(__file__).resolve().parents[2]
WHITE = b"\x1b]11;rgb:ffff/fafa/f0f0\x07"
BLACK = b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"
DEEP = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def asked(clock: Clock | None = None) -> Ground:
    ground = Ground(clock or Clock())
    assert ground.ask() == ASK
    return ground


@pytest.mark.parametrize(
    ("answer", "light"),
    [
        (WHITE, True),
        (BLACK, False),
        (b"\x1b]11;rgb:ff/ff/ff\x9c", True),
        (b"\x1b]11;rgba:0000/0000/0000/ffff\x07", False),
        (b"\x1b]11;#fdf6e3\x07", True),
        (b"\x1b]11;#002b36\x07", False),
        (b"\x1b]11;rgb:\x07", None),
        (b"\x1b]11;rgb:ff/ff\x07", None),
        (b"\x1b]11;?\x07", None),
    ],
)
def test_what_it_says(answer: bytes, light: bool | None) -> None:
    ground = asked()
    assert ground.take(b"a" + answer + b"b").startswith(b"a")
    assert ground.light is light


def cuts(answer: bytes) -> Iterator[tuple[bytes, ...]]:
    for at in range(1, len(answer)):
        yield answer[:at], answer[at:]
    yield tuple(answer[at : at + 1] for at in range(len(answer)))


@pytest.mark.parametrize("answer", [WHITE, BLACK])
def test_it_may_come_in_pieces_between_keys(answer: bytes) -> None:
    for pieces in cuts(answer):
        ground = asked()
        first, *others, last = pieces
        shown = ground.take(b"ab" + first)
        for piece in others:
            shown += ground.take(piece)
        shown += ground.take(last + b"cd")
        assert (shown, ground.light) == (b"abcd", answer == WHITE), pieces


def test_a_pause_in_the_middle_types_nothing_but_an_escape() -> None:
    for pieces in cuts(WHITE):
        ground = asked()
        shown = b""
        for piece in pieces:
            shown += ground.take(piece) + ground.pause() + ground.pause()
        assert shown in (b"", b"\x1b"), pieces
        assert ground.light is True
        assert ground.take(b"\x1b[A") == b"\x1b[A"


def test_other_keys_pass_at_once_or_after_a_pause() -> None:
    ground = asked()
    for keys in (b"a", b"\x1b[A", b"\x1bOP", b"\xe6", b"\xbc\xa2", b"\x1b[200~x\x1b]0;y\x1b[201~"):
        assert ground.take(keys) == keys
    assert (ground.take(b"\x1b"), ground.held) == (b"", True)
    assert (ground.pause(), ground.held) == (b"\x1b", False)
    assert ground.take(b"[A") == b"[A"
    assert ground.take(b"\x1b]") == b""  # Alt+], as long as an answer may begin so
    assert [ground.pause() for _ in range(LOST)][-1] == b"\x1b]"
    assert ground.take(b"\x1b") + ground.pause() + ground.take(b"]x") == b"\x1b]x"


def test_nothing_is_held_where_nobody_asked_or_long_afterwards() -> None:
    assert Ground().take(b"\x1b") == b"\x1b"
    clock = Clock()
    ground = asked(clock)
    clock.now += WINDOW + 1
    assert ground.take(b"\x1b") == b"\x1b"
    assert ground.take(b"x" + WHITE) == b"x"
    assert ground.light is True


def test_an_answer_that_never_ends_takes_nothing_else() -> None:
    ground = asked()
    assert ground.take(HEAD + b"rgb:12" + b"quit") == b"quit"
    assert ground.take(HEAD + b"rgb:12") == b""
    assert [ground.pause() for _ in range(LOST)] == [b""] * LOST
    assert ground.take(b"add") == b"add"
    assert ground.take(HEAD + b"f" * 100).endswith(b"f" * 50)


@pytest.mark.parametrize("term", ["", "dumb", "linux", "vt100", "eterm-color"])
def test_a_terminal_that_might_show_the_question_is_not_asked(term: str) -> None:
    assert not asks({"TERM": term})
    assert asks({"TERM": "tmux-256color"})
    assert asks({"TERM": "screen"})


def test_the_first_frame_is_plain_until_it_is_known(program: Program) -> None:
    frame = first_frame(program.env(**DEEP), 80, 24)
    assert frame is not None
    assert frame.plain
    assert "\x1b[38;2" not in frame.whole("", 0)
    assert frame.settle(light=False)
    assert not frame.settle(light=False)
    dark = frame.whole("", 0)
    assert frame.settle(light=True)
    assert frame.whole("", 0) != dark


def test_a_chosen_theme_asks_nobody(program: Program) -> None:
    settings = program.home / ".gatewright" / "settings.json"
    settings.write_text('{"ui": {"theme": "dark"}}', encoding="utf-8")
    frame = first_frame(program.env(**DEEP), 80, 24)
    assert frame is not None
    assert not frame.plain
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for(HINT)
        terminal.send(WHITE.decode())
        terminal.send("hello")
        wait_for_line(terminal, "hello")
        assert is_of(terminal, "dark")
        assert ASK.encode() not in terminal.raw


def wait_for_line(terminal: Terminal, text: str) -> None:
    """Nothing but this was typed."""
    terminal.wait_until(lambda shown: f" \u276f {text}" in shown.splitlines())


def is_of(terminal: Terminal, theme: str) -> bool:
    wanted = PALETTES[theme].background
    return terminal.holds(lambda screen: f"#{screen.buffer[0][0].bg}" == wanted)


def wait_for_ground(terminal: Terminal, theme: str) -> None:
    terminal.wait_until(lambda _: is_of(terminal, theme))


@pytest.mark.e2e
@pytest.mark.parametrize("cold", [True, False])
@pytest.mark.parametrize("answer", [WHITE, BLACK])
def test_the_screen_is_what_the_terminal_is(program: Program, answer: bytes, cold: bool) -> None:
    with (patient(program) if cold else program).terminal("--model", "demo") as terminal:
        terminal.wait_until(lambda _: ASK.encode() in terminal.raw)
        terminal.send("ab")
        terminal.send(answer[:9].decode())
        terminal.send(answer[9:].decode())
        terminal.send("cd")
        terminal.wait_for("default")
        wait_for_line(terminal, "abcd")
        wait_for_ground(terminal, "light" if answer == WHITE else "dark")
        if answer == WHITE and cold:
            assert dark_paint() not in terminal.raw
        assert terminal.raw.count(ASK.encode()) == 1
        terminal.press("ctrl+c", "ctrl+d")
        assert terminal.wait_exit() == 0


def patient(program: Program) -> Program:
    """It hopes for the answer for as long as a busy machine may need to give it."""
    start = (
        f"import sys; from gatewright.tui.early import ground; ground.SOON = {PATIENCE}; "
        "from gatewright.agent.launch.main import main; sys.argv[0] = 'agent'; sys.exit(main())"
    )
    return replace(program.cold, argv=(sys.executable, "-c", start))


def dark_paint() -> bytes:
    text = PALETTES["dark"].background
    return ";".join(str(int(text[at : at + 2], 16)) for at in (1, 3, 5)).encode()


@pytest.mark.e2e
def test_a_late_answer_counts_and_types_nothing(program: Program) -> None:
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("default")
        wait_for_ground(terminal, "dark")
        for piece in (WHITE[:2], WHITE[2:12], WHITE[12:]):
            terminal.send(piece.decode())
            terminal.look(0.2)
        wait_for_ground(terminal, "light")
        terminal.send("hello")
        wait_for_line(terminal, "hello")


@pytest.mark.e2e
def test_where_nothing_is_painted_early_the_driver_asks(program: Program) -> None:
    own = program.project / ".gatewright"
    own.mkdir()
    (own / "settings.local.json").write_text(json.dumps({"ui": {}}), encoding="utf-8")
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_until(lambda _: ASK.encode() in terminal.raw)
        terminal.send(WHITE.decode())
        wait_for_ground(terminal, "light")


async def test_whoever_chose_a_theme_keeps_it() -> None:
    async with stage(theme="auto") as s:
        themed = s.app.themed
        themed.told(light=True)
        assert s.app.theme == "gatewright-light"
        await s.type("/theme dark")
        await s.press("enter")
        await s.see("Theme: dark")
        themed.told(light=True)
        assert s.app.theme == "gatewright-dark"
        await s.type("/theme auto")
        await s.press("enter")
        await s.see("Theme: auto")
        assert s.app.theme == "gatewright-light"
        await s.type("/theme list")
        await s.press("enter")
        await s.see("*  auto", "Dark or light, as your terminal is")
