"""Claude Code's instruction files where they lie: read as ours are, by the same reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.context.prompt.memory import Memory, memory_files, nested_files, section
from gatewright.agent.context.prompt.path_rules import front_matter
from gatewright.skills.globs import fits
from tests.prompt.test_memory import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def touched(place: Place, name: str, start: Memory | None = None) -> list[str]:
    before = memory_files(place.places) if start is None else start
    known = [file.path for file in before.files]
    found = nested_files(place.places, place.home / name, known, before.rules)
    return [file.text.strip() for file in found.files]


def test_theirs_are_read_in_the_order_of_ours(place: Place) -> None:
    for name in (".claude/CLAUDE.md", ".claude/rules/mine.md", ".gatewright/AGENTS.md",
                 "project/AGENTS.md", "project/.claude/CLAUDE.md", "project/.claude/rules/x/y.md",
                 "project/.claude/rules/a.md", "project/CLAUDE.local.md",
                 "project/a/.claude/CLAUDE.md", "project/a/b/CLAUDE.md"):  # fmt: skip
        place.write(name, name)
    place.write("project/.claude/rules/notes.txt", "no rule")
    assert place.texts() == [
        ".claude/CLAUDE.md", ".claude/rules/mine.md", ".gatewright/AGENTS.md",
        "project/AGENTS.md", "project/.claude/CLAUDE.md", "project/.claude/rules/x/y.md",
        "project/.claude/rules/a.md", "project/CLAUDE.local.md",
        "project/a/.claude/CLAUDE.md", "project/a/b/CLAUDE.md",
    ]  # fmt: skip
    assert [file.kind for file in place.read().files[:2]] == ["user", "user"]


@pytest.mark.parametrize(
    ("claude", "expected"),
    [("same", ["same"]), ("@../CLAUDE.md", ["same", "@../CLAUDE.md"])],
)
def test_what_says_or_names_the_same_is_read_once(
    place: Place, claude: str, expected: list[str]
) -> None:
    place.write("project/CLAUDE.md", "same")
    place.write("project/.claude/CLAUDE.md", claude)
    assert place.texts() == expected


def test_a_link_to_ours_is_the_same_file(place: Place) -> None:
    place.write("project/AGENTS.md", "A")
    (place.root / ".claude").mkdir()
    (place.root / ".claude" / "CLAUDE.md").symlink_to("../AGENTS.md")
    assert place.texts() == ["A"]


def test_in_the_home_directory_the_persons_file_is_read_once(place: Place) -> None:
    place.write(".claude/CLAUDE.md", "mine")
    place.root, place.cwd = place.home, place.home
    assert place.texts() == ["mine"]


def test_a_rule_with_paths_is_read_when_such_a_file_is_touched(place: Place) -> None:
    place.write("project/.claude/rules/ts.md", '---\npaths: ["src/**/*.ts"]\n---\ntypes first')
    start = place.read()
    assert start.files == ()
    assert [rule.path.name for rule in start.rules] == ["ts.md"]
    assert touched(place, "project/src/deep/x.ts") == ["types first"]
    assert touched(place, "project/src/x.py") == []
    assert touched(place, "elsewhere/src/x.ts") == []
    found = nested_files(place.places, place.root / "src/x.ts", (), start.rules)
    assert "ts.md, for src/**/*.ts\n\ntypes first" in section(found.files)


def test_a_rule_that_was_read_is_not_read_again(place: Place) -> None:
    path = place.write("project/.claude/rules/x.md", "---\npaths: '**'\n---\nonce")
    rules = place.read().rules
    file = place.root / "x"
    assert len(nested_files(place.places, file, (), rules).files) == 1
    assert nested_files(place.places, file, (path,), rules).files == ()


def test_rules_further_down_are_about_files_there(place: Place) -> None:
    place.write("project/a/b/c/.claude/rules/x.md", "---\npaths: '*.py'\n---\nhere")
    place.write("project/a/b/c/.claude/rules/y.md", "always")
    assert touched(place, "project/a/b/c/x.py") == ["here", "always"]
    assert touched(place, "project/a/b/c/x.js") == ["always"]


def test_a_rule_of_the_persons_is_about_the_projects_files(place: Place) -> None:
    place.write(".claude/rules/py.md", "---\npaths: **/*.py\n---\nmine")
    assert touched(place, "project/a/x.py") == ["mine"]


@pytest.mark.parametrize("name", ["CLAUDE.md", "rules/x.md"])
def test_what_a_rule_denies_is_withheld(place: Place, name: str) -> None:
    path = place.write(f"project/.claude/{name}", "secret")
    place.denied.add(path.name)
    assert place.texts() == []
    if name == "CLAUDE.md":  # a directory shows nothing of what is denied in it
        assert [each.path for each in place.read().withheld] == [path]


def test_a_denied_directory_of_rules_is_told(place: Place) -> None:
    place.write("project/.claude/rules/x.md", "secret")
    place.denied.add("rules")
    assert place.texts() == []
    assert "rules" in place.read().left_out()


def test_links_lead_out_of_the_project_only_with_a_yes(place: Place) -> None:
    secret = place.write(".ssh/key.md", "secret")
    place.write("project/.claude/rules/a.md", "a")
    (place.root / ".claude/rules/key.md").symlink_to(secret)
    (place.root / ".claude/rules/all").symlink_to(secret.parent)
    (place.root / "a/.claude").symlink_to(secret.parent)
    place.write(".ssh/rules/x.md", "secret too")
    place.write(".ssh/CLAUDE.md", "secret as well")
    assert place.texts() == ["a"]
    assert secret in place.read().waiting


def test_rules_are_bounded(place: Place) -> None:
    for number in range(130):
        place.write(f"project/.claude/rules/{number}.md", f"number {number}")
        place.write(f"project/.claude/rules/more/{number}.md", f"---\npaths: {number}\n---\nx")
    found = place.read()
    assert len(found.files) == len(found.rules) == 100


@pytest.mark.parametrize(
    ("text", "globs", "rest"),
    [
        ("no front", (), "no front"),
        ("---\nname: x\n---\nbody", (), "body"),
        ("---\npaths: src/**\n---\nbody", ("src/**",), "body"),
        ("---\npaths: src/**, {a,b}/*.ts\n---\nbody", ("src/**", "{a,b}/*.ts"), "body"),
        ("---\npaths: ['a', \"b\"] # both\n---\n", ("a", "b"), ""),
        ("---\nx: 1\npaths:\n  - 'a/**'\n  # no\n- b # yes\ny: 2\n---\nt", ("a/**", "b"), "t"),
        ("---\r\npaths: a\r\n---\r\nbody", ("a",), "body"),
        ("---\npaths: a\nnever closed", (), "---\npaths: a\nnever closed"),
        ("---\npaths:\n---\nbody", (), "body"),
    ],
)
def test_front_matter(text: str, globs: tuple[str, ...], rest: str) -> None:
    assert front_matter(text) == (globs, rest)


@pytest.mark.parametrize(
    ("glob", "path", "fit"),
    [
        ("**/*.ts", "x.ts", True),
        ("**/*.ts", "a/b/x.ts", True),
        ("*.ts", "a/x.ts", False),
        ("src/**/*", "src/a/b", True),
        ("src/**/*", "lib/a", False),
        ("src", "src/a/b", True),
        ("./src/", "src/a", True),
        ("src/*.{ts,tsx}", "src/a.tsx", True),
        ("{src,lib}/**/*.{ts,js}", "lib/a/b.js", True),
        ("src/*.{ts,tsx}", "src/a.py", False),
        ("**", "anything/at/all", True),
        ("a/**/b/**/c", "a/b/x/c", True),
        ("a/b/c", "a/b", False),
        ("[ab].py", "a.py", True),
    ],
)
def test_which_paths_a_glob_is_about(glob: str, path: str, fit: bool) -> None:
    assert fits((glob,), Path(path)) is fit


@pytest.mark.parametrize(
    "glob",
    ["**/" * 160 + "x", "*a" * 240, "{a,b}" * 90, "?*/**/" * 40, "{" * 400, "{{a,b},{c,d}}" * 30],
)
def test_no_glob_of_anybodys_takes_long(glob: str) -> None:
    assert fits((glob,) * 50, Path("a/" * 200 + "y" * 200)) in (True, False)
