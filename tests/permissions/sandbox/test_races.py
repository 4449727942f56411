"""Runs beside each other: none hides what another makes, and a swapped directory is noticed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.disk.aside import Aside
from gatewright.permissions.sandbox.disk.findings import Bounds, Sight
from gatewright.permissions.sandbox.disk.settle import Before, Settlement, own_places
from gatewright.permissions.sandbox.disk.survey import Surveyor
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.protocol import SpawnRequest
from tests.fakes.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Sandbox]:
    project = tmp_path / "proj"
    for directory in (project, tmp_path / "out", tmp_path / "home", tmp_path / "tmp"):
        directory.mkdir()
    made = Sandbox(
        Config(
            cwd=project,
            home=tmp_path / "home",
            roots=(project,),
            temp=tmp_path / "tmp",
            state=tmp_path / "state",
        ),
        machine(),
    )
    yield made
    made.close()


def start(box: Sandbox, command: str) -> tuple[subprocess.Popen[bytes], SpawnRequest]:
    return launch(request(box, command))


def request(box: Sandbox, command: str) -> SpawnRequest:
    argv = ("bash", "-c", command)
    return box.confine(SpawnRequest(argv=argv, cwd=box.config.cwd, env=ENV))


def launch(request: SpawnRequest) -> tuple[subprocess.Popen[bytes], SpawnRequest]:
    child = subprocess.Popen(
        request.argv,
        cwd=request.cwd,
        env=request.env,
        pass_fds=request.fds,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return child, request


def finish(started: tuple[subprocess.Popen[bytes], SpawnRequest]) -> tuple[int, str]:
    child, request = started
    output = child.communicate(timeout=PATIENCE)[0].decode()
    assert request.ended is not None
    request.ended()
    return child.returncode, output


def test_what_one_run_makes_is_never_old_for_the_next(box: Sandbox) -> None:
    """The second run begins after the first made it, and ends before the first does."""
    project = box.config.cwd
    first = start(box, "mkdir .vscode; touch made; read line; mkdir .idea")
    until((project / "made").exists)
    told: list[str] = []
    argv = ("bash", "-c", "ls -A")
    second = launch(box.confine(SpawnRequest(argv=argv, cwd=project, env=ENV), told.extend))
    assert finish(second)[1] == "made\n"
    assert "put aside: .vscode;" in told[0]
    finish(first)
    assert sorted(path.name for path in project.iterdir()) == ["made"]


def test_two_sessions_in_one_project(box: Sandbox, tmp_path: Path) -> None:
    other = Sandbox(replace(box.config, state=tmp_path / "state2"), machine())
    first = start(other, "read line; mkdir .mcp.json")
    finish(start(box, "mkdir .npmrc"))
    finish(first)
    other.close()
    assert sorted(path.name for path in box.config.cwd.iterdir()) == []
    lying = [path.name for path in tmp_path.glob("state*/set-aside/1/*") if path.name == "0"]
    assert len(lying) == 2


def test_a_directory_swapped_for_a_link_is_not_mounted(box: Sandbox, tmp_path: Path) -> None:
    """What a running command can do between our look at the disk and bubblewrap's."""
    project, out = box.config.cwd, tmp_path / "out"
    (project / "sub" / ".git" / "hooks").mkdir(parents=True)
    (out / ".git" / "hooks").mkdir(parents=True)
    beside = start(box, "read line")
    prepared = request(box, "echo x > sub/planted; echo x > ../out/planted")
    (project / "sub").rename(project / "away")
    (project / "sub").symlink_to("../out")
    code, output = finish(launch(prepared))
    assert code != 0
    assert not (out / "planted").exists(), output
    (project / "sub").unlink()
    finish(beside)


