"""Background tasks: output while running, an end that is told once, nothing left at exit."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import TasksChanged
from gatewright.agent.session.jobs import SessionJobs
from gatewright.tools.access import MAIN
from gatewright.tools.shell.bash import Bash
from gatewright.tools.shell.shelljob import ShellLimits
from gatewright.tools.system import sweep
from tests.fakes.toolbox import Toolbox, text
from tests.fakes.waiting import PATIENCE, eventually, lasting
from tests.tools.test_bash import MARK, gone, survivors


class Session:
    """A box with background jobs and what was told of them."""

    def __init__(self, box: Toolbox, mark: Path) -> None:
        self.notices: list[str] = []
        self.running: tuple[str, ...] = ()
        self.jobs = SessionJobs(lambda _, text: self.notices.append(text), self._changed)
        self.box = box
        box.set(jobs=self.jobs.of(MAIN), env={**box.ctx.env, MARK: str(mark)})

    def _changed(self, changed: TasksChanged) -> None:
        self.running = changed.running

    async def start(self, command: str) -> str:
        result = await self.box.call("Bash", command=command, run_in_background=True)
        assert result.ok, text(result)
        return str(result.data["backgroundTaskId"])

    async def heard(self, word: str, id: str) -> str:
        """What the task printed once it holds `word`, within a bound."""
        said = ""
        end = time.monotonic() + PATIENCE
        while word not in said:
            assert time.monotonic() < end, said
            await asyncio.sleep(0)  # the command's output comes through the loop
            said = await self.box.said("TaskOutput", task_id=id, block=False)
        return said

    async def told(self) -> list[str]:
        """The notices once there is one, within a bound."""
        await eventually(lambda: bool(self.notices))
        return self.notices


@pytest.fixture
async def session(box: Toolbox, tmp_path: Path) -> AsyncIterator[Session]:
    made = Session(box, tmp_path)
    yield made
    await made.jobs.close()


async def test_it_returns_at_once_with_an_id_and_a_file(session: Session) -> None:
    began = time.monotonic()
    said = await session.box.said("Bash", command="echo hi; sleep 300", run_in_background=True)
    assert time.monotonic() - began < PATIENCE
    assert "shell_1" in said and str(session.box.ctx.spill) in said
    assert list(session.jobs.running()) == ["shell_1: echo hi; sleep 300"]


async def test_output_is_news_each_time(session: Session, tmp_path: Path) -> None:
    go = tmp_path / "go"
    id = await session.start(f"echo one; until [ -e {go} ]; do sleep 0.02; done; echo two")
    assert "[running]" in await session.heard("one", id)
    assert "[nothing new]" in await session.box.said("TaskOutput", task_id=id, block=False)
    go.touch()
    said = await session.box.said("TaskOutput", task_id=id)
    assert said == "two\n[exit 0]"


async def test_waiting_has_a_limit(session: Session) -> None:
    id = await session.start("sleep 300")
    began = time.monotonic()
    said = await session.box.said("TaskOutput", task_id=id, timeout=100)
    assert "[running]" in said and time.monotonic() - began < PATIENCE


async def test_the_end_is_told_exactly_once(session: Session) -> None:
    id = await session.start("exit 3")
    notices = await session.told()
    assert notices == [
        f"Background shell {id} (exit 3) has ended: exit 3. "
        f"TaskOutput with task_id {id} shows what it printed."
    ]
    await session.box.said("TaskOutput", task_id=id)
    await session.jobs.close()
    assert len(notices) == 1


async def test_an_end_seen_in_a_result_is_not_told_again(session: Session) -> None:
    id = await session.start("sleep 0.2; echo over")
    assert "over" in await session.box.said("TaskOutput", task_id=id)
    await session.jobs.close()
    assert session.notices == []


async def test_a_waiter_that_was_interrupted_leaves_the_notice(session: Session) -> None:
    id = await session.start("sleep 0.2")
    call = asyncio.create_task(session.box.call("TaskOutput", task_id=id))
    await asyncio.wait({call}, timeout=0.05)
    assert not call.done()
    call.cancel()
    await asyncio.wait({call})
    assert len(await session.told()) == 1


async def test_stop_ends_all_of_it(session: Session, tmp_path: Path) -> None:
    id = await session.start("trap '' TERM; sleep 300 & sleep 300 & wait; sleep 300")
    await session.box.said("TaskStop", task_id=id)
    assert await gone(tmp_path)
    assert session.notices == []
    assert "It had ended" in await session.box.said("TaskStop", task_id=id)


async def test_the_time_limit_moves_a_command_to_the_background(
    session: Session, tmp_path: Path
) -> None:
    command = "echo early; sleep 0.5; echo late"
    result = await session.box.call("Bash", command=command, timeout=200)
    assert result.ok and "early" in text(result) and "goes on in the background" in text(result)
    await session.told()
    id = str(result.data["backgroundTaskId"])
    assert "late" in await session.box.said("TaskOutput", task_id=id)
    files = list(session.box.ctx.spill.iterdir())
    assert [file.read_text(encoding="utf-8") for file in files] == ["early\nlate\n"]


async def printed(box: Toolbox, word: str) -> None:
    """Until a running call was seen to print this, within a bound."""
    await eventually(lambda: any(word in progress.tail for progress in box.progress))


async def test_a_person_sends_a_command_to_the_background(session: Session, tmp_path: Path) -> None:
    go = tmp_path / "go"
    command = f"echo early; until [ -e {go} ]; do sleep 0.02; done; echo late"
    call = asyncio.create_task(session.box.call("Bash", command=command))
    await printed(session.box, "early")
    assert session.jobs.to_background() == 1
    result = await asyncio.wait_for(call, PATIENCE)
    (file,) = session.box.ctx.spill.iterdir()
    assert result.ok and result.summary == "background shell_1"
    assert text(result) == (
        "early\n\n[The person sent it to the background, where it goes on as task shell_1. "
        f"Output: {file}. TaskOutput shows what comes, TaskStop ends it; its end will be told.]"
    )
    assert session.running == (f"shell_1: {command}",)
    assert session.jobs.to_background() == 0, "it is there already"
    go.touch()
    await session.told()
    assert await session.box.said("TaskOutput", task_id="shell_1") == "late\n[exit 0]"
    assert file.read_text(encoding="utf-8") == "early\nlate\n"
    await session.jobs.close()
    assert len(session.notices) == 1


async def test_all_that_runs_goes_to_the_background(session: Session, tmp_path: Path) -> None:
    calls = [
        asyncio.create_task(session.box.call("Bash", command=f"echo {name}; sleep 300"))
        for name in ("one", "two")
    ]
    for name in ("one", "two"):
        await printed(session.box, name)
    assert session.jobs.to_background() == 2
    results = await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)
    assert sorted(str(r.data["backgroundTaskId"]) for r in results) == ["shell_1", "shell_2"]
    await session.jobs.close()
    assert await gone(tmp_path) and session.notices == []


async def test_a_call_that_was_stopped_is_not_there_to_be_sent(session: Session) -> None:
    call = asyncio.create_task(session.box.call("Bash", command="echo up; sleep 300"))
    await printed(session.box, "up")
    call.cancel()
    await asyncio.wait({call})
    assert session.jobs.to_background() == 0


async def test_a_command_that_takes_long_can_be_sent(box: Toolbox, tmp_path: Path) -> None:
    """It is told although nothing is printed, and only where something can take the command."""
    box = Toolbox(box.root, Bash(ShellLimits(offer=0.1)))
    await box.said("Bash", command="sleep 0.5")
    assert box.progress == []
    session = Session(box, tmp_path)
    await box.said("Bash", command="sleep 0.5")
    assert [progress.movable for progress in box.progress] == [True]
    await session.jobs.close()


async def test_a_question_moves_a_command_to_the_background(box: Toolbox, tmp_path: Path) -> None:
    box = Toolbox(box.root, Bash(ShellLimits(quiet=0.1)))
    session = Session(box, tmp_path)
    result = await box.call("Bash", command="printf 'Name: '; sleep 300")
    assert "wait for input ('Name:')" in text(result) and session.jobs.running()
    await session.jobs.close()
    assert await gone(tmp_path)


async def test_closing_ends_everything_quietly(session: Session, tmp_path: Path) -> None:
    for _ in range(5):
        await session.start("trap '' TERM; while :; do sleep 0.1; done")
    began = time.monotonic()
    await session.jobs.close()
    assert time.monotonic() - began < PATIENCE
    assert await gone(tmp_path) and session.notices == []


async def test_ended_jobs_are_kept_up_to_a_cap(session: Session) -> None:
    for _ in range(110):
        await session.start("true")
    await eventually(lambda: not session.jobs.running() and len(session.notices) == 110)
    await session.start("true")
    assert session.jobs.find("shell_1", MAIN) is None
    assert session.jobs.find("shell_110", MAIN) is not None
    assert len(session.notices) == 110


async def test_an_unknown_task_names_the_running(session: Session) -> None:
    assert "Nothing runs" in await session.box.refused("TaskOutput", task_id="shell_9")
    await session.start("sleep 300")
    assert "shell_1: sleep 300" in await session.box.refused("TaskStop", task_id="shell_9")


async def test_without_jobs_there_is_no_background(box: Toolbox) -> None:
    said = await box.refused("Bash", command="true", run_in_background=True)
    assert "foreground" in said


LEFT_BEHIND = """
import asyncio, os, sys
from pathlib import Path
from gatewright.tools.system.processes import spawn
from gatewright.tools.protocol import SpawnRequest

