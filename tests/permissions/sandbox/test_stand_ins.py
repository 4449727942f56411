"""Stand-ins are made only where they can and may be: elsewhere commands run without them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.permissions.sandbox import confinement, placeholders
from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.protocol import SpawnRequest

pytestmark = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
AGENT = str(Path(sys.executable).with_name("agent"))
ROOT = os.geteuid() == 0


def missing(cwd: Path, home: Path) -> set[str]:
    """Where stand-ins would be made for a command that starts in `cwd`."""
    box = Sandbox(Config(cwd=cwd, home=home, roots=(cwd,), deny_read=()), machine())
    return {str(Path(path).parent) for path in box.profile(cwd).missing}


def test_none_above_home(tmp_path: Path) -> None:
    home = tmp_path / "above" / "home"
    home.mkdir(parents=True)
    for root in (tmp_path / "above", tmp_path):
        assert {str(root), str(root / ".github")}.isdisjoint(missing(root, home))
    assert str(home) in missing(home, home)


def test_start_up_files_are_held_at_home_alone(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "proj"
    project.mkdir(parents=True)

    def held(root: Path) -> set[str]:
        box = Sandbox(Config(cwd=root, home=home, roots=(root,), deny_read=()), machine())
        return set(box.profile(root).missing)

    assert f"{home}/.bashrc" in held(home)
    assert f"{home}/.bashrc" in held(tmp_path)
    assert not {f"{project}/.bashrc", f"{home}/.bashrc"} & held(project)
    assert f"{project}/.npmrc" in held(project)


@pytest.mark.skipif(not ROOT, reason="only root gives directories away")
def test_none_in_directories_of_others(tmp_path: Path) -> None:
    project = tmp_path / "proj"
    project.mkdir()
    assert str(project) in missing(project, tmp_path / "home")
    os.chown(project, 65534, 65534)
    assert missing(project, tmp_path / "home") == set()


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


def test_where_a_stand_in_fails_after_all_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk may refuse what its modes allow; what does not stand is not mounted."""

    def refused(path: str) -> bool:
        return False

    monkeypatch.setattr(placeholders, "_make", refused)
    project = tmp_path / "proj"
    project.mkdir()
    box = Sandbox(Config(cwd=project, home=tmp_path, roots=(project,), deny_read=()), machine())
    request = box.confine(SpawnRequest(argv=("true",), cwd=project, env={"PATH": "/bin"}))
    try:
        done = subprocess.run(
            request.argv, cwd="/", env=request.env, pass_fds=request.fds, check=False
        )
    finally:
        assert request.ended is not None
        request.ended()
        box.close()
    assert done.returncode == 0


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