def test_a_look_that_did_not_see_everything_takes_nothing_for_new_that_is_old(
    tmp_path: Path,
) -> None:
    project = tmp_path / "proj"
    (project / "old" / ".vscode").mkdir(parents=True)
    sight = Surveyor((str(project),), str(tmp_path / "home")).look()
    since = time.time_ns() + 10**9

    def settled(before: Before) -> Settlement:
        made = Settlement(frozenset(), (str(project),), Aside(str(tmp_path / "aside")))
        made.compare(before, sight)
        return made

    blind = Before(complete=False, since=since)
    assert not settled(blind).moved
    assert not settled(replace(blind, complete=True, shut=frozenset([f"{project}/old"]))).moved
    assert (project / "old" / ".vscode").exists()
    told = settled(replace(blind, since=since - 2 * 10**9)).told(str(project), "restore")
    assert not (project / "old" / ".vscode").exists()
    assert told[0].startswith("put aside: old/.vscode; ")


def test_a_look_after_a_run_ends_in_time(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / str(number) / ".vscode").mkdir(parents=True)
    late = Bounds((str(tmp_path),), time.monotonic() - 1)
    sight = Surveyor((str(tmp_path),), "/home/x").look(late)
    assert not sight.complete
    assert not sight.guarded


@pytest.mark.parametrize("root", ["/", "/home", "/home/x"])
def test_a_whole_disk_is_nobodys_own_place(root: str) -> None:
    assert own_places((root, "/home/x/proj", "/srv"), "/home/x") == ("/home/x/proj", "/srv")


def test_settling_follows_no_link(
    box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that has to be moved aside is not looked up through a link put there meanwhile."""
    project, home = box.config.cwd, tmp_path / "home"
    run = start(box, "mkdir -p sub/.vscode")
    child, prepared = run
    child.communicate(timeout=PATIENCE)
    look = Surveyor.look

    def look_then_swap(self: Surveyor, bounds: Bounds | None = None) -> Sight:
        sight = look(self, bounds)
        (project / "sub").rename(project / "away")
        (project / "sub").symlink_to(home)
        (home / ".vscode").mkdir()
        return sight

    monkeypatch.setattr(Surveyor, "look", look_then_swap)
    assert prepared.ended is not None
    prepared.ended()
    assert (home / ".vscode").is_dir()
    assert "put aside: sub;" in box.violations.recent()[0].text  # the link itself


def test_names_that_the_configuration_names_are_not_made_by_a_link(box: Sandbox) -> None:
    project = box.config.cwd
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    words = ["git", "-C", str(project), "config", "core.hooksPath", "tools/hooks"]
    subprocess.run(words, check=True)
    finish(start(box, "mkdir -p e/hooks; echo evil > e/hooks/pre-commit; ln -s e tools"))
    assert not (project / "tools").is_symlink()
    finish(start(box, "mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit"))
    assert not (project / "tools" / "hooks" / "pre-commit").exists()


def test_parts_that_a_repository_lacks_are_not_given_to_it(box: Sandbox) -> None:
    project = box.config.cwd
    subprocess.run(["git", "init", "-q", "--template=", str(project)], check=True)
    (project / ".git" / "config").unlink()
    code, output = finish(
        start(
            box,
            "cd .git; mkdir -p hooks info; echo evil > hooks/pre-commit;"
            " echo '* filter=x' > info/attributes; echo '[core] fsmonitor = evil' > config",
        )
    )
    assert code == 0, output
    git = project / ".git"
    assert not (git / "hooks" / "pre-commit").exists()
    assert not (git / "info").exists()
    assert "evil" not in (git / "config").read_text(encoding="utf-8")


def test_a_directory_too_full_to_be_read_in_time_is_not_taken_for_seen(tmp_path: Path) -> None:
    for number in range(2000):
        (tmp_path / str(number)).touch()
    surveyor = Surveyor((str(tmp_path),), "/home/x")
    for patience in (0.0001, 0.0002, 0.0004):
        sight = surveyor.look(Bounds((str(tmp_path),), time.monotonic() + patience))
        assert not sight.complete
    assert surveyor.look(Bounds((str(tmp_path),))).complete
