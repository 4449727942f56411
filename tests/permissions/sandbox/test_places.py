"""Projects in odd places: what cannot be written, what is a whole home, what git files say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.permissions.sandbox import confinement
from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe

pytestmark = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
AGENT = str(Path(sys.executable).with_name("agent"))
ROOT = os.geteuid() == 0


@pytest.mark.skipif(not ROOT or not shutil.which("unshare"), reason="only root mounts")
def test_a_project_that_cannot_be_written(tmp_path: Path) -> None:
    project, home = tmp_path / "proj", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    (project / "a").write_text("there\n", encoding="utf-8")
    script = (
        'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" || exit 77;'
        ' exec "$2" sandbox run -- bash -c "cat a; touch b"'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(project), AGENT],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("nothing can be mounted here")
    assert done.stdout == "there\n", done.stderr
    assert "Read-only file system" in done.stderr
    assert "bwrap" not in done.stderr


def test_a_git_file_of_any_bytes_ends_nothing(tmp_path: Path) -> None:
    """A repository is somebody else's text until it is looked at."""
    (tmp_path / ".git").write_bytes(b"gitdir: a\0b\xff\n")
    (tmp_path / "sub" / ".git").mkdir(parents=True)
    (tmp_path / "sub" / ".git" / "config").write_bytes(b"[core]\n\thooksPath = h\0\xfe\n")
    box = Sandbox(Config(cwd=tmp_path, home=tmp_path / "h", roots=(tmp_path,)), machine())
    assert str(tmp_path / ".git") in box.profile(tmp_path).protected


def test_a_whole_home_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "WIDE_SECONDS", -1.0)
    hooks = tmp_path / "proj" / ".git" / "hooks"
    hooks.mkdir(parents=True)

    def found(home: Path) -> bool:
        box = Sandbox(Config(cwd=tmp_path, home=home, roots=(tmp_path,)), machine())
        return str(hooks) in box.profile(tmp_path).protected

    assert found(Path("/home/x"))
    assert not found(tmp_path)
