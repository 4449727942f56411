"""What decides whether a change is green: a test that fails once has failed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.fakes.waiting import PATIENCE
from tests.guards.sources import ROOT

# Stands for the README's command: it fails as often as `fails` says, and tells that it ran.
SUITE = 'echo "ran $*" >>ran; [ "$(wc -l <ran)" -gt FAILS ]'


def judged(folder: Path, fails: int) -> tuple[int, str, int]:
    """The function of `.ci/run` alone: exit code, what it printed, how often tests were run."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    function = script[script.index("\ntests() {") :].partition("\n}\n")[0] + "\n}\n"
    (folder / "suite").write_text(f"#!/bin/sh\n{SUITE.replace('FAILS', str(fails))}\n", "utf-8")
    (folder / "suite").chmod(0o755)
    shell = f"set -euo pipefail\nwork={folder}\nreadme() {{ echo install; echo ./suite; }}\n"
    done = subprocess.run(
        ["bash", "-c", f"{shell}{function}\ntests"],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, len((folder / "ran").read_text("utf-8").splitlines())


@pytest.mark.parametrize(
    ("fails", "green", "runs"),
    [(0, True, 1), (1, False, 2), (2, False, 2)],
    ids=["all pass", "passes alone", "fails alone, too"],
)
def test_what_fails_beside_others_has_failed(
    tmp_path: Path, fails: int, runs: int, *, green: bool
) -> None:
    code, said, count = judged(tmp_path, fails)
    assert (code == 0, count) == (green, runs), said
    assert ("Alone they pass" in said) == (fails == 1)
