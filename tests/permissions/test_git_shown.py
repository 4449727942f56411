"""A git command that prints tracked files counts as reading them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gatewright.permissions.decision import Allow, Ask, Decision, Deny
from gatewright.permissions.rulebook.rules import RuleTexts, parse_rule
from gatewright.permissions.shell.files.excludes import with_excludes
from gatewright.permissions.shell.line import Start, read_line
from tests.permissions.test_git_writes import decided

SECRET = RuleTexts(deny=("Read(secret/**)",))
ID = "37622491df3f4aa9c9d05a03275ae5d5f5263bef"
PRINTING = [
    "git grep TOK",
    "git diff",
    "git diff HEAD~1",
    "git log -p",
    "git log --patch -- ':!src'",
    "git log -S TOK -p",
    "git reflog -p",
    "git show",
    "git show HEAD",
    "git stash show -p",
    "git cat-file -p 0123456",
]


@pytest.mark.parametrize("rule", ["Read(secret/**)", "Read(**/.env)"])
@pytest.mark.parametrize(
    "command",
    [
        f"git diff {ID} HEAD:notes.txt",
        f"git diff {ID}..{ID} -- notes.txt",
        f"git diff {ID[:7]}..HEAD~1:notes.txt",
        f"git cat-file -p {ID}",
    ],
)
def test_a_number_may_be_that_of_a_restricted_file(tmp_path: Path, command: str, rule: str) -> None:
    (tmp_path / "notes.txt").touch()
    assert isinstance(decided(tmp_path, command, RuleTexts(deny=(rule,))), Ask)


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        (f"git show {ID[:7]} -- notes.txt", f"git show {ID[:7]}^{{commit}} -- notes.txt"),
        (f"git show x-g{ID} -- a.txt", f"git show x-g{ID}^{{commit}} -- a.txt"),
        (f"git diff {ID} notes.txt", f"git diff {ID}^{{commit}} notes.txt"),
        ("git grep beef -- notes.txt", "git grep beef -- notes.txt"),
        (f"git grep x {ID} -- a.txt", f"git grep x {ID}^{{commit}} -- a.txt"),
        ("git show HEAD~2 -- notes.txt", "git show HEAD~2 -- notes.txt"),
        (f"git log {ID}", f"git log {ID}"),
    ],
)
def test_what_has_only_a_number_is_shown_if_it_is_a_commit(
    tmp_path: Path, command: str, runs: str
) -> None:
    (tmp_path / "notes.txt").touch()
    decision = decided(tmp_path, command, SECRET)
    assert isinstance(decision, Allow)
    rules = (parse_rule("Read(secret/**)", "deny", "user")[0],)
    line = read_line(command, Start((str(tmp_path),), "/h", {}))
    assert with_excludes(line, [rule for rule in rules if rule is not None]) == runs
    assert (decision.command or command).startswith(runs)


@pytest.mark.parametrize("command", PRINTING)
@pytest.mark.parametrize("behavior", ["deny", "ask"])
def test_what_prints_any_file_asks_where_one_is_restricted(
    tmp_path: Path, command: str, behavior: str
) -> None:
    rule = ("Read(secret/**)",)
    texts = RuleTexts(deny=rule) if behavior == "deny" else RuleTexts(ask=rule)
    assert isinstance(decided(tmp_path, command, texts), Ask)


@pytest.mark.parametrize(
    "command",
    [
        "git log -L1,2:secret/a",
        "git log -L 1,2:secret/a",
        "git log -L/x:y/,5:secret/a",
        "git show :0:secret/a",
        "git log -p -- secret",
        "git grep TOK -- secret",
        "git blame secret/a",
    ],
)
def test_what_names_the_restricted_file_is_denied(tmp_path: Path, command: str) -> None:
    assert isinstance(decided(tmp_path, command, SECRET), Deny)


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -5",
        "git diff --stat",
        "git diff -- src",
        "git show HEAD:src/a",
        "git grep TOK -- src",
        "git grep . ./src",
        "git log -L1,2:src/a",
        "git status",
    ],
)
def test_what_prints_nothing_of_it_runs(tmp_path: Path, command: str) -> None:
    assert isinstance(decided(tmp_path, command, SECRET), Allow)


@pytest.mark.parametrize(
    "command",
    ["git diff {}src/a", "git diff HEAD~1 {}src/a", "git log -p {}src/a", "git show {}src/a",
     "git grep TOK {}src/a", "git diff {}src/a | head", "git diff {}src"],
)  # fmt: skip
@pytest.mark.parametrize("dashes", ["", "-- "])
def test_a_file_that_is_there_is_named_with_and_without_dashes(
    tmp_path: Path, command: str, dashes: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").write_text("", encoding="utf-8")
    assert isinstance(decided(tmp_path, command.format(dashes), SECRET), Allow)


@pytest.mark.parametrize(
    "command",
    ["git diff src/b", "git diff 'src/*'", "rm src/a; git diff src/a",
     "mv src/a c && git branch src/a && git diff src/a"],
)  # fmt: skip
def test_what_may_be_a_revision_asks(tmp_path: Path, command: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").write_text("", encoding="utf-8")
    texts = RuleTexts(("Bash(*)",), deny=SECRET.deny)
    assert isinstance(decided(tmp_path, command, texts), Ask)


@pytest.mark.parametrize("command", PRINTING)
def test_without_a_rule_of_the_person_nothing_asks(tmp_path: Path, command: str) -> None:
    found: Decision = decided(tmp_path, command, RuleTexts())
    assert isinstance(found, Allow)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(("git", *who, *words), cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    for text in ("one", "two"):
        for name in (".env", "sub/.env", "a"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(f"{'open' if name == 'a' else 'TOKEN'}={text}\n", "utf-8")
        git("add", "-f", ".")
        git("commit", "-qm", text)
    for name in (".env", "a"):
        (tmp_path / name).write_text(f"{'open' if name == 'a' else 'TOKEN'}=three\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("where", [".", "sub"])
@pytest.mark.parametrize(
    "command",
    [
        "git grep =",
        "git grep -e = --and -e o",
        "git grep = HEAD",
        "git diff",
        "git diff HEAD~1",
        "git diff HEAD~1 HEAD -- :/",
        "git log -p",
        "git log -p -- :/ | cat",
        "git show",
        "git show HEAD > out; cat out",
    ],
)
def test_a_file_restricted_at_any_depth_is_left_out(
    repository: Path, command: str, where: str
) -> None:
    rule, _ = parse_rule("Read(**/.env)", "ask", "user")
    assert rule is not None
    cwd = repository / where
    line = read_line(command, Start((str(cwd),), "/root", {}))
    told = with_excludes(line, (rule,))
    assert told != command
    done = subprocess.run(("sh", "-c", told), cwd=cwd, check=False, capture_output=True, text=True)
    assert done.stderr == ""
    assert "TOKEN" not in done.stdout
    assert "open" in done.stdout or (where == "sub" and "grep" in command)


@pytest.mark.parametrize(
    "command",
    ["git status", "git log --oneline", "git diff --stat", "git show HEAD:a", "git log -L1,1:a",
     "git diff HEAD:a HEAD~1:a", "git log -p --follow a", "git blame a"],
)  # fmt: skip
def test_what_prints_no_other_file_stays_as_it_is(repository: Path, command: str) -> None:
    rule, _ = parse_rule("Read(**/.env)", "ask", "user")
    assert rule is not None
    line = read_line(command, Start((str(repository),), "/root", {}))
    assert with_excludes(line, (rule,)) == command
