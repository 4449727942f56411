"""The index: a start that reads nothing again, and a cache that nothing depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.skills import index, reading
from gatewright.skills.bundled import DATA, written
from gatewright.skills.index import Index
from gatewright.skills.places import BUILT_IN
from tests.skills.trees import Tree, settle, write

PLACE = ".gatewright/skills"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> Index:
    return Index(tmp_path / "state" / "skills")


def stored(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state").rglob("*.*"))


def test_a_second_start_reads_nothing(
    tree: Tree, kept: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.skill(PLACE, "a", "description: x\nhooks:\n  Stop: [{command: ls}]\nmetadata: {v: 1}")
    write(tree.root / PLACE / "bad" / "SKILL.md", "---\nno end")
    tree.command(tree.home / ".claude" / "commands", "git/sync.md")
    settle(tree.top)
    before = tree.book(kept).now()

    def never(*args: object) -> object:
        raise AssertionError(args)

    monkeypatch.setattr(reading, "read_file", never)
    after = tree.book(kept).now()
    assert after == before and len(after.every) == 2 and len(after.diagnostics) == 1


def test_what_changed_in_between_is_read(tree: Tree, kept: Index) -> None:
    path = tree.skill(PLACE, "a", "description: One.")
    settle(tree.top)
    tree.book(kept).now()
    path.write_text("---\ndescription: Two.\n---\nx", encoding="utf-8")
    tree.skill(PLACE, "b")
    assert [s.said.description[:4] for s in tree.book(kept).now().every] == ["Two.", "b of"]


def test_a_change_within_one_tick_of_the_clock_is_seen(tree: Tree, kept: Index) -> None:
    """Same size, same inode, and perhaps the same time."""
    path = tree.skill(PLACE, "a", "description: One.")
    for said in ("Two.", "Six.", "Ten."):
        tree.book(kept).now()
        path.write_text(path.read_text(encoding="utf-8").replace("One.", said), encoding="utf-8")
        path.write_text(f"---\ndescription: {said}\n---\n\nDo it.\n", encoding="utf-8")
        assert [s.said.description for s in tree.book(kept).now().every] == [said]


@pytest.mark.parametrize(
    "damage", [b"", b"junk", b"\x93\x02\xa1/\x93\x80\x80\x90", b"\xdf" * 5_000]
)
def test_a_broken_index_costs_a_reading(tree: Tree, kept: Index, damage: bytes) -> None:
    tree.skill(PLACE, "a")
    settle(tree.top)
    tree.book(kept).now()
    (file,) = stored(tree.top)
    file.write_bytes(damage)
    assert [s.name for s in tree.book(kept).now().every] == ["a"]


def test_an_index_of_another_version_or_place_is_none(
    tree: Tree, kept: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.skill(PLACE, "a")
    settle(tree.top)
    tree.book(kept).now()
    (file,) = stored(tree.top)
    other = tree.root / ".agents" / "skills"
    file.rename(kept._file(str(other)))  # pyright: ignore[reportPrivateUsage]
    assert kept.load(str(other)).files == {}
    tree.book(kept).now()
    monkeypatch.setattr(index, "VERSION", 99)
    assert kept.load(str(tree.root / PLACE)).files == {}


def test_nothing_of_an_untrusted_project_is_kept(tree: Tree, kept: Index) -> None:
    tree.with_ground(trusted=False).skill(PLACE, "a")
    settle(tree.top)
    assert [s.name for s in tree.book(kept).now().every] == ["a"]
    assert stored(tree.top) == []


def test_it_is_private_and_goes_with_its_place(tree: Tree, kept: Index) -> None:
    path = tree.skill(PLACE, "a")
    tree.book(kept).now()
    (file,) = stored(tree.top)
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    path.unlink()
    path.parent.rmdir()
    book = tree.book(kept)
    book.now()
    assert stored(tree.top) == []


def test_a_home_that_cannot_be_written_is_no_matter(tree: Tree) -> None:
    tree.skill(PLACE, "a")
    write(tree.top / "file", "x")
    assert [s.name for s in tree.book(Index(tree.top / "file" / "skills")).now().every] == ["a"]


def test_only_so_many_places_are_remembered(
    tree: Tree, kept: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "PLACES", 3)
    for number in range(6):
        project = tree.top / f"p{number}"
        tree.with_ground(root=project, cwd=project)
        tree.skill(project / PLACE, "a")
        tree.book(kept).now()
    assert len(stored(tree.top)) == 3


def test_what_is_built_in_is_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert DATA.read_bytes() == written(), "python -m gatewright.skills.bundled writes it"
    tree = Tree(tmp_path).with_ground(built_in=BUILT_IN)

    def never(*args: object) -> object:
        raise AssertionError(args)

    monkeypatch.setattr(reading, "read_file", never)
    book = tree.book()
    names = [skill.name for skill in book.now().every]
    assert names == ["code-review", "git-workflow", "skill-creator", "tdd"]
    monkeypatch.undo()
    assert book.reload().every == book.now().every
    assert all(book.text(skill) for skill in book.now().every)
