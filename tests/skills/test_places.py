"""Where skills stand, who has a name, and what may not be reached from an untrusted project."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewright.skills import walking
from gatewright.skills.places import Ground, PluginPlace, places_of
from tests.skills.trees import Tree, settle, write

HOMES = (".gatewright", ".agents", ".claude")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def places(tree: Tree) -> list[tuple[str, str, Path]]:
    """In the order in which a name counts: origin, whose, and the directory of skills."""
    plugin = tree.top / "plugin"
    web = tree.root / "apps" / "web"
    tree.with_ground(
        cwd=web,
        plugins=(PluginPlace("tools", plugin, (plugin / "skills",), (plugin / "commands",)),),
    )
    return [
        ("managed", "managed", tree.managed / "skills"),
        *(("user", "user", tree.home / home / "skills") for home in HOMES),
        *(("project", "apps/web", web / home / "skills") for home in HOMES),
        *(("project", "apps", tree.root / "apps" / home / "skills") for home in HOMES),
        *(("project", "project", tree.root / home / "skills") for home in HOMES),
        ("plugin", "tools", plugin / "skills"),
        ("built-in", "builtin", tree.top / "builtin"),
    ]


COUNT = 15


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(range(COUNT), 2)))
def test_of_two_the_first_place_has_the_name(tree: Tree, first: int, second: int) -> None:
    order = places(tree)
    assert len(order) == COUNT
    for _, _, folder in (order[second], order[first]):
        tree.skill(folder, "same", f"description: {folder}")
    now = tree.book().now()
    winner = now.find("same")
    assert winner is not None and winner.folder.parent == order[first][2]
    assert (winner.origin, winner.whose) == order[first][:2]
    (shadowed,) = now.shadowed
    assert shadowed.skill.folder.parent == order[second][2] and shadowed.by == winner
    if order[first][1] == order[second][1]:  # two homes of one directory
        assert shadowed.name == "" and now.every == (winner,)
    else:
        assert shadowed.name == f"{order[second][1]}:same"
        assert now.find(shadowed.name) == shadowed.skill
        assert [each.name for each in now.others(winner)] == ["same"]


def test_every_place_alone_has_the_short_name(tree: Tree) -> None:
    for number, (origin, whose, folder) in enumerate(places(tree)):
        tree.skill(folder, f"s{number}")
        found = tree.book().now().find(f"s{number}")
        assert found is not None and (found.origin, found.whose) == (origin, whose)
        assert tree.book().now().find(f"{whose}:s{number}") == found


def test_project_leads_to_any_of_the_projects(tree: Tree) -> None:
    tree.with_ground(cwd=tree.root / "apps").skill("apps/.claude/skills", "a")
    found = tree.book().now().find("project:a")
    assert found is not None and found.qualified == "apps:a"


def test_the_persons_own_command_comes_before_a_projects_skill(tree: Tree) -> None:
    tree.skill(".claude/skills", "deploy")
    tree.command(tree.home / ".claude" / "commands", "deploy.md")
    now = tree.book().now()
    found = now.find("deploy")
    assert found is not None and found.origin == "user" and found.form == "command"
    assert now.find("project:deploy") is not None


def test_plugins_have_short_names_only_while_they_are_unique(tree: Tree) -> None:
    one, two = tree.top / "one", tree.top / "two"
    for root in (one, two):
        tree.skill(root / "skills", "same")
    tree.skill(one / "skills", "own")
    tree.command(one / "commands", "run.md")
    tree.with_ground(
        plugins=tuple(
            PluginPlace(root.name, root, (root / "skills",), (root / "commands",))
            for root in (one, two)
        )
    )
    now = tree.book().now()
    assert {now.called(skill) for skill in now.every} == {"one:same", "two:same", "own", "run"}
    assert now.find("same") is None and now.find("one:own") == now.find("own")


def test_a_plugin_may_be_one_skill_and_name_single_files(tree: Tree) -> None:
    root = tree.top / "cache" / "1.0.0"
    write(root / "SKILL.md", "---\nname: whole\ndescription: All of it.\n---\nx")
    write(root / "more" / "go.md", "Go.")
    plugin = PluginPlace("whole", root, (root,), (root / "more" / "go.md",))
    now = tree.with_ground(plugins=(plugin,)).book().now()
    assert [(s.qualified, s.form) for s in now.every] == [
        ("whole:whole", "skill"),
        ("whole:go", "command"),
    ]


def untrusted(tree: Tree) -> Tree:
    return tree.with_ground(trusted=False)


def test_an_untrusted_project_takes_nobodys_name(tree: Tree) -> None:
    tree.skill(".claude/skills", "review", "description: Evil.")
    tree.skill(tree.top / "builtin", "review", "description: Ours.")
    tree.command(tree.home / ".claude" / "commands", "go.md")
    tree.skill(".claude/skills", "go", "description: Evil.")
    now = untrusted(tree).book().now()
    names = {name: now.find(name) for name in ("review", "go")}
    assert {name: skill and skill.origin for name, skill in names.items()} == {
        "review": "built-in",
        "go": "user",
    }
    evil = now.find("project:review")
    assert evil is not None and not evil.trusted


def test_nothing_of_an_untrusted_skill_acts(tree: Tree) -> None:
    tree.skill(
        ".claude/skills",
        "a",
        "description: x\nallowed-tools: Bash\nmodel: opus\neffort: max\n"
        "hooks:\n  Stop: []\ndisallowed-tools: Write",
    )
    (skill,) = untrusted(tree).book().now().every
    said = skill.said
    assert (said.allowed_tools, said.model, said.effort, said.hooks) == ((), "", "", {})
    assert said.disallowed_tools == ("Write",)
    assert set(skill.withheld) == {"allowed-tools", "model", "effort", "hooks"}
    tree.with_ground(trusted=True)
    (skill,) = tree.book().now().every
    assert skill.said.allowed_tools == ("Bash",) and skill.withheld == ()


def test_trust_counts_at_once(tree: Tree) -> None:
    tree.skill(".claude/skills", "a", "description: x\nmodel: opus")
    book = untrusted(tree).book()
    assert not book.now().every[0].trusted
    tree.with_ground(trusted=True)
    assert book.now().every[0].said.model == "opus"


def test_links_out_of_an_untrusted_project_are_not_followed(tree: Tree) -> None:
    outside = tree.skill(tree.top / "elsewhere", "out").parent
    inside = tree.skill("lib", "in").parent
    skills = tree.root / ".claude" / "skills"
    skills.mkdir(parents=True)
    (skills / "out").symlink_to(outside)
    (skills / "in").symlink_to(inside)
    now = untrusted(tree).book().now()
    assert [s.name for s in now.every] == ["in"]
    assert "is not followed" in now.diagnostics[0].text
    tree.with_ground(trusted=True)
    assert {s.name for s in tree.book().now().every} == {"in", "out"}


def test_a_place_that_is_a_link_out_is_none(tree: Tree) -> None:
    tree.skill(tree.top / "elsewhere", "a")
    (tree.root / ".claude").mkdir()
    (tree.root / ".claude" / "skills").symlink_to(tree.top / "elsewhere")
    assert untrusted(tree).book().now().every == ()
    tree.with_ground(trusted=True)
    assert len(tree.book().now().every) == 1


@pytest.mark.parametrize("trusted", [True, False])
def test_a_skill_file_is_no_link_to_somewhere_else(tree: Tree, trusted: bool) -> None:
    """A directory that came with a clone could name any file of the person."""
    secret = write(tree.top / "secret", "---\ndescription: key\n---\nkey")
    folder = tree.home / ".claude" / "skills" / "cloned"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to(secret)
    shared = tree.skill(tree.home / ".claude" / "skills", "shared")
    (folder.parent / "second").mkdir()
    (folder.parent / "second" / "SKILL.md").symlink_to(shared)  # within its place
    now = tree.with_ground(trusted=trusted).book().now()
    assert {s.name for s in now.every} == {"shared", "second"}
    assert f"a link to {secret}" in now.diagnostics[0].text


def test_a_link_that_is_put_in_later_is_not_read(tree: Tree) -> None:
    path = tree.skill(".claude/skills", "a")
    book = tree.book()
    (skill,) = book.now().every
    path.unlink()
    path.symlink_to(write(tree.top / "secret", "---\ndescription: key\n---\nkey"))
    with pytest.raises(ValueError, match="somewhere else"):
        book.text(skill)


def test_one_directory_under_two_names_is_one_skill(tree: Tree) -> None:
    tree.skill(".agents/skills", "a")
    (tree.root / ".claude").mkdir()
    (tree.root / ".claude" / "skills").symlink_to(tree.root / ".agents" / "skills")
    (tree.root / ".agents" / "skills" / "b").symlink_to("a")
    now = tree.book().now()
    assert [s.name for s in now.every] == ["a"] and now.shadowed == ()


def test_a_ring_of_links_ends(tree: Tree) -> None:
    commands = tree.root / ".claude" / "commands"
    tree.command(commands, "a.md")
    (commands / "again").symlink_to(commands)
    (commands / "self").symlink_to("self")
    assert tree.book().now().find("a") is not None


def test_what_is_no_file_is_told(tree: Tree) -> None:
    folder = tree.root / ".claude" / "skills" / "pipe"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "SKILL.md")
    now = tree.book().now()
    assert now.every == () and "a FIFO" in now.diagnostics[0].text


def test_a_place_has_so_many_entries(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "ENTRIES", 10)
    for number in range(30):
        tree.skill(".claude/skills", f"s{number:02}")
    now = tree.book().now()
    assert len(now.every) <= 10
    assert "more than 10 entries" in now.diagnostics[0].text


@pytest.mark.parametrize("name", ["node_modules", ".git", ".hidden"])
def test_directories_of_others_are_left_out(tree: Tree, name: str) -> None:
    tree.skill(f".claude/skills/{name}", "a")
    tree.skill(".claude/skills", name)
    assert tree.book().now().every == ()


def test_bare_has_what_is_managed_and_built_in(tree: Tree) -> None:
    for number, (_, _, folder) in enumerate(places(tree)):
        tree.skill(folder, f"s{number}")
    now = tree.with_ground(bare=True).book().now()
    assert [s.origin for s in now.every] == ["managed", "built-in"]
    now = tree.with_ground(bare=False, bundled=False, sources=("user",)).book().now()
    assert {s.origin for s in now.every} == {"managed", "user", "plugin"}


def test_the_persons_home_is_no_project(tree: Tree) -> None:
    tree.with_ground(root=tree.home, cwd=tree.home, trusted=False)
    tree.skill(tree.home / ".claude" / "skills", "a")
    (skill,) = tree.book().now().every
    assert skill.origin == "user" and skill.trusted


def test_outside_of_a_project_only_cwd_counts(tree: Tree) -> None:
    away = tree.top / "away" / "deep"
    tree.skill(away / ".claude" / "skills", "a")
    tree.skill(away.parent / ".claude" / "skills", "b")
    now = tree.with_ground(cwd=away).book().now()
    assert [(s.name, s.whose) for s in now.every] == [("a", "project")]


def files_of(top: Path) -> Iterator[tuple[str, int, int]]:
    for path in sorted(top.rglob("*")):
        info = path.lstat()
        yield str(path), info.st_mtime_ns, info.st_size


def test_looking_at_an_untrusted_clone_changes_nothing(tree: Tree) -> None:
    for name in ("a", "b", "c"):
        tree.skill(".claude/skills", name, "description: x\nallowed-tools: Bash", "!`touch ran`")
        tree.command(".claude/commands", f"{name}.md", "!`touch ran`")
        tree.skill(f"apps/{name}/.claude/skills", name)
    settle(tree.top)
    before = list(files_of(tree.top))
    book = untrusted(tree).book()
    book.now()
    book.listed()
    book.touched(tree.root / "apps" / "a" / "x.py")
    book.reload(nested=True)
    for skill in book.now().every:
        book.text(skill)
    assert list(files_of(tree.top)) == before


def test_places_are_data(tree: Tree) -> None:
    ground: Ground = tree.ground
    folders = [place.folder for place in places_of(ground)]
    assert len(folders) == len(set(folders)) == 2 * (1 + 3 + 3) + 1
