"""Instruction files: which are read, in which order, and what never gets in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.agent.context.prompt.approvals import Approvals
from gatewright.agent.context.prompt.memory import (
    FILES,
    SIZE_LIMIT,
    Memory,
    MemoryPlaces,
    memory_files,
    nested_files,
    section,
)
from gatewright.agent.context.readable import Readable, Verdict
from gatewright.agent.errors import GatewrightError


class Place:
    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.own = self.home / ".gatewright"
        self.root = self.home / "project"
        self.cwd = self.root / "a" / "b"
        for directory in (self.own, self.cwd):
            directory.mkdir(parents=True)
        self.approved = Approvals(folder / "state", self.root)
        self.denied: set[str] = set()
        self.asked: set[str] = set()
        self.readable = Readable(self.judge)

    def judge(self, path: Path, real: Path) -> Verdict:
        if real.name in self.denied:
            return Verdict("denied", f"Read({real.name}) in the user rules")
        return Verdict("asks", "it asks") if real.name in self.asked else Verdict("yes")

    def write(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    @property
    def places(self) -> MemoryPlaces:
        return MemoryPlaces(
            self.own, self.root, self.cwd, self.home, self.approved, self.readable,
            self.home / ".claude",
        )  # fmt: skip

    def read(self) -> Memory:
        return memory_files(self.places)

    def texts(self) -> list[str]:
        return [file.text.strip() for file in self.read().files]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.local.md", "a/b/CLAUDE.md"])
def test_a_link_out_of_the_project_waits_like_an_import(place: Place, name: str) -> None:
    secret = place.write(".ssh/key", "secret")
    (place.root / name).symlink_to(secret)
    assert place.texts() == []
    assert place.read().waiting == (secret,)


def test_a_link_inside_the_project_is_read(place: Place) -> None:
    place.write("project/docs/rules.md", "rules")
    (place.root / "AGENTS.md").symlink_to("docs/rules.md")
    assert place.texts() == ["rules"]


def test_from_the_person_down_to_the_working_directory(place: Place) -> None:
    for name in ("project/a/b/AGENTS.md", "project/a/CLAUDE.md", "project/AGENTS.local.md",
                 "project/AGENTS.md", ".gatewright/AGENTS.md"):  # fmt: skip
        place.write(name, name)
    place.write("project/a/x/AGENTS.md", "beside the way")
    place.write("AGENTS.md", "above the project")
    assert place.texts() == [
        ".gatewright/AGENTS.md", "project/AGENTS.md", "project/AGENTS.local.md",
        "project/a/CLAUDE.md", "project/a/b/AGENTS.md",
    ]  # fmt: skip
    assert [file.kind for file in place.read().files] == [
        "user", "shared", "local", "shared", "shared",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("agents", "claude", "expected"),
    [
        ("A", "C", ["A", "C"]),
        ("same", "same", ["same"]),
        ("A", "@AGENTS.md", ["A", "@AGENTS.md"]),
        ("A", "See @AGENTS.md first.\nmore", ["A", "See @AGENTS.md first.\nmore"]),
        ("@CLAUDE.md", "C", ["C", "@CLAUDE.md"]),
        ("@CLAUDE.md A", "@AGENTS.md C", ["@AGENTS.md C", "@CLAUDE.md A"]),
        ("", "C", ["C"]),
    ],
)
def test_what_says_the_same_is_read_once(
    place: Place, agents: str, claude: str, expected: list[str]
) -> None:
    place.write("project/AGENTS.md", agents)
    place.write("project/CLAUDE.md", claude)
    assert place.texts() == expected


def test_a_link_to_the_other_name_is_the_same_file(place: Place) -> None:
    place.write("project/AGENTS.md", "A")
    (place.root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert place.texts() == ["A"]


def test_imports_four_deep_and_never_in_circles(place: Place) -> None:
    place.write("project/AGENTS.md", "0 @docs/1.md")
    for number in range(1, 7):
        place.write(f"project/docs/{number}.md", f"{number} @{number + 1}.md and @1.md")
    numbers = [text.split()[0] for text in place.texts()]
    assert numbers == ["4", "3", "2", "1", "0"]


def test_code_and_comments_import_nothing(place: Place) -> None:
    for name in "abc":
        place.write(f"project/{name}.md", name)
    text = "x <!-- @a.md\n --> `@b.md`\n```\n@c.md\n<!-- kept -->\n```\nme@a.md\n<!-- open @a.md"
    place.write("project/AGENTS.md", text)
    assert place.texts() == ["x  `@b.md`\n```\n@c.md\n<!-- kept -->\n```\nme@a.md"]


def test_outside_the_project_only_with_approval(place: Place) -> None:
    secret = place.write("private/notes.md", "private")
    place.write("project/AGENTS.md", "A @../private/notes.md @~/private/notes.md @missing.md")
    (place.root / "link.md").symlink_to(secret)
    place.write("project/CLAUDE.md", "C @link.md")
    found = place.read()
    assert [file.text[0] for file in found.files] == ["A", "C"]
    assert found.waiting == (secret,)
    place.approved.add(found.waiting)
    again = Approvals(place.home.parent / "state", place.root)
    assert again(secret)
    assert place.texts()[0] == "private"
    assert place.read().waiting == ()


def test_the_persons_own_file_may_import_anything(place: Place) -> None:
    place.write("private/notes.md", "private")
    place.write(".gatewright/AGENTS.md", "mine @~/private/notes.md")
    assert place.texts() == ["private", "mine @~/private/notes.md"]


def test_broken_approvals_approve_nothing(place: Place) -> None:
    state = place.home.parent / "state"
    state.mkdir()
    (state / "imports.json").write_text("{broken", encoding="utf-8")
    assert not place.approved(place.home / "x")
    assert [path.name.startswith("imports.bad-") for path in state.iterdir()] == [True]
    (state / "imports.json").mkdir()
    with pytest.raises(GatewrightError, match="Cannot change"):
        place.approved.add([place.home])


def test_imports_that_cannot_be(place: Place) -> None:
    place.write("project/AGENTS.md", "A @" + "x" * 5_000 + " @/" + "y/" * 3_000 + "z @~ @. @/")
    assert len(place.texts()) == 1


def test_large_and_odd_files(place: Place) -> None:
    place.write("project/AGENTS.md", "x" * (SIZE_LIMIT + 5))
    (place.root / "CLAUDE.md").mkdir()
    (place.cwd / "AGENTS.md").write_bytes(b"\xef\xbb\xbf\xff ok")
    first, second = place.read().files
    assert (len(first.text), first.cut) == (SIZE_LIMIT, True)
    assert second.text.endswith(" ok")
    assert "cut after" in section((first,))
    assert first.tokens == SIZE_LIMIT // 4


def test_further_down_when_a_file_there_is_touched(place: Place) -> None:
    place.write("project/a/b/AGENTS.md", "here")
    place.write("project/a/b/c/AGENTS.md", "below")
    place.write("project/a/b/c/d/CLAUDE.md", "further below")
    known = [file.path for file in place.read().files]
    found = nested_files(place.places, place.cwd / "c" / "d" / "x.py", known).files
    assert [file.text for file in found] == ["below", "further below"]
    assert nested_files(place.places, place.cwd / "x.py", known).files == ()
    assert nested_files(place.places, place.root / "x.py", known).files == ()
    known += [file.path for file in found]
    assert nested_files(place.places, place.cwd / "c" / "d" / "x.py", known).files == ()


@pytest.mark.parametrize("verdict", ["denied", "asked"])
def test_what_read_rules_keep_from_the_model_is_not_imported_and_that_is_said(
    place: Place, verdict: str
) -> None:
    place.write("project/.env", "TOKEN=precious")
    place.write("project/AGENTS.md", "Be brief. @.env")
    (place.denied if verdict == "denied" else place.asked).add(".env")
    memory = place.read()
    assert [file.text for file in memory.files] == ["Be brief. @.env"]
    assert str(place.root / ".env") in memory.left_out() and "\n" not in memory.left_out()
    assert not memory.waiting


def test_a_link_for_an_instruction_file_is_judged_by_where_it_leads(place: Place) -> None:
    place.write("project/.env", "TOKEN=precious")
    (place.root / "AGENTS.md").symlink_to(".env")
    (place.cwd / "CLAUDE.md").symlink_to("../../.env")
    place.denied.add(".env")
    memory = place.read()
    assert memory.files == () and "AGENTS.md" in memory.left_out()
    nested = place.write("project/a/b/c/CLAUDE.md", "@../../../.env")
    found = nested_files(place.places, nested.parent / "x.py", ())
    assert [file.path for file in found.files] == [nested] and found.withheld


def test_what_is_not_there_is_not_said_to_be_withheld(place: Place) -> None:
    place.denied.add(".env")
    place.write("project/AGENTS.md", "@.env")
    assert place.read().left_out() == ""


def test_a_question_is_answered_by_who_wrote_the_import_but_a_denial_never(place: Place) -> None:
    place.write("notes.md", "mine")
    place.write("secret.md", "precious")
    place.write(".gatewright/AGENTS.md", "@~/notes.md @~/secret.md")
    place.asked |= {"notes.md", "AGENTS.md"}
    place.denied.add("secret.md")
    memory = place.read()
    assert [file.text for file in memory.files] == ["mine", "@~/notes.md @~/secret.md"]
    assert [each.path.name for each in memory.withheld] == ["secret.md"]


def test_a_fifo_and_a_loop_for_an_instruction_file_hold_nobody_up(place: Place) -> None:
    os.mkfifo(place.root / "AGENTS.md")
    (place.cwd / "AGENTS.md").symlink_to("AGENTS.md")
    assert place.read().files == ()


def test_a_file_that_names_thousands_costs_a_hundred_looks(place: Place) -> None:
    judged: list[Path] = []

    def judge(path: Path, real: Path) -> Verdict:
        judged.append(path)
        return place.judge(path, real)

    place.readable = Readable(judge)
    names = [f"f{number}.md" for number in range(3000)]
    for name in names[:200]:
        place.write(f"project/{name}", name)
    place.write("project/AGENTS.md", " ".join(f"@{name}" for name in names * 2))
    assert len(place.read().files) <= FILES + 1
    assert len(judged) <= 2 * FILES + 10
