"""Each key that `/keys` describes, pressed; and no key that nobody describes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual import events

from gatewright.agent.record.events import TurnStarted
from gatewright.tools.interact import Answer
from gatewright.tui.ask.guard import QUIET
from gatewright.tui.keys import KEYS
from gatewright.tui.picker import STEPS, TURNS
from gatewright.tui.prompt.box import NEWLINES, SCREEN_KEYS
from gatewright.tui.screens.reader import HINT, HITS, Reader
from tests.fakes.fake_session import FakeSession
from tests.tui.agent_scenes import start
from tests.tui.asked import ask, permission
from tests.tui.scenes import prose, tool, tools
from tests.tui.stage import Stage, stage

Press = Callable[[Stage], Awaitable[None]]


def text(s: Stage) -> str:
    return s.app.repl.box.text


async def enter(s: Stage) -> None:
    await s.type("go")
    await s.press("enter")
    await s.until(lambda: s.session.sent == ["go"])


async def new_line(s: Stage) -> None:
    for key in ("shift+enter", "alt+enter", "ctrl+j"):
        await s.press("a", key)
    await s.press("backslash", "enter")
    assert text(s) == "a\na\na\n\n"


async def earlier_and_later(s: Stage) -> None:
    for word in ("one", "two"):
        await s.type(word)
        await s.press("enter")
    await s.press("up", "up")
    assert text(s) == "one"
    await s.press("down")
    assert text(s) == "two"


async def search(s: Stage) -> None:
    await s.type("one")
    await s.press("enter", "ctrl+r")
    await s.see("Sent before")
    await s.press("enter")
    assert text(s) == "one"


async def escape(s: Stage) -> None:
    await s.press("slash")
    await s.see("/help")
    await s.press("escape")
    await s.gone("/help")
    await s.press("backspace")
    s.session.busy = True
    s.session.publish(TurnStarted())
    await s.see("esc to stop")
    await s.type("later")
    await s.press("enter")
    await s.see("later")
    await s.press("escape")
    assert s.session.interrupts == 1
    assert text(s) == "later"


async def twice(s: Stage) -> None:
    await s.press("escape", "escape")
    await s.see("rewind")


async def cancel(s: Stage) -> None:
    s.session.busy = True
    await s.press("ctrl+c")
    assert s.session.interrupts == 1
    s.session.busy = False
    await s.press("x", "ctrl+c")
    assert text(s) == ""
    await s.press("ctrl+c", "ctrl+c")
    await s.until(lambda: s.session.closed)


async def leave(s: Stage) -> None:
    await s.press("x", "left", "ctrl+d")
    assert text(s) == "", "it deletes what is there first"
    await s.press("ctrl+d")
    await s.until(lambda: s.session.closed)


async def mode(s: Stage) -> None:
    await s.press("shift+tab")
    await s.until(lambda: s.session.mode == "acceptEdits")


async def background(s: Stage) -> None:
    await s.press("a", "b", "ctrl+b", "x")
    assert text(s) == "axb"


async def folds(s: Stage) -> None:
    tools(s.session)
    await s.see("○ Add a test")
    await s.press("ctrl+x")
    await s.gone("○ Add a test")


async def suspends(s: Stage) -> None:
    await s.type("one")
    await s.press("ctrl+z")
    assert text(s) == "one"
    await s.see("no shell waits")


async def opens(s: Stage) -> None:
    s.session.publish(*tool("bash", "1"))
    await s.see("test_slow")
    await s.press("ctrl+o")
    await s.see("test 0 passed")
    await s.press("ctrl+o")
    await s.gone("test 0 passed")


async def reads(s: Stage) -> None:
    prose(s.session)
    await s.settled()
    await s.press("ctrl+t")
    await s.see("v opens an editor")
    for key in ("slash", *"lease", "enter", "n", "N"):
        await s.press(key)
    await s.see("of ")
    for key in (
        "up",
        "down",
        "k",
        "j",
        "pageup",
        "pagedown",
        "b",
        "space",
        "home",
        "g",
        "G",
        "end",
    ):
        await s.press(key)
    await s.press("q")
    await s.until(lambda: s.app.screen is s.app.repl)


async def pages(s: Stage) -> None:
    prose(s.session)
    await s.settled()
    view = s.app.repl.transcript
    for up, down in (("pageup", "pagedown"), ("shift+up", "shift+down")):
        await s.press(up)
        assert not view.following
        await s.press(down)
        assert view.following


async def answers(s: Stage) -> None:
    await ask(s, permission(), permission())
    await s.press("down", "down", "enter")
    await s.until(lambda: s.session.answers == [(1, Answer(("no",)))])
    await s.settled()
    s.clock.now += 2 * QUIET
    await s.press("y")
    await s.until(lambda: s.session.answers[1:] == [(2, Answer(("once",)))])


async def ends(s: Stage) -> None:
    prose(s.session)
    await s.settled()
    await s.press("ctrl+home")
    await s.see("the lease test is flaky")
    await s.press("ctrl+end")
    await s.see("32k cached")


async def commands(s: Stage) -> None:
    await s.press("slash", "m", "o")
    await s.see("/mode", "/model")


async def files(s: Stage) -> None:
    await s.type("@pl")
    await s.see("plan.txt")
    await s.press("tab")
    assert text(s) == "@plan.txt "


async def own(s: Stage) -> None:
    await s.type("!echo out-$((1 + 1))")
    await s.press("enter")
    await s.see("out-2")


async def memory(s: Stage) -> None:
    s.session.know("memory")
    await s.type("# use tabs")
    await s.press("enter")
    await s.see("▎ # use tabs")
    assert s.session.sent == []


async def shows_keys(s: Stage) -> None:
    await s.press("question_mark")
    await s.see("While it works")
    await s.press("a", "question_mark")
    assert text(s) == "a?"


async def stash(s: Stage) -> None:
    await s.type("later")
    await s.press("ctrl+s")
    assert text(s) == ""
    await s.type("much later")
    await s.press("ctrl+s")
    assert text(s) == ""
    assert s.app.repl.box.history_.entries()[-1] == "later", "a second one costs nothing"
    await s.press("ctrl+s")
    assert text(s) == "much later"
    await s.press("ctrl+s")
    await s.type("first this")
    await s.press("enter")
    await s.until(lambda: text(s) == "much later")
    assert s.session.sent[-1] == "first this"


async def editor(s: Stage) -> None:
    await s.type("one")
    await s.press("ctrl+g")
    await s.until(lambda: text(s) == "two")


async def copied(s: Stage) -> None:
    s.app.copy_to_clipboard("one")
    await s.press("ctrl+v")
    await s.until(lambda: text(s) == "one")


async def line_ends(s: Stage) -> None:
    await s.type("bc")
    await s.press("ctrl+a", "a", "ctrl+e", "d")
    assert text(s) == "abcd"


async def words(s: Stage) -> None:
    await s.type("one two")
    await s.press("alt+b", "x", "alt+b", "alt+b", "alt+f", "y")
    assert text(s) == "oney xtwo"


async def cuts(s: Stage) -> None:
    await s.type("one two three four")
    await s.press("ctrl+w")
    assert text(s) == "one two three "
    await s.press("ctrl+a", "alt+d")
    assert text(s) == " two three "
    await s.press("alt+f", "ctrl+k")
    assert text(s) == " two"
    await s.press("ctrl+u")
    assert text(s) == ""


async def pastes(s: Stage) -> None:
    await s.press(*"one", "ctrl+u", *"two", "ctrl+u", "ctrl+y")
    assert text(s) == "two"
    await s.press("alt+y")
    assert text(s) == "one"


async def undo(s: Stage) -> None:
    await s.type("one")
    await s.press("ctrl+u", "ctrl+underscore")
    assert text(s) == "one"
    await s.press("alt+z")
    assert text(s) == ""


async def redraw(s: Stage) -> None:
    await s.type("stays")
    before = s.text()
    await s.press("ctrl+l")
    await s.settled()
    assert s.text() == before


async def mouse(s: Stage) -> None:
    prose(s.session)
    await s.settled()
    view = s.app.repl.transcript

    def event(kind: type[events.MouseEvent], x: int, y: int, button: int = 1) -> None:
        s.app.post_message(kind(None, x, y, 0, 0, button, False, False, False, x, y))

    event(events.MouseDown, 4, 2)
    event(events.MouseMove, 12, 5)
    event(events.MouseUp, 12, 5)
    await s.see("copied")
    event(events.MouseScrollUp, 4, 2, 0)
    await s.until(lambda: not view.following)
    event(events.MouseScrollDown, 4, 2, 0)
    await s.until(lambda: view.following)


async def agents(s: Stage) -> None:
    start(s.session, 0)
    await s.see("◇ Explore")
    await s.press("down")
    await s.see("enter opens  x stops or clears  r resumes  esc goes back")
    await s.press("escape")
    await s.gone("enter opens")


PRESSED: dict[str, Press] = {
    "Enter": enter,
    "Shift+Enter, Alt+Enter, Ctrl+J, \\ Enter": new_line,
    "Up, Down": earlier_and_later,
    "Down": agents,
    "Ctrl+R": search,
    "Esc": escape,
    "Esc Esc": twice,
    "Ctrl+C": cancel,
    "Ctrl+D": leave,
    "Shift+Tab": mode,
    "Ctrl+B": background,
    "Ctrl+O": opens,
    "Ctrl+X": folds,
    "Ctrl+Z": suspends,
    "Ctrl+T": reads,
    "Up, Down, Enter": answers,
    "Page Up, Page Down": pages,
    "Ctrl+Home, Ctrl+End": ends,
    "/": commands,
    "@": files,
    "!": own,
    "#": memory,
    "?": shows_keys,
    "Ctrl+S": stash,
    "Ctrl+G": editor,
    "Ctrl+A, Ctrl+E": line_ends,
    "Alt+B, Alt+F": words,
    "Ctrl+K, Ctrl+U, Ctrl+W, Alt+D": cuts,
    "Ctrl+Y, Alt+Y": pastes,
    "Ctrl+V": copied,
    "Ctrl+_, Alt+Z": undo,
    "Ctrl+L": redraw,
    "Mouse": mouse,
}


@pytest.mark.parametrize("key", [key.keys for key in KEYS])
async def test_key(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert key in PRESSED, f"write down in PRESSED what pressing {key} does"
    monkeypatch.setenv("VISUAL", "sed -i s/one/two/")
    monkeypatch.setenv("SHELL", "/bin/sh")
    (tmp_path / "plan.txt").write_text("", encoding="utf-8")
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        await PRESSED[key](s)


def test_nothing_is_pressed_that_is_gone() -> None:
    assert set(PRESSED) == {key.keys for key in KEYS}


# The same as a described key, under a name that other programs taught.
SAME = {
    "ctrl+enter": "alt+enter",
    "ctrl+f": "right",
    "ctrl+n": "down",
    "ctrl+p": "up",
    "ctrl+shift+z": "alt+z",
    "ctrl+underscore": "ctrl+_",
    "alt+y": "ctrl+y",
}
PLAIN = {"up", "down", "left", "right", "home", "end", "tab", "enter", "escape", "backspace"}
SCROLLING = {*PLAIN, "pageup", "pagedown", "space", "k", "j", "b", "g", "G"}


def described() -> set[str]:
    told = ", ".join(f"{key.keys}, {key.help}" for key in KEYS)
    names: list[str] = re.findall(
        r"(?:(?:Ctrl|Alt|Shift)\+)+\w+|Page Up|Page Down|Esc|Enter|\?", told
    )
    short = {"esc": "escape", "page up": "pageup", "page down": "pagedown", "?": "question_mark"}
    return {short.get(name, name) for name in map(str.lower, names)}


async def test_every_bound_key_is_described() -> None:
    async with stage() as s:
        repl = s.app.repl
        bound = {*repl._keys, *repl.box._actions, *SCREEN_KEYS, *NEWLINES}  # pyright: ignore[reportPrivateUsage]
        bound |= {binding.key for _name, binding in repl._bindings}  # pyright: ignore[reportPrivateUsage]
    left = {key for key in bound if SAME.get(key, key) not in described() | PLAIN}
    assert not left, f"describe in tui/keys.py: {sorted(left)}"


def test_every_key_of_the_reader_is_described_at_its_foot() -> None:
    bound = set(re.findall(r'"([\w+]+)": (?:lambda|self\.)', inspect.getsource(Reader)))
    assert {"slash", "n", "q"} <= bound, "the reader's table is read from its source"
    named = {"/": "slash", "esc": "escape"}
    foot = {named.get(word, word) for word in re.findall(r"(\S+) \w+", f"{HINT}  {HITS}")}
    left = bound - foot - SCROLLING - {"q", "ctrl+t", "ctrl+c"}  # these do what esc does
    assert not left, f"describe in the reader's HINT: {sorted(left)}"


async def test_every_key_of_a_list_is_described_at_its_foot() -> None:
    async with stage() as s:
        await s.type("one")
        await s.press("enter", "ctrl+r")
        foot = await s.see("enter chooses", "esc closes")
        assert "tab next list" in foot
    left = {SAME.get(key, key) for key in (*STEPS, *TURNS)} - SCROLLING - {"shift+tab", "ctrl+r"}
    assert not left
