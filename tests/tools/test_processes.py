"""Process groups: read to the end, killed whole, with and without a pidfd."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import time
from pathlib import Path

import msgspec
import pytest

from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system.processes import printed, spawn
from gatewright.tools.system.sweep import group_lives
from tests.fakes.waiting import PATIENCE, being_written, comes, eventually


def request(command: str, **env: str) -> SpawnRequest:
    return SpawnRequest(
        argv=("/bin/bash", "-c", command),
        cwd=Path("/"),
        env={"PATH": os.environ["PATH"], **env},
    )


def running(pid: int) -> bool:
    """Dead and not yet collected is not running."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(params=["pidfd", "polling"])
def watching(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How the end of a process is noticed: the second way is for systems without the first."""

    def none(pid: int, flags: int = 0) -> int:
        raise OSError("no pidfd here")

    if request.param == "polling":
        monkeypatch.setattr(os, "pidfd_open", none)


@pytest.mark.usefixtures("watching")
class TestChild:
    async def test_all_output_is_read(self) -> None:
        child = await spawn(request("seq 1 200000; exit 7"))
        chunks: list[bytes] = []
        while chunk := await child.read():
            chunks.append(chunk)
        assert b"".join(chunks) == b"".join(b"%d\n" % i for i in range(1, 200_001))
        assert await child.wait() == 7
        assert await child.read() == b""

    async def test_a_grandchild_with_the_pipe_does_not_hold_the_end(self) -> None:
        child = await spawn(request("echo one; (sleep 300; echo two) & exit 0"))
        began = time.monotonic()
        assert await child.read() == b"one\n"
        assert await child.read() == b""
        assert await child.wait() == 0
        assert time.monotonic() - began < PATIENCE

    async def test_output_closed_early_is_waited_for(self) -> None:
        child = await spawn(request("exec >&- 2>&-; sleep 0.2; exit 3"))
        assert await child.read() == b""
        assert await child.wait() == 3

    async def test_kill_takes_the_group(self) -> None:
        child = await spawn(request("trap '' TERM; echo on; while :; do sleep 0.05; done"))
        assert await child.read() == b"on\n"
        began = time.monotonic()
        await child.kill(0.2)
        assert time.monotonic() - began < PATIENCE
        assert await child.wait() == 128 + 9
        assert not group_lives(child.pid)

    async def test_killing_twice_and_after_the_end(self) -> None:
        child = await spawn(request("exit 0"))
        await asyncio.gather(child.kill(), child.kill())
        await child.kill()
        assert await child.wait() in (0, 128 + 15)

    async def test_who_is_cancelled_while_it_kills_leaves_nothing_to_reap(self) -> None:
        swept: list[bool] = []
        stubborn = request("trap '' TERM; echo on; while :; do sleep 0.05; done")
        stubborn = msgspec.structs.replace(stubborn, ended=lambda: swept.append(True))
        child = await spawn(stubborn)
        assert await child.read() == b"on\n"
        killing = asyncio.create_task(child.kill(PATIENCE))
        await asyncio.sleep(0)
        killing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await killing
        assert child.code == 128 + 9
        assert swept == [True]
        await child.wait()
        assert swept == [True]

    async def test_it_leads_a_session_without_terminal_or_input(self) -> None:
        child = await spawn(request("read x; echo $? $(ps -o sid= -p $$ | tr -d ' ') $$"))
        code, session, pid = (await child.read()).split()
        assert code == b"1" and session == pid == str(child.pid).encode()
        await child.wait()


def test_a_loop_that_ends_while_one_is_killed_leaves_nobody() -> None:
    """Else Python says so once the process is forgotten: that is an error here."""
    pids: list[int] = []

    async def leave() -> None:
        child = await spawn(request("trap '' TERM; echo on; while :; do sleep 0.05; done"))
        assert await child.read() == b"on\n"
        pids.append(child.pid)
        killing.append(asyncio.create_task(child.kill(PATIENCE)))
        await asyncio.sleep(0)

    killing: list[asyncio.Task[None]] = []
    asyncio.run(leave())
    killing.clear()
    gc.collect()
    with pytest.raises(ChildProcessError):
        os.waitpid(pids[0], os.WNOHANG)


async def test_what_cannot_start_is_told() -> None:
    with pytest.raises(ToolFailure, match="Cannot start /nowhere/x"):
        await spawn(SpawnRequest(argv=("/nowhere/x",), cwd=Path("/"), env={}))
    with pytest.raises(ToolFailure, match="does not exist any more"):
        await spawn(SpawnRequest(argv=("/bin/true",), cwd=Path("/nowhere"), env={}))


async def test_descriptors_are_not_inherited_and_not_leaked() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Path("/etc/passwd").open(encoding="utf-8") as file:  # noqa: ASYNC230  at once
        os.set_inheritable(file.fileno(), True)
        child = await spawn(request("ls -l /proc/self/fd"))
        assert b"passwd" not in await child.read()
        await child.wait()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("argument", ["a\0b", "\ud83d"])
async def test_an_argument_no_program_can_get_is_told_and_leaks_nothing(argument: str) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(ToolFailure, match="Cannot start /bin/echo"):
        await spawn(SpawnRequest(argv=("/bin/echo", argument), cwd=Path("/"), env={}))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_what_is_printed_comes_apart_and_is_bounded() -> None:
    script = "cat; echo wrong >&2; exit 3"
    assert await printed(request(script), b"given", seconds=20, keep=3) == (3, b"giv", b"wro")
    assert await printed(request("cat"), seconds=20, keep=9) == (0, b"", b"")


async def test_who_takes_too_long_is_ended_with_its_group(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    script = f"trap '' TERM; sleep 60 & echo $! > {tmp_path}/pid; echo begun; wait; sleep 60"
    ended = await printed(request(script), seconds=0.5, keep=100)
    assert ended == (None, b"begun\n", b"")
    assert comes(lambda: not running(int((tmp_path / "pid").read_text("utf-8"))))
    waiting = asyncio.create_task(printed(request(script), seconds=60, keep=100))
    (tmp_path / "pid").unlink()
    child = int(await being_written(tmp_path / "pid"))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert comes(lambda: not running(child))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


KILLED = """
import asyncio, os
from pathlib import Path
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.system.processes import spawn

async def main():
    env = dict(os.environ)
    ask = SpawnRequest(argv=("/bin/sleep", "30"), cwd=Path("/"), env=env, dies_with_us=True)
    print((await spawn(ask)).pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no parent-death signal here")
async def test_what_dies_with_us_is_gone_when_we_are_killed() -> None:
    argv = (sys.executable, "-c", KILLED)
    ask = SpawnRequest(argv=argv, cwd=Path("/"), env=dict(os.environ), leaves=True)
    ours = await spawn(ask)  # nobody sweeps up behind it
    pid = int(await ours.read())
    os.kill(ours.pid, signal.SIGKILL)
    await ours.wait()
    await eventually(lambda: not running(pid))


@pytest.mark.parametrize("over", [True, False])
async def test_what_left_the_group_is_looked_for_unless_nothing_can_be_left(
    tmp_path: Path, *, over: bool
) -> None:
    there = tmp_path / "pid"  # written once it has left the group
    line = f"setsid sh -c 'echo $$ > {there}; exec sleep 60' & until [ -s {there} ]; do :; done"
    child = await spawn(msgspec.structs.replace(request(line), over=lambda: over))
    assert await child.wait() == 0
    pid = int((tmp_path / "pid").read_text(encoding="ascii"))
    try:
        assert running(pid) if over else comes(lambda: not running(pid))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def test_one_that_was_started_before_goes_on() -> None:
    first = await spawn(request("echo noise; read line < /dev/zero; sleep 60"))

    async def begun() -> object:
        return first

    child = await spawn(msgspec.structs.replace(request("never"), begun=begun))
    assert child is first
    child.end()
    assert child.exited
    assert not running(child.pid)


async def test_what_was_printed_may_be_nobodys(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    line = f"echo noise; touch {tmp_path}/said; read x < {tmp_path}/go; echo result"
    child = await spawn(request(line))
    await eventually((tmp_path / "said").exists)
    child.forget()
    (tmp_path / "go").write_text("\n", encoding="ascii")
    output = b""
    while chunk := await child.read():
        output += chunk
    assert output == b"result\n"
    assert await child.wait() == 0
