"""No repository that a confined command leaves or finds runs a program at the person's next git."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.permissions.sandbox.disk import repository
from gatewright.permissions.sandbox.disk.named_files import everywhere, named, pairs
from gatewright.permissions.sandbox.disk.settle import Before, Settlement
from gatewright.permissions.sandbox.disk.survey import Surveyor
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from gatewright.tools.system.gitfiles import repository_of

AGENT = str(Path(sys.executable).with_name("agent"))
confined = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder, self.marks = folder, folder / "marks"
        for name in ("home", "marks"):
            (folder / name).mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "GATEWRIGHT_HOME": str(folder / "own"),
        }
        self.git(folder, "config", "--global", "user.name", "a")
        self.git(folder, "config", "--global", "user.email", "a@example.com")
        self.git(folder, "config", "--global", "protocol.file.allow", "always")

    def git(self, at: Path, *words: str) -> None:
        subprocess.run(["git", *words], cwd=at, env=self.env, check=True, capture_output=True)

    def repository(self, name: str) -> Path:
        at = self.folder / name
        at.mkdir()
        self.git(at, "init", "-q", "-b", "main", ".")
        (at / "a").touch()
        self.git(at, "add", "a")
        self.git(at, "commit", "-qm", "a")
        return at

    def confined(self, at: Path, command: str) -> str:
        done = subprocess.run(
            [AGENT, "sandbox", "run", "--", "bash", "-c", command],
            cwd=at,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


HOOKS = {
    "a comment after it": "[core]\n\thooksPath = hk # ours\n",
    "a continued line": "[core]\n\thooksPath = \\\nhk\n",
    "on the line of its section": "[core] hooksPath = hk\n",
    "after a key on the line before": '[x "a]b"]\n\tk = "]#\\""\n[CORE]\nHOOKSPATH="h"k\n',
    "an include of an include": "[include]\n\tpath = ../one.cfg\n",
}


@pytest.mark.parametrize("how", HOOKS)
def test_hooks_that_a_configuration_names_are_found(place: Place, how: str) -> None:
    at = place.repository("p")
    (at / ".git" / "config").write_text(HOOKS[how], encoding="utf-8")
    (at / "one.cfg").write_text("[include]\n\tpath = two.cfg\n", encoding="utf-8")
    (at / "two.cfg").write_text("[core]\n\thooksPath = hk\n", encoding="utf-8")
    assert f"{at}/hk" in set(named(f"{at}/.git", ""))


def test_hooks_of_one_work_tree_and_of_every_one_are_found(place: Place) -> None:
    at = place.repository("p")
    home = str(place.folder / "home")
    (at / ".git" / "config.worktree").write_text("[core]\n\thooksPath = hk\n", encoding="utf-8")
    assert f"{at}/hk" in set(named(f"{at}/.git", home))
    place.git(at, "config", "--global", "core.hooksPath", "shared")
    hooks = everywhere(home)
    assert hooks == ("shared",)
    assert f"{at}/shared" in set(named(f"{at}/.git", home, hooks))


def test_a_configuration_of_any_shape_is_read_in_time() -> None:
    for text in ('[core]\nx = "' + "\\" * 100_000, "[" * 100_000, '[a "' * 50_000, "a=" * 100_000):
        list(pairs(text))


@confined
@pytest.mark.parametrize("how", HOOKS)
def test_such_hooks_cannot_be_changed(place: Place, how: str) -> None:
    at = place.repository("p")
    (at / "hk").mkdir()
    (at / "hk" / "pre-commit").write_text("#!/bin/sh\n", encoding="utf-8")
    for name, text in (("one", "[include]\n\tpath = two.cfg\n"), ("two", "[core]\nhooksPath=hk\n")):
        (at / f"{name}.cfg").write_text(text, encoding="utf-8")
    with (at / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(HOOKS[how])
    place.confined(at, "echo evil >> hk/pre-commit")
    assert (at / "hk" / "pre-commit").read_text(encoding="utf-8") == "#!/bin/sh\n"


@confined
def test_a_submodule_opened_by_itself_gets_nothing_that_runs(place: Place) -> None:
    place.repository("lib")
    above = place.repository("super")
    place.git(above, "submodule", "--quiet", "add", str(place.folder / "lib"), "sub")
    kept = above / ".git" / "modules" / "sub"
    place.git(above, "status")
    for each in (kept / "hooks").iterdir():
        each.unlink()
    (kept / "hooks").rmdir()
    said = place.confined(
        above / "sub",
        "git commit -q --allow-empty -m more; git log --oneline | wc -l;"
        " g=../.git/modules/sub; mkdir $g/hooks $g/evil; echo x > $g/hooks/post-index-change;"
        " echo evil > $g/commondir",
    )
    assert said.startswith("2\n"), said  # work in it goes on
    assert not (kept / "commondir").exists()
    assert not (kept / "hooks" / "post-index-change").exists()


@confined
def test_a_linked_work_tree_gets_no_configuration_of_its_own(place: Place) -> None:
    lib = place.repository("lib")
    place.git(lib, "config", "extensions.worktreeConfig", "true")
    place.git(lib, "worktree", "add", "-q", "../wt")
    said = place.confined(
        place.folder / "wt",
        "printf '[core]\\nfsmonitor=evil\\n' > ../lib/.git/worktrees/wt/config.worktree;"
        " git commit -q --allow-empty -m more && echo done",
    )
    assert "config.worktree" in said
    assert "done" in said
    assert not (lib / ".git" / "worktrees" / "wt" / "config.worktree").exists()


@pytest.mark.parametrize("common", ["../lib/.git", "../data", "/"])
def test_a_planted_git_directory_opens_nothing_of_another(place: Place, common: str) -> None:
    """It points back and names a common directory, but does not lie in that one's `worktrees`."""
    lib, at, planted = place.repository("lib"), place.folder / "at", place.folder / "planted"
    for directory in (at, planted, place.folder / "data" / "objects"):
        directory.mkdir(parents=True)
    (at / ".git").write_text(f"gitdir: {planted}\n", encoding="utf-8")
    (planted / "gitdir").write_text(f"{at}/.git\n", encoding="utf-8")
    (planted / "commondir").write_text(f"{common}\n", encoding="utf-8")
    (planted / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    root = str(at)
    assert repository.linked_parts(f"{root}/.git", (root,)) == repository.GitParts(
        (f"{root}/.git",)
    )
    assert not repository.believed(f"{root}/.git", (str(planted),))
    assert repository_of(at) is None
    place.git(lib, "worktree", "add", "-q", "../wt")
    real = f"{place.folder}/wt"
    assert repository.linked_parts(f"{real}/.git", (real,)).writes[0] == f"{lib}/.git/worktrees/wt"
    found = repository_of(Path(real))
    assert found is not None
    assert found.common == lib / ".git"


def test_more_repositories_than_are_looked_through_are_put_aside_and_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOST", 20)
    at = place.repository("p")
    old = at / ".git" / "modules" / "old"
    old.mkdir(parents=True)
    (old / "HEAD").touch()
    surveyor = Surveyor((str(at),), str(place.folder / "home"))
    before = Before.of(surveyor.look())
    for number in range(30):
        new = at / ".git" / "modules" / f"m{number}"
        new.mkdir()
        (new / "config").write_text("[core]\nfsmonitor=evil\n", encoding="utf-8")
    settlement = Settlement(frozenset(), (str(at),))
    settlement.compare(before, surveyor.look())
    assert not settlement.over  # until what is left was looked through
