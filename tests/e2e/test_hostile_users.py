"""Started by one user in what belongs to another: nothing of a repository runs for either."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fakes.hostile_git import APART, VECTORS, Trapped, plant_together
from tests.fakes.somebody import NOBODY, Somebody, become
from tests.fakes.waiting import PATIENCE

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else"),
]

DEMO = ("-p", "hi", "--model", "demo")
REPOSITORIES = ("together", *APART)


@dataclass(frozen=True)
class Case:
    """Who starts the program and whose the project is."""

    user: int
    owner: int


CASES = {
    "nobody in its own": Case(NOBODY, NOBODY),
    "nobody in root's": Case(NOBODY, 0),
    "root in nobody's": Case(0, NOBODY),
}


@pytest.fixture(scope="session")
def somebody() -> Iterator[Somebody]:
    """Not below pytest's own directories: those are closed to others."""
    place = Path(tempfile.mkdtemp(prefix="gatewright-somebody-", dir="/var/tmp"))
    try:
        yield Somebody.make(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    assert isinstance(request.param, Case)
    return request.param


@dataclass(frozen=True)
class Scene:
    """`program` starts as the user of the case; `at` still plants as root."""

    program: Program
    at: Trapped
    case: Case

    def plant(self, repository: str) -> None:
        if repository == "together":
            plant_together(self.at)
        else:
            VECTORS[repository].plant(self.at)
            self.at.reset()
        _give(self.program.home, self.case.user)
        _give(self.program.project, self.case.owner)
        self.at.marks.chmod(0o777)

    def plain_git(self, *arguments: str) -> None:
        """As the same user, told to trust what belongs to another."""
        git = (*become(self.case.user), shutil.which("git") or "", "-c", "safe.directory=*")
        subprocess.run(
            [*git, *arguments],
            cwd=self.program.project, env=self.program.env(), capture_output=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip


@pytest.fixture
def scene(somebody: Somebody, case: Case) -> Iterator[Scene]:
    place = Path(tempfile.mkdtemp(dir=somebody.place))
    place.chmod(0o755)
    program = Program.prepare(place)
    if case.user:
        program = replace(program, argv=(*become(case.user), str(somebody.agent)))
    try:
        yield Scene(program, Trapped.make(program.project, place / "marks"), case)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _give(folder: Path, owner: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner, owner, follow_symlinks=False)


@pytest.mark.parametrize("repository", REPOSITORIES)
def test_nothing_runs_where_another_user_is_concerned(scene: Scene, repository: str) -> None:
    scene.plant(repository)
    for way in ((), ("--bare",)):
        done = scene.program.run(*DEMO, *way)
        assert done.returncode == 0, done.stderr
        assert "hi" in done.stdout
        assert not scene.at.sprung(), way
    written = [path.stat().st_uid for path in scene.program.transcripts()]
    assert written == [scene.case.user] * 2
    scene.plain_git(*VECTORS.get(repository, VECTORS["clean filter"]).springs)
    # Git fetches nothing into what it may not write.
    closed = repository == "missing object" and scene.case == CASES["nobody in root's"]
    assert scene.at.sprung() != closed


def test_nothing_runs_on_the_screen_of_another_user(scene: Scene) -> None:
    scene.plant("together")
    with scene.program.terminal("--model", "demo") as terminal:
        terminal.wait_for("demo")
        terminal.send("hello\r")
        terminal.wait_until(lambda shown: re.search(r"\d out\b", shown) is not None)
        terminal.send("/diff\r")
        terminal.wait_for("Changed", "a.txt")
    assert not scene.at.sprung()
