"""The check of what handlers would start: what is missing is found, what a shell makes is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.agent.hooks.shown.checks import Ground, summary, trouble, troubles
from tests.hooks.making import handler
from tests.hooks.scripts import script


def ground(root: Path, *urls: str) -> Ground:
    return Ground(
        root=root,
        home=root,
        env={"PATH": os.environ["PATH"]},
        urls=urls or ("*",),
        kinds=frozenset({"command", "http"}),
    )


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("true", ""),
        ("echo hi > log", ""),
        ("if true; then nope-nope; fi", ""),
        ("$TOOL --check", ""),
        ("./good.sh", ""),
        ("$CLAUDE_PROJECT_DIR/good.sh", ""),
        ('"${CLAUDE_PROJECT_DIR}"/good.sh --x', ""),
        ("A=b ./good.sh", ""),
        ("~/good.sh", ""),
        ("sh good.sh", ""),
        ("unclosed '", ""),
        ("nope-nope --x", "starts nope-nope, which is not there"),
        ("./nope.sh", "starts ./nope.sh, which is not there"),
        ("$CLAUDE_PROJECT_DIR/nope.sh", "nope.sh, which is not there"),
        ("./plain.txt", "may not be executed"),
        ("./folder", "starts ./folder, which is a directory"),
        ("sh ./nope.py && true", "runs ./nope.py, which is not there"),
        ("./odd.sh", "names 'nope-interpreter', which is not there"),
    ],
)
def test_commands(tmp_path: Path, command: str, told: str) -> None:
    script(tmp_path, "good.sh", "exit 0")
    odd = Path(script(tmp_path, "odd.sh", ""))
    odd.write_text("#!/usr/bin/env -S nope-interpreter --x\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain.txt").write_text("x", encoding="utf-8")
    found = trouble(handler(command=command), ground(tmp_path))
    assert (told in found) if told else not found, found


def test_the_exec_form_and_other_kinds(tmp_path: Path) -> None:
    at = ground(tmp_path, "https://example.com/*")
    assert "not there" in trouble(handler(command="nope-nope", args=("a b",)), at)
    assert not trouble(handler(command="sh", args=("-c", "x")), at)
    assert "allowedHttpHookUrls" in trouble(handler(kind="http", url="https://example.org/x"), at)
    assert not trouble(handler(kind="http", url="https://example.com/x"), at)
    assert "does not run here yet" in trouble(handler(kind="agent", prompt="x"), at)


def test_one_line_says_it(tmp_path: Path) -> None:
    handlers = [handler(command=f"./nope{n}.sh") for n in range(2)]
    text = summary([fault for _, fault in troubles(handlers, ground(tmp_path))])
    assert text.startswith("2 hooks will not run: settings.json:3: PreToolUse hook starts ./nope0")
    assert not summary([])
