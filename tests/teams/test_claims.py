"""One winner for each task: in one process, among several, and when some of them are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.lifetimes import Lifetime, ours
from gatewright.tools.tasks.tasklist import Holder, Unclaimed, list_folder, opened_in
from tests.fakes.waiting import PATIENCE

CLAIMER = Path(__file__).with_name("claimer.py")
ONE, TWO = Holder(ours(), "main/a1"), Holder(ours(), "main/a2")
DEAD = Holder(Lifetime(2**22 - 3, "1"), "main/a3")


def filled(folder: Path, count: int) -> Path:
    with opened_in(folder) as tasks:
        for number in range(count):
            tasks.add(f"task {number}", "", "")
    return folder


def test_one_winner(tmp_path: Path) -> None:
    with opened_in(filled(tmp_path, 3)) as tasks:
        first, second, third = tasks.tasks.values()
        tasks.block(third, first.id)
        tasks.claim(first, ONE, "one")
        with pytest.raises(Unclaimed, match="already_claimed: one works on task 1"):
            tasks.claim(first, TWO, "two")
        with pytest.raises(Unclaimed, match="agent_busy: you work on task 1"):
            tasks.claim(second, ONE, "one")
        with pytest.raises(Unclaimed, match="blocked: task 3 waits for 1"):
            tasks.claim(third, TWO, "two")
        with pytest.raises(Unclaimed, match="already_claimed"):
            tasks.finish(first, TWO)
        assert tasks.next_free() is second
        assert tasks.finish(first, ONE) == ["3"]
        with pytest.raises(Unclaimed, match="task 1 is completed"):
            tasks.claim(first, TWO, "two")


def test_the_dead_hold_nothing_and_the_living_are_never_robbed(tmp_path: Path) -> None:
    with opened_in(filled(tmp_path, 2)) as tasks:
        first, second = tasks.tasks.values()
        tasks.claim(first, DEAD, "dead")
        tasks.claim(second, ONE, "one")
    with opened_in(tmp_path) as tasks:
        first, second = tasks.tasks.values()
        assert (first.status, first.owner, first.holder) == ("pending", "", None)
        assert second.status == "in_progress" and second.holder == ONE


def test_a_list_that_the_environment_names_is_shared() -> None:
    own = Path("/own")
    home = {"HOME": "/home/me"}
    assert list_folder(home, own) == own
    shared = Path("/home/me/.gatewright/teams/web")
    assert list_folder({**home, "GATEWRIGHT_TEAM": "web"}, own) == shared
    both = {**home, "GATEWRIGHT_TEAM": "x", "CLAUDE_CODE_TASK_LIST_ID": "web"}
    assert list_folder(both, own) == shared
    with pytest.raises(ToolFailure, match="is no name"):
        list_folder({**home, "GATEWRIGHT_TEAM": "../x"}, own)


def run(folder: Path, *, claimers: int, count: int, kills: int) -> None:
    """Processes that claim while some of them are killed, each replaced by another."""
    tasks_at, log = filled(folder / "list", count), folder / "log"
    log.touch()
    chance = random.Random(7)
    running = [start(tasks_at, log) for _ in range(claimers)]
    ended: list[subprocess.Popen[bytes]] = []
    try:
        deadline = time.monotonic() + PATIENCE * 10
        step = max(1, count // (kills + 1))
        killed = 0
        while any(each.poll() is None for each in running):
            assert time.monotonic() < deadline
            done = log.read_bytes().count(b"\n")
            if killed < kills and done >= step * (killed + 1):
                victim = chance.choice([each for each in running if each.poll() is None])
                victim.send_signal(signal.SIGKILL)
                victim.wait(PATIENCE)
                running.remove(victim)
                ended.append(victim)
                running.append(start(tasks_at, log))
                killed += 1
    finally:
        for each in running:
            each.kill()
            each.wait(PATIENCE)
    assert killed == kills and all(each.returncode == 0 for each in running)
    with opened_in(tasks_at) as tasks:
        assert {task.status for task in tasks.tasks.values()} == {"completed"}
        assert len(tasks.tasks) == count
    done_by = Counter(log.read_text(encoding="utf-8").split())
    assert max(done_by.values()) == 1, "a task was done twice"
    assert count - len(done_by) <= kills, "who is killed after completing has not said so"


def start(tasks_at: Path, log: Path) -> subprocess.Popen[bytes]:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    return subprocess.Popen([sys.executable, str(CLAIMER), str(tasks_at), str(log)], env=env)


def test_a_few_claimers_of_which_some_are_killed(tmp_path: Path) -> None:
    run(tmp_path, claimers=3, count=60, kills=3)


@pytest.mark.proof
def test_ten_claimers_five_hundred_tasks(tmp_path: Path) -> None:
    run(tmp_path, claimers=10, count=500, kills=40)
