"""Nothing is left: not after many runs, and not after a kill that nobody can catch."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.system.processes import spawn
from tests.fakes.waiting import PATIENCE, comes

pytestmark = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
AGENT = str(Path(sys.executable).with_name("agent"))
RUNS = 25
SLEEP = f"sleep 77.{os.getpid()}"  # of this process: others may run the same test


def running(text: str) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if text in line and entry.name != str(os.getpid()):
                found.append(line)
    return found


def stores(pid: int) -> list[Path]:
    return list(Path("/tmp").glob(f"gatewright-sandbox-{pid}-*"))


def groups() -> list[str]:
    base = Path("/sys/fs/cgroup/pids")
    return sorted(path.name for path in base.glob(f"gatewright-{os.getpid()}-*"))


async def test_many_runs_leave_nothing(tmp_path: Path) -> None:
    project, temp = tmp_path / "proj", tmp_path / "tmp"
    project.mkdir()
    temp.mkdir()
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    box = Sandbox(Config(cwd=project, home=tmp_path, roots=(project,), temp=temp), machine())
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(RUNS):
        argv = ("bash", "-c", f"echo {number} > last; sleep 60 & exit 0")
        child = await spawn(box.confine(SpawnRequest(argv=argv, cwd=project, env={"PATH": "/bin"})))
        async with asyncio.timeout(PATIENCE):
            while await child.read():
                pass
            assert await child.wait() == 0
    box.close()
    assert sorted(path.name for path in project.iterdir()) == ["last"]
    assert Path("/proc/self/mounts").read_text(encoding="utf-8") == mounts
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
    assert groups() == []
    assert stores(os.getpid()) == []


@pytest.mark.parametrize("flags", [[], ["--allow-domain", "example.com"]], ids=["alone", "proxied"])
def test_a_kill_of_the_program_ends_everything(tmp_path: Path, flags: list[str]) -> None:
    project, temp, home = tmp_path / "proj", tmp_path / "tmp", tmp_path / "home"
    for directory in (project, temp, home):
        directory.mkdir()
    (project / ".env").write_text("SECRET=1\n", encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temp)}
    argv = [
        AGENT,
        "sandbox",
        "run",
        *flags,
        "--",
        "bash",
        "-c",
        f"touch started; {SLEEP} & {SLEEP}",
    ]
    with subprocess.Popen(argv, cwd=project, env=env) as process:
        assert comes((project / "started").exists)
        assert running(SLEEP)
        assert {path.name for path in project.iterdir()} == {".env", "started"}
        assert stores(process.pid)
        process.send_signal(signal.SIGKILL)
    assert comes(lambda: not running(SLEEP)), running(SLEEP)
    assert comes(lambda: not stores(process.pid))
    assert list(temp.iterdir()) == []
    left = {".env", "started"}
    assert comes(lambda: {path.name for path in project.iterdir()} == left)
    name = f"gatewright-{process.pid}-"
    assert comes(lambda: not list(Path("/sys/fs/cgroup/pids").glob(f"{name}*")))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_command_and_cleans_up(tmp_path: Path, number: signal.Signals) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    (project := tmp_path / "proj").mkdir()
    argv = [AGENT, "sandbox", "run", "--", "bash", "-c", f"touch started; {SLEEP}"]
    with subprocess.Popen(argv, cwd=project, env=env) as process:
        assert comes((project / "started").exists)
        process.send_signal(number)
        assert process.wait(timeout=PATIENCE) == 128 + number
    assert not running(SLEEP)
    assert sorted(path.name for path in project.iterdir()) == ["started"]
    receipts = tmp_path / ".gatewright" / "state" / "sandbox"
    if list(receipts.iterdir()):  # a busy machine: it was ended in the midst of looking after it
        subprocess.run([AGENT, "sandbox", "run", "--", "true"], cwd=project, env=env, check=True)
    assert list(receipts.iterdir()) == []
