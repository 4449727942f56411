"""The fakes keep their promises: a fake that lies makes every test above it worthless."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from gatewright.agent.record.clock import Clock
from gatewright.agent.record.events import Noticed, TextDelta
from gatewright.tools.protocol import Spawn, SpawnRequest
from tests.fakes.clock import FakeClock
from tests.fakes.journals import journal as new_journal
from tests.fakes.recorder import Recorder
from tests.fakes.spawner import FakeSpawner, Script
from tests.fakes.terminal import Terminal

REQUEST = SpawnRequest(argv=("make",), cwd=Path("/"), env={})


async def test_clock_wakes_sleepers_in_order() -> None:
    clock = FakeClock()
    port: Clock = clock
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await port.sleep(seconds)
        woken.append((name, port.monotonic()))

    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper("late", 5))
        group.create_task(sleeper("early", 2))
        await clock.until_sleeping(2)
        await clock.advance(1)
        assert woken == []
        await clock.advance(10)
    assert woken == [("early", 2), ("late", 5)]
    assert clock.monotonic() == 11


async def test_clock_forgets_a_cancelled_sleeper() -> None:
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(5))
    await clock.until_sleeping()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert clock.sleeping == 0


async def test_spawner_plays_scripts_in_order() -> None:
    spawner = FakeSpawner([Script.prints("hello", exit=3), Script(hangs=True)])
    port: Spawn = spawner
    first = await port(REQUEST)
    assert (await first.read(), await first.read(), await first.wait()) == (b"hello", b"", 3)
    second = await port(REQUEST)
    waiting = asyncio.create_task(second.wait())
    await second.kill()
    assert await waiting < 0
    assert spawner.requests == [REQUEST, REQUEST]
    with pytest.raises(AssertionError, match="no script"):
        await port(REQUEST)


async def test_recorder_waits_for_what_happens_later() -> None:
    journal = new_journal(clock=FakeClock().time, ids=lambda: "id")
    async with Recorder(journal.hub()) as seen:
        asyncio.get_running_loop().call_soon(journal.publish, Noticed(text="later"))
        assert (await seen.until(Noticed)).text == "later"
        with pytest.raises(AssertionError, match="no TextDelta within"):
            await seen.until(TextDelta, within=0.01)
    assert seen.events == [Noticed(text="later")]


PROGRAM = """
import os, signal, sys, termios, tty
tty.setcbreak(0)
size = os.get_terminal_size()
signal.signal(signal.SIGWINCH, lambda *_: print("now", *os.get_terminal_size(), flush=True))
sys.stdout.write("\\x1b[>1u\\x1b[<u\\x1b[?2026$p\\x1b[38;2;1;2;3mready\\x1b[0m %d %d\\n" % size)
sys.stdout.flush()
while (key := os.read(0, 16)) != b"q":
    print("got", key, flush=True)
sys.exit(7)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def start(program: Path) -> Terminal:
    return Terminal([sys.executable, str(program)], cwd=program.parent, env=dict(os.environ))


def test_terminal_types_resizes_and_reads(program: Path) -> None:
    with start(program) as terminal:
        assert terminal.wait_for("ready 80 24").startswith("ready 80 24")
        terminal.press("shift+tab")
        terminal.wait_for(r"got b'\x1b[Z'")
        terminal.resize(30, 100)
        terminal.wait_for("now 100 30")
        terminal.press("q")
        assert terminal.wait_exit() == 7
        assert b"\x1b[38;2;1;2;3m" in terminal.raw


def test_terminal_tells_what_was_on_screen_instead(program: Path) -> None:
    with start(program) as terminal:
        terminal.wait_for("ready")
        with pytest.raises(AssertionError, match="ready 80 24"):
            terminal.wait_for("never", within=0.1)
        terminal.kill(signal.SIGKILL)
        assert terminal.wait_exit() == -signal.SIGKILL
        with pytest.raises(AssertionError, match="the program ended"):
            terminal.wait_for("never")


def test_the_alternate_screen_gives_back_the_first(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "print('first', flush=True)\n"
        "print('\\x1b[?1049h\\x1b[Hsecond', flush=True)\n"
        "input()\n"
        "print('\\x1b[?1049lthird', flush=True)\n",
        encoding="utf-8",
    )
    with start(path) as terminal:
        assert "first" not in terminal.wait_for("second")
        terminal.press("enter")
        assert "second" not in terminal.wait_for("first", "third")


def test_ctrl_c_reaches_the_program(tmp_path: Path) -> None:
    path = tmp_path / "sleeper.py"
    # in short pieces: a signal that comes right before a pause does not end it
    pauses = "while True:\n    time.sleep(0.05)\n"
    path.write_text(f"import time\nprint('on', flush=True)\n{pauses}", encoding="utf-8")
    with start(path) as terminal:
        terminal.wait_for("on")
        terminal.press("ctrl+c")
        assert terminal.wait_exit() == -signal.SIGINT


def test_no_property_fails_because_the_machine_is_busy() -> None:
    assert settings().deadline is None