async def main():
    command = "setsid sleep 300 & sleep 300 & wait"
    env = {"PATH": os.environ["PATH"], sys.argv[1]: sys.argv[2]}
    await spawn(SpawnRequest(argv=("/bin/bash", "-c", command), cwd=Path("/"), env=env))
    await asyncio.sleep(0.2)
    print("ready", flush=True)
    await asyncio.sleep(300)

asyncio.run(main())
"""


def started(*argv: str, **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen[bytes](argv, **more)


async def test_the_next_start_sweeps_what_a_killed_one_left(tmp_path: Path) -> None:
    agent = started(sys.executable, "-c", LEFT_BEHIND, MARK, str(tmp_path), stdout=subprocess.PIPE)
    assert agent.stdout is not None
    assert agent.stdout.readline() == b"ready\n"
    assert len(survivors(tmp_path)) >= 3
    sweep.sweep_abandoned()
    assert len(survivors(tmp_path)) >= 3, "a living agent keeps its children"
    agent.kill()
    agent.wait()
    agent.stdout.close()
    sweep.sweep_abandoned()  # any start on this machine does it, also that of a test beside this
    assert await gone(tmp_path)


def running(word: str) -> list[int]:
    """Processes with this word in their command line."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if word.encode() in words:
                found.append(int(entry.name))
    return found


