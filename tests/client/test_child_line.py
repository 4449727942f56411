"""The line to a child process: what is said last is heard, and no child can hang or crash us."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import cast

import pytest

from gatewright.agent.client import child_line
from gatewright.agent.client.child_line import ChildLine, start
from gatewright.agent.client.far_line import LineEnded
from gatewright.agent.client.framing import Lines
from gatewright.agent.client.remote import join
from gatewright.agent.errors import SessionError
from gatewright.tools.protocol import Child
from gatewright.tools.system.processes import spawn

ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)\nprint('bye')"


async def started(script: str, folder: Path) -> ChildLine:
    return await start((sys.executable, "-c", script), folder, os.environ, spawn)


async def test_lines_go_both_ways_and_the_end_is_heard(tmp_path: Path) -> None:
    line = await started(ECHO, tmp_path)
    line.send(b"one\n")
    line.send(b"two" * 100_000 + b"\n")
    assert await line.next() == b"eno"
    assert await line.next() == b"owt" * 100_000
    await line.close(at_once=True)


async def test_the_last_words_are_read_before_it_is_over(tmp_path: Path) -> None:
    line = await started(ECHO, tmp_path)
    line.send(b"one\n")
    assert await line.next() == b"eno"
    line._hang_up()  # pyright: ignore[reportPrivateUsage]
    assert await line.next() == b"bye"
    with pytest.raises(LineEnded, match=r"^The process of the session has ended\.$"):
        await line.next()
    await line.close()


async def test_how_it_ended_is_said_with_its_own_words(tmp_path: Path) -> None:
    said = "agent: there is no model\\n\\x1b[31mnone\\x1b[0m"
    line = await started(f"import sys; sys.stderr.write('{said}'); sys.exit(3)", tmp_path)
    with pytest.raises(LineEnded) as ended:
        await line.next()
    await line.close()
    assert "exit code 3: agent: there is no model" in str(ended.value)
    assert "\x1b" not in str(ended.value)


async def test_a_killed_child_is_said(tmp_path: Path) -> None:
    line = await started(ECHO, tmp_path)
    line.send(b"one\n")
    await line.next()
    os.kill(line.pid, signal.SIGKILL)
    with pytest.raises(LineEnded, match="exit code 137"):
        await line.next()
    line.send(b"two\n")  # nobody is there: nothing happens
    await line.close()


async def test_a_line_without_end_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_line, "Lines", lambda: Lines(10_000))
    line = await started("while True: print('x' * 1000, end='')", tmp_path)
    with pytest.raises(LineEnded, match="64 MiB"):
        await line.next()
    await line.close(at_once=True)


async def test_a_child_that_only_ends_lines_leaves_everybody_their_turn(tmp_path: Path) -> None:
    class Blank:
        async def read(self) -> bytes:
            return b"\n"

    line = await started(ECHO, tmp_path)
    child, line._child = line._child, cast("Child", Blank())  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await line.next()
    line._child = child  # pyright: ignore[reportPrivateUsage]
    await line.close(at_once=True)


async def test_a_child_that_takes_nothing_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_line, "UNREAD", 500_000)
    line = await started("import time; print('up', flush=True); time.sleep(600)", tmp_path)
    assert await line.next() == b"up"
    for _ in range(10):
        line.send(b"x" * 100_000 + b"\n")
    await line.close()
    with pytest.raises(LineEnded, match="takes nothing"):
        await line.next()


async def test_a_child_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_line, "END_LIMIT", 0.1)
    line = await started("import time; print('up', flush=True); time.sleep(600)", tmp_path)
    assert await line.next() == b"up"
    await line.close()
    with pytest.raises(LineEnded):
        await line.next()


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
async def test_nothing_is_left_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    line = await started(ECHO, tmp_path)
    await line.close(at_once=True)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="Cannot start"):
        await start((str(tmp_path / "agent"),), tmp_path, os.environ, spawn)


async def test_a_program_that_is_no_session_is_not_joined(tmp_path: Path) -> None:
    line = await started("print('Usage: other [options]')", tmp_path)
    with pytest.raises(SessionError, match=r"not understood here.*Usage: other"):
        await join(line)
