"""More directories than are looked through: what was not seen is closed, and it is said."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.disk import survey
from gatewright.permissions.sandbox.disk.covers import MOST, covers
from gatewright.permissions.sandbox.disk.guarded import DEEPEST
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.protocol import ToolFailure
from tests.permissions.sandbox.house import run_in

pytestmark = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
ENV = {"PATH": "/usr/bin:/bin"}
SECRET = "sesame-open-7731"
FEW = 30


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.setattr(survey, "MAX_DIRECTORIES", FEW)
    project = tmp_path / "proj"
    for path in (project / "conf" / "prod", project / "pk" / "a" / ".vscode", tmp_path / "home"):
        path.mkdir(parents=True)
    (project / "conf" / "prod" / ".env").write_text(SECRET, encoding="utf-8")
    (project / "pk" / "a" / ".vscode" / "tasks.json").write_text("{}", encoding="utf-8")
    state = tmp_path / "state"
    made = Sandbox(
        Config(cwd=project, home=tmp_path / "home", roots=(project,), state=state), machine()
    )
    yield made
    made.close()


def run(box: Sandbox, command: str) -> tuple[str, list[str]]:
    _, output, told = run_in(box, ["bash", "-c", command], box.config.cwd, ENV)
    return output, told


def test_what_was_not_looked_through_is_closed_and_told_each_time(box: Sandbox) -> None:
    project = box.config.cwd
    run(box, f"mkdir d{{1..{FEW}}}")
    line = "cat conf/prod/.env; echo evil >> pk/a/.vscode/tasks.json; mkdir -p pk/b/.idea conf/q"
    for _ in range(2):
        output, told = run(box, line)
        assert SECRET not in output
        assert any(f"more than {FEW} directories here; closed to commands" in text for text in told)
    assert (project / "pk" / "a" / ".vscode" / "tasks.json").read_text(encoding="utf-8") == "{}"
    assert not (project / "pk" / "b" / ".idea").exists()


def test_what_a_run_makes_beyond_the_bound_is_put_aside_after_it(box: Sandbox) -> None:
    _, told = run(box, f"mkdir -p d{{1..{2 * FEW}}} e/f/g/.vscode")
    assert "put aside: e/f/g/.vscode" in told[0]
    assert not (box.config.cwd / "e" / "f" / "g" / ".vscode").exists()


def test_where_nothing_can_be_covered_no_command_runs(box: Sandbox) -> None:
    for number in range(FEW + MOST + 10):
        (box.config.cwd / f"d{number}").mkdir()
    with pytest.raises(ToolFailure, match=f"more than {FEW} directories in one place"):
        run(box, "cat conf/prod/.env")


def test_dependencies_use_up_nothing(box: Sandbox) -> None:
    (box.config.cwd / "node_modules" / "a").mkdir(parents=True)
    (box.config.cwd / "node_modules" / "a" / ".env").write_text(SECRET, encoding="utf-8")
    run(box, "true")
    run(box, f"mkdir -p node_modules/d{{1..{2 * FEW}}}")
    output, told = run(box, "cat conf/prod/.env node_modules/a/.env; echo x > pk/y")
    assert SECRET not in output
    assert told == []
    assert (box.config.cwd / "pk" / "y").exists()


def test_few_directories_cover_many() -> None:
    many = [f"/p/a/{x}/{y}" for x in range(20) for y in range(30)]
    assert covers(many, ("/p",)) == tuple(sorted(f"/p/a/{x}" for x in range(20)))
    assert covers(many[:MOST], ("/p",)) == tuple(sorted(many[:MOST]))
    assert covers([f"/p/{x}" for x in range(MOST + 1)], ("/p",)) is None
    assert covers([], ("/p",)) == ()


STEPS = """
import os
for _ in range(40):
    os.mkdir("d" * 150)
    os.chdir("d" * 150)
"""


def test_nothing_lies_too_deep_to_be_found(box: Sandbox) -> None:
    """A path of more than four thousand bytes is reached step by step, and opened by nobody."""
    (box.config.cwd / "deep.py").write_text(STEPS + "os.mkdir('.husky')", encoding="utf-8")
    _, told = run(box, "/usr/bin/env python3 deep.py")
    assert "it lies too deep to be looked through" in told[0]
    deepest = max(len(here) for here, *_ in os.walk(box.config.cwd))
    assert deepest <= DEEPEST


def test_what_lay_too_deep_before_is_closed_to_commands(box: Sandbox) -> None:
    secret = f"open('.env', 'w').write('{SECRET}')"
    program = [sys.executable, "-c", STEPS + secret]
    subprocess.run(program, cwd=box.config.cwd, check=True)
    walk = "import os\nfor _ in range(40): os.chdir('d' * 150)\nprint(open('.env').read())"
    (box.config.cwd / "walk.py").write_text(walk, encoding="utf-8")
    for _ in range(2):
        output, told = run(box, "/usr/bin/env python3 walk.py")
        assert SECRET not in output
        assert told == []
