"""What a book finds, what it reads again, and what it says of who may invoke what."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.skills import walking
from gatewright.skills.book import Choices
from gatewright.skills.model import SkillError
from tests.skills.trees import Tree, settle, write

OURS = ".gatewright/skills"
THEIRS = ".claude/skills"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def names(tree: Tree) -> list[str]:
    return [skill.name for skill in tree.book().now().every]


def test_a_directory_with_a_skill_file_is_a_skill(tree: Tree) -> None:
    tree.skill(OURS, "a", "name: a\ndescription: Does a.", "The body.\n")
    write(tree.root / OURS / "README.md", "no skill")
    (tree.root / OURS / "empty").mkdir()
    book = tree.book()
    (skill,) = book.now().every
    assert (skill.name, skill.origin, skill.qualified) == ("a", "project", "project:a")
    assert skill.said.description == "Does a."
    assert skill.folder == tree.root / OURS / "a"
    assert book.text(skill) == "The body."


def test_a_folder_may_group_skills_once(tree: Tree) -> None:
    tree.skill(f"{OURS}/group", "a")
    tree.skill(f"{OURS}/group/deeper", "b")
    assert names(tree) == ["a"]


def test_command_files_are_named_by_their_path(tree: Tree) -> None:
    tree.command(".claude/commands", "git/sync.md", "Sync.\n")
    tree.command(".claude/commands", "deploy.md", "Deploy.\n")
    now = tree.book().now()
    sync = now.find("git:sync")
    assert sync is not None and sync.form == "command" and sync.said.description == "Sync."
    assert now.find("sync") is sync and now.find("command:git:sync") is sync
    assert now.find("project:git:sync") is sync
    tree.command(".claude/commands", "db/sync.md", "Other.\n")
    again = tree.book().now()
    assert again.find("sync") is None  # it is no longer the only one
    assert [again.called(skill) for skill in again.every] == ["deploy", "db:sync", "git:sync"]


def test_a_skill_has_the_name_before_a_command_file(tree: Tree) -> None:
    tree.skill(OURS, "deploy")
    tree.command(".claude/commands", "deploy.md")
    now = tree.book().now()
    first, second = now.every
    assert now.find("deploy") is first and first.form == "skill"
    assert now.find("command:deploy") is second
    assert [each.skill for each in now.shadowed] == [second]


def test_a_change_is_seen_at_the_next_look(tree: Tree) -> None:
    path = tree.skill(OURS, "a", "description: One.")
    book = tree.book()
    assert [s.said.description for s in book.now().every] == ["One."]
    path.write_text("---\ndescription: Two.\n---\nx", encoding="utf-8")
    assert [s.said.description for s in book.now().every] == ["Two."]
    tree.skill(OURS, "b")
    assert [s.name for s in book.now().every] == ["a", "b"]
    path.unlink()
    assert [s.name for s in book.now().every] == ["b"]


def test_what_did_not_change_is_neither_read_nor_listed_again(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        tree.skill(OURS, f"s{number}")
    tree.command(".claude/commands", "a/b.md")
    settle(tree.top)
    book = tree.book()
    before = book.now()
    stats = 0
    real = os.stat

    def counted(path: str) -> object:
        nonlocal stats
        stats += 1
        return real(path)

    def never(*args: object) -> object:
        raise AssertionError(args)

    monkeypatch.setattr(os, "stat", counted)
    monkeypatch.setattr(os, "scandir", never)
    monkeypatch.setattr(walking, "_scanned", never)
    assert book.now() is before
    places = 15  # directories that may be there, most of which are not
    assert stats <= 20 + places + 4


def test_a_half_written_file_keeps_what_it_said(tree: Tree) -> None:
    path = tree.skill(OURS, "a", "description: Good.", "Good body.")
    book = tree.book()
    (skill,) = book.now().every
    assert book.text(skill) == "Good body."
    path.write_text("---\ndescription: Ha", encoding="utf-8")
    now = book.now()
    assert [s.said.description for s in now.every] == ["Good."]
    assert "still counts" in now.diagnostics[0].text and not now.diagnostics[0].fatal
    assert book.text(now.every[0]) == "Good body."
    path.write_text("---\ndescription: Better.\n---\nx", encoding="utf-8")
    assert [s.said.description for s in book.now().every] == ["Better."]
    assert book.now().diagnostics == ()


def test_a_text_that_cannot_be_read_says_why(tree: Tree) -> None:
    path = tree.skill(OURS, "a")
    book = tree.book()
    (skill,) = book.now().every
    path.write_text("---\nno end", encoding="utf-8")
    with pytest.raises(SkillError, match="front matter is missing"):
        tree.book().text(skill)


def test_a_bad_skill_hides_no_other(tree: Tree) -> None:
    tree.skill(OURS, "a")
    write(tree.root / OURS / "bad" / "SKILL.md", "---\nnever closed")
    write(tree.root / OURS / "dir" / "SKILL.md" / "x", "")
    now = tree.book().now()
    assert [s.name for s in now.every] == ["a"]
    (told,) = now.diagnostics
    assert told.file == tree.root / OURS / "bad" / "SKILL.md" and told.fatal and told.line == 1


def test_a_file_of_another_spelling_is_told(tree: Tree) -> None:
    write(tree.root / OURS / "a" / "skill.md", "---\ndescription: a\n---\n")
    now = tree.book().now()
    assert now.every == () and "SKILL.md" in now.diagnostics[0].text


def test_switched_off_hidden_and_denied(tree: Tree) -> None:
    for name in ("a", "b", "c", "d", "e"):
        tree.skill(OURS, name)
    tree.skill(OURS, "f", "description: f\ndisable-model-invocation: yes")
    tree.skill(OURS, "g", "description: g\nuser-invocable: false")
    tree.choices = Choices(
        disabled=frozenset({"a"}),
        overrides={"b": "off", "c": "name-only", "project:d": "user-invocable-only"},
        denied=lambda name: name == "e",
    )
    book = tree.book()
    assert [s.name for s in book.listed()] == ["c", "g"]
    refused = {name: book.refusal(name) for name in "abcdefg"}
    assert not refused["c"] and not refused["g"]
    assert "is off" in refused["a"] and "is off" in refused["b"]
    assert "typing /d" in refused["d"] and "typing /f" in refused["f"]
    assert "Skill(e)" in refused["e"]
    assert not book.refusal("d", typed=True) and not book.refusal("f", typed=True)
    assert "is off" in book.refusal("a", typed=True)
    assert "for the model" in book.refusal("g", typed=True)


def test_paths_hide_a_skill_until_such_a_file_is_met(tree: Tree) -> None:
    tree.skill(OURS, "ts", "description: x\npaths: src/**/*.{ts,tsx}, *.mts")
    book = tree.book()
    assert book.listed() == ()
    assert not book.touched(tree.root / "src" / "a.py")
    assert not book.touched(tree.top / "elsewhere" / "src" / "a.ts")
    assert book.touched(tree.root / "src" / "deep" / "a.ts")
    assert [s.name for s in book.listed()] == ["ts"]
    assert not book.touched(tree.root / "src" / "b.ts")  # nothing new
    other = tree.book()
    assert other.touched(tree.root / "lib" / "x.mts")


def test_nested_skills_come_with_a_file_there(tree: Tree) -> None:
    tree.skill(OURS, "build")
    tree.skill("apps/web/.claude/skills", "build")
    tree.skill("apps/web/.claude/skills", "lint")
    book = tree.book()
    assert [s.name for s in book.now().every] == ["build"]
    assert book.touched(tree.root / "apps/web/src/index.ts")
    now = book.now()
    called = {now.called(s): s.nested for s in now.every}
    assert called == {"build": "", "apps/web:build": "apps/web", "lint": "apps/web"}
    assert [s.qualified for s in now.others(now.every[0])] == ["apps/web:build"]
    assert {now.called(s) for s in book.listed()} == {"build", "apps/web:build", "lint"}
    assert not book.touched(tree.root / "apps/web/src/other.ts")


def test_reload_finds_all_nested_ones(tree: Tree) -> None:
    tree.skill("a/b/.agents/skills", "deep")
    tree.skill("node_modules/x/.claude/skills", "never")
    book = tree.book()
    assert book.now().every == ()
    assert [s.name for s in book.reload(nested=True).every] == ["deep"]


def test_without_description_a_command_file_is_not_for_the_model(tree: Tree) -> None:
    tree.command(".claude/commands", "plain.md", "Do it.")
    tree.command(".claude/commands", "said.md", "---\ndescription: Does it.\n---\nDo it.")
    assert [s.name for s in tree.book().listed()] == ["said"]


def test_reload_passes_over_what_is_ignored(tree: Tree) -> None:
    for folder in ("out", "deep/out", "gen/a", "kept/gen", "logs.d", "sub/tmp", "tmp", "sub/own"):
        tree.skill(f"{folder}/.claude/skills", folder.replace("/", "-").replace(".", "-"))
    write(tree.root / ".gitignore", "# made\nout/\n/gen\n*.d\ntmp\n")
    write(tree.root / "sub" / ".gitignore", "!tmp\n")
    names = {skill.name for skill in tree.book().reload(nested=True).every}
    assert names == {"kept-gen", "sub-tmp", "sub-own"}
    tree.with_ground(cwd=tree.root / "deep")
    assert tree.book().reload(nested=True).every == (), "a file above holds, too"


def test_what_is_ignored_may_be_said_by_anybody(tree: Tree) -> None:
    tree.skill("a/.claude/skills", "one")
    write(tree.root / ".gitignore", b"\xff\n[\n**/**/**\x00\n" + b"{a,b}" * 10_000)
    (tree.root / "a" / ".gitignore").mkdir()
    assert [skill.name for skill in tree.book().reload(nested=True).every] == ["one"]
