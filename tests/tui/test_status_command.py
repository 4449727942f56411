"""The person's own status line: real processes, a real screen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gatewright.agent.record.events import ModeChanged, UsageChanged
from gatewright.agent.record.messages import Usage
from gatewright.agent.settings.schema import StatusLine
from gatewright.tui.status import status_command
from gatewright.tui.terminal import sgr
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import PATIENCE, lasting
from tests.tui.stage import Stage, stage


class Book:
    """Settings that the test changes."""

    def __init__(self, command: str, **more: int) -> None:
        self.line: StatusLine | None = StatusLine(command=command, **more)  # type: ignore[arg-type]
        self.listeners: list[Callable[[], None]] = []

    def setting(self) -> StatusLine | None:
        return self.line

    def refresh(self) -> None:
        return

    def env(self) -> Mapping[str, str]:
        return os.environ

    def listen(self, changed: Callable[[], None]) -> None:
        self.listeners.append(changed)

    def become(self, command: str) -> None:
        self.line = StatusLine(command=command) if command else None
        for listener in self.listeners:
            listener()


def session_with(command: str, **more: int) -> tuple[FakeSession, Book]:
    session = FakeSession(cwd="/")
    session.status = book = Book(command, **more)
    return session, book


def last_row(on: Stage) -> str:
    return on.text().splitlines()[-1]


def used(cost: float) -> UsageChanged:
    return UsageChanged(usage=Usage(input=10), cost=cost, context=10, window=100)


def lived(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split() if path.exists() else []


async def test_its_line_stands_beside_the_mode() -> None:
    session, _book = session_with("""sed 's/.*"id": "\\([^"]*\\)".*/own \\1/'""")
    async with stage(session) as on:
        await on.see("own scripted-1")
        row = last_row(on)
        assert row.split() == ["default", "own", "scripted-1"]
        session.publish(ModeChanged(mode="plan", by="user"))
        await on.see("plan   own scripted-1")


async def test_several_lines_and_the_padding() -> None:
    session, _book = session_with("printf 'one\\ntwo\\nthree\\nfour\\n'", padding=2)
    async with stage(session) as on:
        text = await on.see("three")
        rows = text.splitlines()[-3:]
        assert rows[0].startswith(" default     one")
        assert rows[1:] == ["   two", "   three"]
        assert "four" not in text
    session, _book = session_with("printf 'one\\ntwo\\n'")
    async with stage(session, size=(40, 10)) as on:
        await on.see("default   one")
        assert "two" not in on.text()


async def test_a_wide_line_is_cut_to_the_room_it_is_told_of() -> None:
    session, _book = session_with("printf '%s' \"$COLUMNS:\"; printf '漢%.0s' $(seq 200)")
    async with stage(session, size=(60, 20)) as on:
        await on.see("48:漢")  # 58 cells without the sides, the mode and the gap
        row = last_row(on)
        assert row.endswith("…")


async def test_it_runs_once_for_many_changes_and_not_at_all_when_idle(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    session, _book = session_with(f"echo x >>{ran}; echo shown $(wc -l <{ran})")
    async with stage(session) as on:
        await on.see("shown 1")
        for number in range(20):
            session.publish(used(number / 10))
        await on.see("shown 2")
        assert await lasting(lambda: len(lived(ran)) == 2, 0.7)


async def test_only_one_at_a_time(tmp_path: Path) -> None:
    log = tmp_path / "log"
    session, _book = session_with(f"echo begin >>{log}; sleep 0.5; echo end >>{log}; echo done-it")
    async with stage(session) as on:
        await on.until(lambda: lived(log) == ["begin"])
        for number in range(30):
            session.publish(used(number + 1.0))
            await on.pilot.pause(0.02)
        await on.until(lambda: len(lived(log)) >= 4)
        assert lived(log)[:4] == ["begin", "end", "begin", "end"]


async def test_a_slow_one_ends_with_its_whole_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_command, "LIMIT", 0.4)
    pids = tmp_path / "pids"
    session, _book = session_with(
        f"trap '' TERM; sleep 60 & echo $! >>{pids}; echo $$ >>{pids}; wait"
    )
    async with stage(session) as on:
        await on.see("took longer than", "scripted-1")
        for pid in lived(pids):
            await on.until(lambda pid=pid: not alive(int(pid)))  # type: ignore[misc]
        session.publish(used(1.0))
        await on.until(lambda: len(lived(pids)) == 4)
        await on.pilot.pause(0.6)
        assert on.text().count("took longer than") == 1, "told once"


def alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


async def test_what_it_leaves_behind_holds_nothing_up() -> None:
    session, _book = session_with("sleep 60 & echo quick")
    began = time.monotonic()
    async with stage(session) as on:
        await on.see("quick")
        assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo broken >&2; exit 3", "ended with 3: broken"),
        ("true", "printed nothing"),
        ("/nowhere/at/all", "ended with 127"),
    ],
)
async def test_a_failure_leaves_the_built_in_line_and_is_told(command: str, why: str) -> None:
    session, book = session_with(command)
    async with stage(session) as on:
        await on.see(why)
        assert "scripted-1" in last_row(on)
        book.become("echo mended")
        await on.see("mended")
        assert "scripted-1" not in last_row(on)
        book.become("")
        await on.gone("mended")
        assert "scripted-1" in last_row(on)


async def test_its_refresh_interval_runs_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_command, "DEBOUNCE", 0.01)
    session, _book = session_with("date +%s%N | cut -c1-13", refresh_interval=1)
    async with stage(session) as on:
        await on.until(lambda: last_row(on).split()[-1].isdigit())
        first = last_row(on)
        await on.until(lambda: last_row(on) != first)


async def test_leaving_ends_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    session, _book = session_with(f"echo $$ >>{pids}; sleep 60; echo never")
    async with stage(session) as on:
        await on.until(lambda: len(lived(pids)) == 1)
        await on.app.leave()
        await on.until(lambda: not alive(int(lived(pids)[0])))


HOSTILE = (
    "\x1b]0;owned\x07a\x1b]52;c;cm0=\x07b\x1b[2J\x1b[Hc\x1b]8;;http://x\x07d\x1b]8;;\x07"
    "\u202ee\x1bP1$r\x1b\\f\x1b[?1049hg\x9b31mh\x07i\U00100000j\x1b[5mk\x1b[8ml\x1b]0;\x1b[31mz"
)


async def test_hostile_output_is_inert(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(HOSTILE.encode())
    session, _book = session_with(f"cat {tmp_path}/out")
    async with stage(session) as on:
        await on.see("default   abcd<U+202E>efgh<U+0007>i<U+100000>jkl")
        assert "\x1b" not in on.text()


def roles(text: str) -> list[tuple[str, str]]:
    return [(span.text, span.role) for row in sgr.lines(text, 3) for span in row.spans]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain", [("plain", "dim")]),
        ("\x1b[31mred\x1b[0m.", [("red", "@color(1)"), (".", "dim")]),
        ("\x1b[1;92mx", [("x", "@bold color(10)")]),
        ("\x1b[38;5;208mo\x1b[39mp", [("o", "@color(208)"), ("p", "dim")]),
        ("\x1b[38;2;255;0;128mt", [("t", "@#ff0080")]),
        ("\x1b[38:2::1:2:3mt", [("t", "@#010203")]),
        ("\x1b[38:5:9mt", [("t", "@color(9)")]),
        ("\x1b[44;97mb\x1b[49mc", [("b", "@color(15) on color(4)"), ("c", "@color(15)")]),
        ("\x1b[2;3;4mq\x1b[mr", [("q", "dim:iu"), ("r", "dim")]),
        ("\x1b[38;5mx", [("x", "dim")]),
        ("\x1b[38;2;300;0;0mx", [("x", "dim")]),
        ("\x1b[31mone\ntwo", [("one", "@color(1)"), ("two", "@color(1)")]),
        ("\U000f02a2 \ue0b0", [("\U000f02a2 \ue0b0", "dim")]),
    ],
)
def test_colours(text: str, wanted: list[tuple[str, str]]) -> None:
    assert roles(text) == wanted


async def test_what_left_its_group_holds_nothing_up_and_ends_too(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    left = f"setsid sh -c 'echo $$ >>{pids}; exec sleep 8' &"  # once it is out of the group:
    session, _book = session_with(f"{left} while [ ! -s {pids} ]; do sleep 0.01; done; echo quick")
    async with stage(session) as on:
        await on.see("quick")
        await on.until(lambda: not alive(int(lived(pids)[0])))
