"""`kill -9` at any moment of a run of sixty agents: what is done is done once, the rest goes on."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.fakes.waiting import PATIENCE
from tests.workflows.runs.killed import AGENTS

ROOT = Path(__file__).parents[3]
WHOLE = 60 * 2 + 60 * 3 + 1  # what all agents note, and the journal of all calls
FINAL = ",".join(f"<check {n}: <find {n}>>" for n in range(30))


def worked(folder: Path, step: int) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "tests.workflows.runs.killed", str(folder), str(step)]
    return subprocess.run(
        argv, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def lines(folder: Path) -> list[list[str]]:
    text = (folder / AGENTS).read_text(encoding="utf-8", errors="replace")
    return [parts for line in text.splitlines() if len(parts := line.split("\t")) == 3]


SEEDS = [(0, 6), *(pytest.param(seed, 20, marks=pytest.mark.proof) for seed in range(1, 11))]


@pytest.mark.parametrize(("seed", "times"), SEEDS)
def test_whatever_is_done_is_done_once_and_the_rest_goes_on(
    tmp_path: Path, seed: int, times: int
) -> None:
    dice = random.Random(seed)
    for number in range(times):
        folder = tmp_path / str(number)
        step = dice.randrange(1, WHOLE)
        assert worked(folder, step).returncode == -9, step
        again = dice.randrange(1, WHOLE) if number % 3 == 0 else 0  # some are killed twice
        if again:
            worked(folder, again)
        done_before = {prompt for what, _, prompt in lines(folder) if what == "done"}
        last = worked(folder, 0)
        assert last.returncode == 0, last.stderr
        status, ok, replayed, value = last.stdout.rstrip("\n").split("\t")
        assert (status, value) == ("done", FINAL), step
        assert int(ok) + int(replayed) == 60
        assert int(replayed) >= len(done_before) - 16, "what was settled came from the journal"
        did = Counter(prompt for what, _, prompt in lines(folder) if what == "done")
        assert set(did.values()) == {1}, f"done twice, killed at {step}: {did.most_common(3)}"
        begun = Counter(prompt for what, _, prompt in lines(folder) if what == "begins")
        assert max(begun.values()) == 1, f"begun twice, killed at {step}"
