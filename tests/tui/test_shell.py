"""The person's own commands end with the program, and so does all that they started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest

from gatewright.tui.shell import OwnShell, Ran
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import being_written, comes
from tests.tui.stage import stage

CHILD = "sleep 60 & echo $! > {folder}/child; {trap}echo there; wait; wait; sleep 60"


async def started(folder: Path) -> int:
    """The process that the command has started by now."""
    file = folder / "child"
    return int(await being_written(file))


def running(pid: int) -> bool:
    """Dead and not yet collected is not running."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pid: int) -> bool:
    return comes(lambda: not running(pid))


@pytest.mark.parametrize("trap", ["", "trap : TERM; "])
async def test_leaving_ends_what_runs(tmp_path: Path, trap: str) -> None:
    async with stage(FakeSession(cwd=str(tmp_path))) as s:
        s.app.talk.send("!" + CHILD.format(trap=trap, folder=tmp_path))
        child = await started(tmp_path)
        assert running(child)
        await s.app.leave()
    assert gone(child)


@pytest.mark.parametrize("command", [CHILD, "sleep 60 & echo $! > {folder}/child{trap}"])
async def test_whoever_stops_waiting_ends_it(tmp_path: Path, command: str) -> None:
    shell = OwnShell()
    waiting = asyncio.create_task(shell.run(command.format(trap="", folder=tmp_path), tmp_path))
    child = await started(tmp_path)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    assert gone(child)
    assert not shell.running


async def test_what_it_leaves_behind_is_the_persons(tmp_path: Path) -> None:
    """As from any shell of theirs."""
    left = f"setsid sleep 60 >/dev/null 2>&1 & echo $! > {tmp_path}/child"
    ran = await OwnShell().run(f"{left}; echo there", tmp_path)
    assert (ran.output, ran.exit) == ("there\n", 0)
    child = await started(tmp_path)
    assert running(child)
    os.kill(child, signal.SIGKILL)


async def test_it_is_read_as_long_as_somebody_says_something(tmp_path: Path) -> None:
    ran = await OwnShell().run("(sleep 0.3; echo late) & echo first", tmp_path)
    assert ran.output == "first\nlate\n"


async def test_what_a_stopped_one_says_to_that_is_shown(tmp_path: Path) -> None:
    shell = OwnShell()
    line = f"trap 'echo bye; exit 3' TERM; echo $$ > {tmp_path}/child; while :; do sleep 0.05; done"
    waiting = asyncio.create_task(shell.run(line, tmp_path))
    await started(tmp_path)
    assert shell.stop()
    ran = await waiting
    assert ran.output.endswith("bye\n") and ran.ended == "stopped"


def test_a_command_that_was_stopped_says_so_and_no_number() -> None:
    ran = Ran("sleep 30", "", -15, 100)
    assert ran.ended == "stopped"
    assert ran.for_model().endswith("(stopped)")
    assert Ran("false", "", 1, 1).ended == "exit 1"
