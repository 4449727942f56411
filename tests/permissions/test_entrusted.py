"""Rules that come with a skill's text grant what they name, and nothing that is handed on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gatewright.agent.commands.outcome import Scope
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.tools.access import Access, ShellText, Where


def runs(tmp_path: Path, rule: str, command: str, *, own: bool = False) -> bool:
    """Whether it runs unasked by that rule of a skill, or of the person's `own`."""
    root = tmp_path / "project"
    if not root.exists():
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    policy = Policy(PolicyConfig(root=root, cwd=root, home=tmp_path, trusted=True, agents=True))
    if own:
        policy.add("allow", rule)
    else:
        policy.scope(Scope(by="skill", trusted=True, allow=(rule,)))
    call = Call("Bash", {"command": command}, Access(runs=ShellText(command, root)))
    return isinstance(decide(call, policy.context(Where(root, root, tmp_path))), Allow)


@pytest.mark.parametrize(
    "command",
    [
        "git config core.pager evil",
        "git config --global core.hooksPath x",
        "git config alias.z '!touch y'",
        "git config set core.editor evil",
        "git config --unset core.pager",
        "git config -f other --list",
        "git config --edit",
        "git -C ../other status",
        "git -c alias.z='!touch y' z",
        "git --exec-path=here status",
        "git grep -Oevil x",
        "git grep --open=evil x",
        "git log --ext-diff",
        "git init --template=here",
        "git hook run pre-commit",
        "git credential fill",
        "git credential-store get",
        "git send-email --smtp-server=/x",
        "git remote add x 'ext::sh -c y'",
        "git clone 'ext::sh -c y' z",
        "git submodule foreach 'touch y'",
        "git bisect run sh",
        "git rebase -x 'touch y'",
        "git fetch --upload-pack=evil .",
        "git var GIT_EDITOR",
    ],
)
def test_git_hands_nothing_on(tmp_path: Path, command: str) -> None:
    assert not runs(tmp_path, "Bash(git:*)", command)
    assert not runs(tmp_path, f"Bash({' '.join(command.split()[:2])}:*)", command)


@pytest.mark.parametrize(
    "command",
    [
        "git status", "git add .", "git commit -m 'config: a::b'", "git log --oneline",
        "git config user.name", "git config --get user.name", "git config --list", "git remote -v",
        "git push", "git switch -c x", "git --no-pager diff",
    ],
)  # fmt: skip
def test_what_git_is_for_runs(tmp_path: Path, command: str) -> None:
    assert runs(tmp_path, "Bash(git:*)", command)


def test_words_that_are_named_all_run(tmp_path: Path) -> None:
    """A person who agreed to it, or wrote it, saw the command itself."""
    command = "git config core.pager cat"
    assert runs(tmp_path, f"Bash({command})", command)
    assert runs(tmp_path, "Bash(git config:*)", command, own=True)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(sed:*)", "sed -i s/a/b/e x.py"),
        ("Bash(sed:*)", "sed '1e touch y' x.py"),
        ("Bash(sqlite3:*)", "sqlite3 x.db '.shell touch y'"),
        ("Bash(psql:*)", "psql -c '\\! touch y'"),
        ("Bash(tar:*)", "tar xf a.tar --to-command='sh y'"),
        ("Bash(man:*)", "man -P 'sh y' ls"),
        ("Bash(R:*)", "R -e x"),
        ("Bash(ipython3:*)", "ipython3 -c x"),
        ("Bash(jupyter-run:*)", "jupyter-run x"),
        ("Bash(java:*)", "java X.java"),
        ("Bash(go:*)", "go run example.com/x@latest"),
        ("Bash(go run:*)", "go run ."),
        ("Bash(vim:*)", "vim x"),
        ("Bash(tmux:*)", "tmux new x"),
        ("Bash(conda run:*)", "conda run x"),
        ("Bash(PYTHON3:*)", "PYTHON3 x.py"),
    ],
)
def test_a_program_runs_nothing_else(tmp_path: Path, rule: str, command: str) -> None:
    assert not runs(tmp_path, rule, command)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(sed:*)", "sed -i s/one/three/g x.py"),
        ("Bash(sed:*)", "sed -n '/the e/p' x.py"),
        ("Bash(pytest:*)", "pytest -q tests"),
        ("Bash(go test:*)", "go test ./..."),
        ("Bash(make test)", "make test"),
        ("Bash(npm run build:*)", "npm run build -- --fast"),
        ("Bash(pytest:*)", "timeout 60 pytest -q"),
    ],
)
def test_what_is_named_runs(tmp_path: Path, rule: str, command: str) -> None:
    assert runs(tmp_path, rule, command)
