"""What was tried against work trees and once worked: each stays shut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.record.events import Asked, Decided
from tests.permissions.composed import desk
from tests.worktrees.ground import Checkout

# Attributes, what is committed, what somebody left there that git calls the same.
CONVERTED = {
    "line ends": ("* text=auto\n", b"a\nb\n", b"a\r\nb\r\n"),
    "a keyword": ("*.txt ident\n", b"$Id$\n", b"$Id: all my work $\n"),
    "an encoding": (
        "t.txt working-tree-encoding=UTF-16\n",
        "a\n".encode("utf-16"),
        b"\xfe\xff" + "a\n".encode("utf-16-be"),
    ),
}


@pytest.mark.parametrize("what", CONVERTED)
async def test_what_git_converts_is_compared_by_its_bytes(tmp_path: Path, what: str) -> None:
    at = Checkout(tmp_path)
    attributes, before, after = CONVERTED[what]
    at.put(".gitattributes", attributes)
    at.put("t.txt", "")
    (at.root / "t.txt").write_bytes(before)
    at.git("add", ".")
    at.git("commit", "-qm", "x")
    tree = await at.tree()
    (tree.tree / "t.txt").write_bytes(after)
    left = await at.trees.remove(tree)
    assert "1 file changed: t.txt" in left.kept
    assert (tree.tree / "t.txt").read_bytes() == after


async def test_what_settings_convert_is_compared_by_its_bytes(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    at.git("config", "core.autocrlf", "input")
    tree = await at.tree()
    (tree.tree / "a.txt").write_bytes(b"one\r\n")
    assert "1 file changed: a.txt" in (await at.trees.remove(tree)).kept


async def test_one_as_it_was_written_goes(tmp_path: Path) -> None:
    """Conversions alone keep nothing."""
    at = Checkout(tmp_path)
    at.put(".gitattributes", "*.txt text eol=crlf ident\n")
    at.put("t.txt", "$Id$\nb\n")
    at.git("add", ".")
    at.git("commit", "-qm", "x")
    tree = await at.tree()
    assert b"$Id: " in (tree.tree / "t.txt").read_bytes()
    assert not (await at.trees.remove(tree)).kept


OUT = (
    "env -C ../../.. touch x",
    "make -C ../../..",
    "ln -s ../../.. up && touch up/x",
    "export GIT_DIR=../../../.git; git commit --allow-empty -m x",
    "declare -x GIT_WORK_TREE=../../..; git checkout -f",
    "python3 -c \"open('../../../p', 'w')\"",
    "npm --prefix ../../.. install",
)
WITHIN = (
    "env -C sub touch x",
    "make -C sub",
    "ln -s sub up",
    "python3 -c \"open('sub/p', 'w')\"",
    "export GIT_PAGER=cat; git log",
    ". ../../../activate",
)


@pytest.mark.parametrize("command", [*OUT, *WITHIN])
async def test_no_mode_lets_it_out_of_its_tree_unasked(tmp_path: Path, command: str) -> None:
    at = Checkout(tmp_path)
    at.put("activate", "true\n")
    before = at.state()
    given = {"description": "look", "prompt": "do it", "isolation": "worktree"}
    bash = f"call[b]: Bash {json.dumps({'command': command})}"
    script = [f"call[c1]: Agent {json.dumps(given)}", bash, "say: x", "say: fine"]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        made.session.submit("go")
        if command in OUT:
            asked = await made.asked()
            assert "your own checkout" in asked.ask.reason
            made.answer(asked, "no")
        await made.ended()
        told = [(e.behavior, e.answer) for e in made.seen.of(Decided) if e.tool == "Bash"]
        assert told == [("deny", "no") if command in OUT else ("allow", "")]
        assert len(made.seen.of(Asked)) == (command in OUT)
    assert at.state() == before
