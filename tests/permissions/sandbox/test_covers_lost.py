"""A file that somebody replaces loses its cover in what runs: what comes there is looked at."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gatewright.permissions.sandbox.disk.covered import is_replaced, marks
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.opening import which
from gatewright.permissions.sandbox.port import Opening
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.protocol import SpawnRequest
from tests.fakes.waiting import comes
from tests.permissions.sandbox.test_asleep import going_on

confined = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
ARMED = "[core]\n\tfsmonitor = evil\n"


def saved(path: Path, text: str) -> None:
    """As editors do it, and git."""
    fresh = path.with_name("fresh")
    fresh.write_text(text, encoding="utf-8")
    fresh.rename(path)


@confined
def test_a_configuration_that_git_saved_anew_is_disarmed_of_what_a_command_added(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    config = project / ".git" / "config"
    subprocess.run(("git", "init", "-q", str(project)), check=True)
    with config.open("a", encoding="utf-8") as file:
        file.write("[core]\n\tpager = mine\n")
    adds = f"while :; do printf '{ARMED}' >> .git/config; done 2>/dev/null"
    with going_on(tmp_path, adds) as (box, _, told):
        box.check()
        saved(config, config.read_text(encoding="utf-8") + '[branch "b"]\n\tremote = o\n')
        assert comes(lambda: "evil" in config.read_text(encoding="utf-8"))
    text = config.read_text(encoding="utf-8")
    assert "evil" not in text
    assert "pager = mine" in text
    assert "remote = o" in text
    assert "core.fsmonitor may run programs" in told[0]


@confined
def test_a_configuration_that_git_saved_anew_keeps_what_it_ran_before(tmp_path: Path) -> None:
    project = tmp_path / "project"
    config = project / ".git" / "config"
    subprocess.run(("git", "init", "-q", str(project)), check=True)
    with config.open("a", encoding="utf-8") as file:
        file.write("[core]\n\tpager = mine\n")
    with going_on(tmp_path, "while :; do :; done") as (box, _, told):
        text = config.read_text(encoding="utf-8") + '[branch "b"]\n\tremote = o\n'
        saved(config, text)
        box.check()
        box.check()
    assert config.read_text(encoding="utf-8") == text
    assert told == []


@confined
def test_a_protected_file_that_was_replaced_beside_a_busy_command_is_put_aside(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".npmrc").write_text("a=1\n", encoding="utf-8")
    with going_on(tmp_path, "while :; do echo evil=1 >> .npmrc; done 2>/dev/null") as (
        box,
        project,
        told,
    ):
        box.check()
        assert told == []
        saved(project / ".npmrc", "b=2\n")
        assert comes(lambda: "evil" in (project / ".npmrc").read_text(encoding="utf-8"))
        box.check()
        assert any("put aside: .npmrc" in text for text in told)


@confined
def test_settings_in_a_directory_that_was_replaced_are_no_order(tmp_path: Path) -> None:
    ours = tmp_path / "project" / ".gatewright"
    ours.mkdir(parents=True)
    with going_on(tmp_path, "exec sleep 60") as (box, _, _):
        assert box.settled(str(ours / "settings.json"))
        ours.rename(tmp_path / "old")
        ours.mkdir()
        assert not box.settled(str(ours / "settings.json"))


def test_what_is_written_in_place_is_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a", encoding="utf-8")
    known = marks([str(file)])
    file.write_text("b", encoding="utf-8")
    assert not is_replaced(str(file), known[str(file)])
    saved(file, "c")
    assert is_replaced(str(file), known[str(file)])


@confined
@pytest.mark.parametrize("there", [True, False], ids=["changed", "made"])
def test_what_a_yes_let_one_command_make_another_may_not_change(
    tmp_path: Path, there: bool
) -> None:
    """The other began before, so that nothing is covered in it there."""
    project = tmp_path / "project"
    project.mkdir()
    if there:
        (project / ".envrc").write_text("old\n", encoding="utf-8")
    waits = "while :; do [ -e go ] && echo evil >> .envrc; done 2>/dev/null"
    with going_on(tmp_path, waits) as (box, _, told):
        path = str(project / ".envrc")
        opening = Opening(writes={path: which(path)})
        argv = ("/bin/sh", "-c", "echo good > .n; mv .n .envrc")
        request = SpawnRequest(argv=argv, cwd=project, env={"PATH": "/usr/bin:/bin"})
        request = box.confine(request, opening=opening)
        ran = subprocess.run(request.argv, cwd="/", env=request.env, pass_fds=request.fds)
        assert ran.returncode == 0
        assert request.ended is not None
        request.ended()
        box.check()
        assert (project / ".envrc").read_text(encoding="utf-8") == "good\n"
        assert told == []
        (project / "go").touch()
        assert comes(lambda: "evil" in (project / ".envrc").read_text(encoding="utf-8"))
    assert not (project / ".envrc").exists()
    assert any("put aside: .envrc" in text for text in told)
