"""What a person's program makes while a command sleeps stays; what a command makes does not."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.disk.findings import Sight
from gatewright.permissions.sandbox.disk.receipts import Elsewhere
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.permissions.sandbox.running.asleep import asleep
from gatewright.tools.protocol import SpawnRequest
from tests.fakes.waiting import PATIENCE, comes, until

confined = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")


@contextmanager
def going_on(folder: Path, command: str) -> Generator[tuple[Sandbox, Path, list[str]]]:
    """A command in the background of a project; it has begun."""
    project = folder / "project"
    for each in (project, folder / "home"):
        each.mkdir(exist_ok=True)
    config = Config(cwd=project, home=folder / "home", roots=(project,), state=folder / "state")
    box = Sandbox(config, machine())
    told: list[str] = []
    argv = ("/bin/sh", "-c", f"echo > ready; {command}")
    env = {"PATH": "/usr/bin:/bin"}
    request = box.confine(SpawnRequest(argv=argv, cwd=project, env=env), told.extend)

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(request.argv, cwd="/", env=request.env, pass_fds=request.fds)

    child = begin() if request.start is None else request.start(begin)
    try:
        assert comes((project / "ready").exists)
        yield box, project, told
    finally:
        child.kill()
        child.wait(PATIENCE)
        assert request.ended is not None
        request.ended()
        box.close()


def rested(box: Sandbox) -> bool:
    """Look; whether nothing ran around that look."""
    (run,) = (active.run for active in box._active)  # pyright: ignore[reportPrivateUsage]
    before = asleep([run.init()])
    box.check()
    return before is not None and asleep([run.init()]) == before


@confined
def test_what_came_while_the_command_slept_stays_where_it_is(tmp_path: Path) -> None:
    with going_on(tmp_path, "exec sleep 60") as (box, project, told):
        assert comes(lambda: rested(box))
        (project / ".idea").mkdir()
        (project / ".idea" / "workspace.xml").touch()
        box.check()
        assert (project / ".idea" / "workspace.xml").exists()
    assert (project / ".idea" / "workspace.xml").exists()
    assert told == []


@confined
@pytest.mark.parametrize("busy", ["while :; do :; done", "while :; do sleep 0.001; done"])
def test_what_came_while_the_command_ran_is_put_aside(tmp_path: Path, busy: str) -> None:
    with going_on(tmp_path, f"({busy}) & exec sleep 60") as (box, project, told):
        box.check()
        box.check()
        (project / ".idea").mkdir()
        assert comes(lambda: not (project / ".idea" / "x").exists())
        box.check()
        assert not (project / ".idea").exists()
        assert "put aside: .idea" in told[0]


@confined
def test_a_command_that_waits_for_its_moment_is_found(tmp_path: Path) -> None:
    """It sleeps until a person made something, makes its own, and sleeps again."""
    waits = "until [ -e go ]; do sleep 1; done; mkdir .vscode; exec sleep 60"
    with going_on(tmp_path, waits) as (box, project, told):
        assert comes(lambda: rested(box))
        (project / "go").touch()
        assert comes((project / ".vscode").exists)
        box.check()
        assert not (project / ".vscode").exists()
        assert ".vscode" in told[0]


def test_what_runs_or_cannot_be_seen_is_not_asleep() -> None:
    assert asleep([os.getpid()]) is None
    assert asleep([0]) is None
    assert asleep([]) is None


@confined
def test_what_a_run_may_be_writing_is_no_order_of_ours(tmp_path: Path) -> None:
    """Only what was there before it, and is covered in it, can be read as settings meanwhile."""
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    with going_on(tmp_path, "exec sleep 60") as (box, project, _):
        (project / ".gatewright").mkdir()
        assert not box.settled(str(project / ".gatewright" / "settings.json"))
        assert not box.settled(str(project / "AGENTS.md"))
        assert box.settled(str(project / ".claude" / "settings.json"))
        assert box.settled(str(tmp_path / "home" / ".gatewright" / "settings.json"))
        (tmp_path / "home" / "link").symlink_to(project / ".gatewright")
        assert not box.settled(str(tmp_path / "home" / "link" / "settings.json"))
    assert box.settled(str(project / ".gatewright" / "settings.json"))


def sleeping(pid: int) -> bool:
    return asleep([pid]) is not None


def ticks() -> int:
    """The kernel's count for the beginning of a process."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def past(tick: int) -> bool:
    return ticks() > tick


def test_another_process_that_got_the_number_of_one_is_not_that_one() -> None:
    """A command may fork until the numbers come round, and sleep as often as the first did."""
    last = Path("/proc/sys/kernel/ns_last_pid")
    wanted, before = 0, None
    for _ in range(50):
        if wanted:
            try:
                last.write_text(str(wanted - 1), encoding="utf-8")
            except OSError:
                pytest.skip("numbers of processes cannot be chosen here")
        child = subprocess.Popen(["sleep", "60"])
        try:
            if wanted and child.pid != wanted:
                continue
            assert comes(partial(sleeping, child.pid))
            wanted, now = child.pid, asleep([child.pid])
            assert now is not None
            if before is not None:
                assert now != before
                if {row[3] for row in now} == {row[3] for row in before}:
                    return  # all but its age is the same
            before = now
        finally:
            child.kill()
            child.wait(PATIENCE)
            until(partial(past, ticks()))  # else the next one may begin at the same moment
    pytest.skip("another process took the number each time")


@confined
def test_what_a_command_of_another_session_may_be_writing_is_no_order_either(
    tmp_path: Path,
) -> None:
    """Its receipt says so, to a session that has run nothing itself."""
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    other = Elsewhere(tmp_path / "state")
    with going_on(tmp_path, "exec sleep 60") as (_, project, _):
        (project / ".gatewright").mkdir()
        assert not other.settled(project / ".gatewright" / "settings.json")
        assert other.settled(project / ".claude" / "settings.json")
        assert other.settled(tmp_path / "home" / ".gatewright" / "settings.json")
        (tmp_path / "home" / "link").symlink_to(project / ".gatewright")
        assert not other.settled(tmp_path / "home" / "link" / "settings.json")
    assert other.settled(project / ".gatewright" / "settings.json")


def test_a_receipt_that_is_torn_holds_no_settings_back(tmp_path: Path) -> None:
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox" / "1-0").write_bytes(b'12\n[1, {"roots": ["/"]')
    assert Elsewhere(tmp_path).settled(tmp_path / "settings.json")


@confined
def test_what_a_run_made_while_the_settings_changed_is_no_older_than_the_run(
    tmp_path: Path,
) -> None:
    """It makes the name between the look after it and the look that the new settings begin with."""
    with going_on(tmp_path, "while :; do :; done") as (box, project, told):
        look = box.look

        def late() -> Sight:
            (project / ".gatewright").mkdir(exist_ok=True)
            (project / "kept").mkdir(exist_ok=True)
            return look()

        (project / "known.txt").touch()
        with patch.object(box, "look", late):
            box.follow(replace(box.config, deny_write=("known.txt", "kept")))
        assert not box.settled(str(project / ".gatewright" / "settings.json"))
        box.check()
        assert not (project / ".gatewright").exists()
        assert (project / "known.txt").exists()
        assert (project / "kept").exists()
        assert "put aside: .gatewright" in told[0]
