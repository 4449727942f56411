"""A session is recorded by the real program and played again, calls and all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e


def agent(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("agent"), "-p", *arguments, "--model", "demo"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_recorded_session_is_played_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    first = agent(tmp_path, "read a.txt")
    (recording,) = (tmp_path / "home").glob(".gatewright/projects/*/*.jsonl")
    (tmp_path / "a.txt").unlink()
    again = agent(
        tmp_path,
        "whatever",
        "--replay",
        str(recording),
        "--verbose",
        "--output-format",
        "stream-json",
    )
    assert (first.returncode, again.returncode) == (0, 0)
    assert "a.txt has 2 lines" in first.stdout
    assert "a.txt has 2 lines" in again.stdout
    assert '"is_error":true' in again.stdout  # the call was made anew, and the file is gone


@pytest.mark.parametrize("content", [None, "no transcript"])
def test_what_is_no_recording_is_said(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "recording.jsonl"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    done = agent(tmp_path, "hi", "--replay", str(path))
    assert done.returncode == 1
    assert "recording.jsonl" in done.stderr
    assert "Traceback" not in done.stderr