async def ended(word: str) -> bool:
    return not await lasting(lambda: bool(running(word)), 3)


FORK_TWICE = (
    "import os, time\n"
    "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
    "  os.execve('/bin/sleep', ['sleep', os.environ['LONG']], {})\n"
    "os._exit(0)"
)
WITHOUT_ENVIRONMENT = [
    "setsid env -i sleep {} & sleep 0.2",
    "setsid -f env -i /bin/bash -c 'exec sleep {}' >/dev/null 2>&1 </dev/null; sleep 0.2",
    f'LONG={{}} {sys.executable} -c "{FORK_TWICE}"; sleep 0.2',
    "(env -i setsid -f env -i nohup sleep {} >/dev/null 2>&1); sleep 0.2",
]


@pytest.mark.parametrize("command", WITHOUT_ENVIRONMENT)
async def test_nothing_outlives_a_command_that_cleared_its_environment(
    box: Toolbox, command: str
) -> None:
    long = f"3{time.monotonic_ns() % 10**9}"
    result = await box.call("Bash", command=command.replace("{}", long, 1) + "; echo up")
    assert text(result).endswith("up")
    assert await ended(long)


async def test_a_cleared_environment_does_not_outlive_the_session(
    box: Toolbox, tmp_path: Path
) -> None:
    """Another command ends meanwhile: what this one started is not its own."""
    session = Session(box, tmp_path)
    long = f"3{time.monotonic_ns() % 10**9}"
    id = await session.start(f"setsid env -i sleep {long} & echo up; sleep 300")
    await session.heard("up", id)
    await box.call("Bash", command="sleep 0.1")
    assert running(long)
    await session.jobs.close()
    assert await ended(long)


async def test_the_next_start_sweeps_what_cleared_its_environment(tmp_path: Path) -> None:
    long = f"3{time.monotonic_ns() % 10**9}"
    script = (
        LEFT_BEHIND.replace("setsid sleep 300 &", f"setsid env -i sleep {long} &")
        .replace('command = "', 'command = SHELL_MARK + "\\n" + "')
        .replace(
            "import asyncio",
            "from gatewright.tools.system.sweep import SHELL_MARK\nimport asyncio",
            1,
        )
    )
    agent = started(sys.executable, "-c", script, MARK, str(tmp_path), stdout=subprocess.PIPE)
    stranger = started("sleep", f"{long}.5", env={})
    try:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"ready\n"
        sweep.sweep_abandoned()
        assert running(long), "a living agent keeps its children"
        agent.kill()
        agent.wait()
        agent.stdout.close()
        sweep.sweep_abandoned()  # unless a start of another test did so just now
        assert await ended(long)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_sweep_spares_strangers(tmp_path: Path) -> None:
    """A process whose marker names a living other process, or none, is not ours to end."""
    other = f"{sweep._run(os.getppid())}-1"  # pyright: ignore[reportPrivateUsage]
    bystander = started("sleep", "300", env={sweep.MARKER: other})
    unmarked = started("sleep", "300", env={})
    try:
        sweep.sweep_abandoned()
        sweep.sweep_own()
        assert bystander.poll() is None and unmarked.poll() is None
    finally:
        for process in (bystander, unmarked):
            process.kill()
            process.wait()


async def test_a_sweep_at_exit_ends_own_children(box: Toolbox, tmp_path: Path) -> None:
    session = Session(box, tmp_path)
    id = await session.start("setsid sleep 300 & echo up; sleep 300")
    await session.heard("up", id)
    sweep.sweep_abandoned()
    assert session.jobs.running(), "at a start our own children are spared"
    assert sweep.sweep_own() >= 1
    assert await gone(tmp_path)
    await session.jobs.close()
