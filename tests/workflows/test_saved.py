"""Where saved workflows stand, who has a name, which are broken, and what is not run."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewright.agent.settings.paths import Places
from gatewright.agent.workflows.saved import bundled
from gatewright.agent.workflows.saved.saved_book import MAX_BYTES, SavedBook
from gatewright.agent.workflows.saved.script_places import BUILT_IN, Ground, PluginScripts
from gatewright.agent.workflows.script.check import check
from gatewright.agent.workflows.script.checked import Checked
from gatewright.tools.access import Where


class Shelves:
    """A machine in a directory: a home, and a project with a folder in which one works."""

    def __init__(self, top: Path, **changes: Any) -> None:
        self.top, self.home, self.root = top, top / "home", top / "project"
        self.cwd = self.root / "apps" / "web"
        self.cwd.mkdir(parents=True)
        ground = Ground(
            places=Places(home=self.home / ".gatewright", root=self.root),
            where=Where(root=self.root, cwd=self.cwd, home=self.home),
            env={"HOME": str(self.home)},
            trusted=True,
            plugins=(PluginScripts("tools", top / "plugin", (top / "plugin" / "workflows",)),),
        )
        self.ground = msgspec.structs.replace(ground, **changes)
        self.book = SavedBook(lambda: self.ground)
        self.places = (
            ("project", self.cwd / ".gatewright"),
            ("project", self.root / ".gatewright"),
            ("user", self.home / ".gatewright"),
            ("claude", self.cwd / ".claude"),
            ("claude", self.root / ".claude"),
            ("claude", self.home / ".claude"),
        )

    def write(self, place: Path, name: str, body: str = "return 1\n", said: str = "") -> Path:
        path = place / "workflows" / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        meta = said or f"{{ name: '{name}', description: '{name} of {place}' }}"
        path.write_text(f"export const meta = {meta}\n{body}", encoding="utf-8")
        return path


@pytest.fixture
def shelves(tmp_path: Path) -> Shelves:
    return Shelves(tmp_path)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(range(6), 2)))
def test_of_two_the_first_place_has_the_name(shelves: Shelves, first: int, second: int) -> None:
    paths = [shelves.write(shelves.places[at][1], "deploy") for at in (second, first)]
    found = shelves.book.find("/deploy")
    assert found is not None and found.path == paths[1]
    assert (found.source, found.called) == (shelves.places[first][0], "deploy")
    lost = shelves.book.find("workflow:deploy")
    assert lost is not None and lost.path == paths[0] and lost.called == "workflow:deploy"


def test_what_is_built_in_can_be_replaced_and_stays_reachable(shelves: Shelves) -> None:
    own = shelves.write(shelves.home / ".gatewright", "deep-research")
    found, lost = shelves.book.find("deep-research"), shelves.book.find("builtin:deep-research")
    assert found is not None and found.path == own
    assert lost is not None and lost.source == "builtin" and lost.called == "workflow:deep-research"


def test_a_plugins_has_its_whole_name_alone(shelves: Shelves) -> None:
    shelves.write(shelves.top / "plugin", "deploy")
    assert shelves.book.find("deploy") is None
    found = shelves.book.find("/tools:deploy")
    assert found is not None and (found.source, found.plugin) == ("plugin", "tools")


def test_an_untrusted_projects_is_listed_overrides_nothing_and_is_not_run(tmp_path: Path) -> None:
    shelves = Shelves(tmp_path, trusted=False)
    own = shelves.write(shelves.home / ".claude", "deploy")
    shelves.write(shelves.root / ".gatewright", "deploy")
    shelves.write(shelves.root / ".claude", "sweep")
    shelves.write(shelves.root / ".claude", "deep-research")
    found = shelves.book.find("deploy")
    assert found is not None and found.path == own and shelves.book.refusal("deploy") == ""
    built_in = shelves.book.find("deep-research")
    assert built_in is not None and built_in.source == "builtin"
    untrusted = [each.called for each in shelves.book.now() if not each.trusted]
    assert untrusted == ["workflow:deploy", "workflow:deep-research", "sweep"]
    for name in untrusted:
        assert "not trusted" in shelves.book.refusal(name)


def test_nothing_of_an_untrusted_project_is_parsed(tmp_path: Path) -> None:
    shelves = Shelves(tmp_path, trusted=False)
    shelves.write(shelves.root / ".claude", "sweep", "return (1\n")
    shelves.write(shelves.root / ".claude", "\x1b[2J and more")
    read: list[str] = []

    def reading(text: str) -> Checked:
        read.append(text)
        return check(text)

    shelf = SavedBook(lambda: shelves.ground, check=reading).shelf()
    found = shelf.find("sweep")
    assert found is not None and found.meta is None and "not read" in found.description
    (told,) = shelf.problems()
    assert "no name that can be typed" in told and "\x1b" not in told
    assert read == []


def test_a_broken_one_is_told_and_takes_no_name(shelves: Shelves) -> None:
    bad = shelves.write(shelves.root / ".gatewright", "deploy", "return (1\n")
    own = shelves.write(shelves.home / ".gatewright", "deploy")
    typed = shelves.write(shelves.root / ".gatewright", "typed", "const a: number = 1\n")
    huge = shelves.write(shelves.root / ".claude", "huge", f"// {'x' * MAX_BYTES}\n")
    found = shelves.book.find("deploy")
    assert found is not None and found.path == own
    problems = {each.path: each.problem for each in shelves.book.shelf().broken}
    assert set(problems) == {bad, typed, huge}
    assert f"{bad}: Line 2" in problems[bad] and "TypeScript" in problems[typed]
    assert "Line 2" in shelves.book.refusal("typed")


def test_two_of_one_name_in_one_place(shelves: Shelves) -> None:
    first = shelves.write(shelves.root / ".claude", "a", said="{name: 'same', description: 'A'}")
    second = shelves.write(shelves.root / ".claude", "b", said="{name: 'same', description: 'B'}")
    found, lost = shelves.book.find("same"), shelves.book.find("workflow:same")
    assert found is not None and found.path == first and found.description == "A"
    assert lost is not None and lost.path == second


def test_nobody_needs_a_third_name(shelves: Shelves) -> None:
    for letter in "abcd":
        said = f"{{name: 'same', description: '{letter}'}}"
        shelves.write(shelves.root / ".claude", letter, said=said)
    called = [each.called for each in shelves.book.now() if each.source != "builtin"]
    assert called == ["same", "workflow:same", "workflow:claude:same"]
    (told,) = shelves.book.shelf().problems()
    assert "d.js" in told and "another name" in told


def test_it_is_read_again_when_it_changed_and_not_else(shelves: Shelves) -> None:
    read: list[str] = []

    def reading(text: str) -> Checked:
        read.append(text)
        return check(text)

    book = SavedBook(lambda: shelves.ground, check=reading)
    path = shelves.write(shelves.root / ".claude", "deploy")
    shelf = book.shelf()
    assert book.shelf() is shelf and len(read) == 1
    shelves.write(shelves.root / ".claude", "other")
    assert book.find("other") is not None and len(read) == 2
    path.write_text("export const meta = { name: 'new', description: 'x' }\n", encoding="utf-8")
    assert book.find("deploy") is None and book.find("new") is not None
    path.unlink()
    assert book.find("new") is None


def test_links_that_lead_out_of_the_project_are_not_followed(shelves: Shelves) -> None:
    outside = shelves.write(shelves.top / "elsewhere", "secret")
    place = shelves.root / ".gatewright" / "workflows"
    place.mkdir(parents=True)
    (place / "secret.js").symlink_to(outside)
    (shelves.cwd / ".claude").symlink_to(outside.parents[1])
    assert shelves.book.find("secret") is None
    os.mkfifo(place / "pipe.js")
    assert [each.source for each in shelves.book.now()] == ["builtin"]
    own = shelves.home / ".gatewright" / "workflows"
    own.mkdir(parents=True)
    (own / "secret.js").symlink_to(outside)
    assert shelves.book.find("secret") is not None


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, {"a", "b", "deep-research"}),
        ({"bare": True}, {"deep-research"}),
        ({"sources": ("user",)}, {"b", "deep-research"}),
        ({"sources": ("project",)}, {"a", "deep-research"}),
    ],
)
def test_what_a_start_leaves_out(tmp_path: Path, changes: dict[str, Any], names: set[str]) -> None:
    shelves = Shelves(tmp_path, **changes)
    shelves.write(shelves.root / ".claude", "a")
    shelves.write(shelves.home / ".claude", "b")
    assert {each.name for each in shelves.book.now()} == names


def test_where_workflows_are_off_there_is_none(shelves: Shelves) -> None:
    off = [True]
    book = SavedBook(lambda: shelves.ground, off=lambda: off[0])
    assert book.now() == () and "There are: none" in book.refusal("deep-research")
    off[0] = False
    assert book.refusal("deep-research") == ""


def test_the_data_of_what_is_built_in_is_what_the_files_say() -> None:
    assert bundled.DATA.read_bytes() == bundled.written(), (
        "run python -m gatewright.agent.workflows.saved.bundled"
    )
    assert [each.path for each in bundled.bundled()] == sorted(BUILT_IN.glob("*.js"))
