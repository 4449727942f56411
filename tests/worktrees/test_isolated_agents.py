"""Agents with a work tree of their own: where they work, what stays, and never without one."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.record.events import AgentFinished
from tests.permissions.composed import desk
from tests.worktrees.ground import Checkout

WRITE = 'call[w]: Write {"file_path": "new.txt", "content": "x"}'
PWD = 'call[p]: Bash {"command": "pwd"}'


def agent(**fields: object) -> str:
    given = {"description": "look", "prompt": "do it", "isolation": "worktree", **fields}
    return f"call[c1]: Agent {json.dumps(given)}"


async def test_what_it_did_stays_and_is_named(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    before = at.state()
    script = [agent(), WRITE, "say: it is done", "say: fine"]
    async with desk(tmp_path, script, mode="acceptEdits") as made:
        made.session.submit("go")
        await made.ended()
        (ended,) = made.seen.of(AgentFinished)
        id = ended.child.rpartition("/")[2]
        tree = at.root / ".gatewright/worktrees" / f"agent-{id}"
        assert (ended.worktree, ended.branch) == (str(tree), f"worktree/agent-{id}")
        assert str(tree) in await made.finished("c1")
        assert any(f"work tree of your own, {tree}" in text for text in made.words(1))
    assert (tree / "new.txt").exists() and at.state() == before


async def test_one_that_changed_nothing_leaves_nothing(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    script = [agent(), PWD, "say: seen", "say: fine"]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.ended()
        (ended,) = made.seen.of(AgentFinished)
        assert (ended.worktree, ended.status) == ("", "completed")
        id = ended.child.rpartition("/")[2]
        assert f"worktrees/agent-{id}" in made.words(2)[-1]
    assert not (at.root / ".gatewright/worktrees" / f"agent-{id}").exists()
    assert "agent-" not in at.git("branch", "-a")


async def test_it_never_starts_without_one(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    async with desk(tmp_path, [agent(), "say: fine"]) as made:
        made.session.submit("go")
        assert "so no work tree can be made" in await made.finished("c1")
        await made.ended()
        assert len(made.server.bodies) == 2, "the agent asked nothing"
