"""What bound an agent binds it again when it goes on after who started it has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.record.events import AgentFinished, AgentStarted
from tests.agents.test_who_writes import agent, define, heard
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import WITHIN, Desk, desk
from tests.worktrees.ground import Checkout

TWO = agent("two", "general-purpose", "c2")
WRITE = 'call[w]: Write {"file_path": "made.txt", "content": "x"}'
CALL = 'call[m]: SendMessage {"to": "two", "message": "please write made.txt"}'
WORDS = [f"say: word {n}" for n in range(9)]
BOUNDS = {
    "tools": "tools: Read, Agent",
    "a mode": "permissionMode: plan",
    "a denial": "disallowedTools: Write, Edit, Bash",
}


def play(made: Desk, **of: tuple[str, ...]) -> None:
    """Who is told "You are NAME." answers so, whoever else asks the server meanwhile."""
    for name, answers in of.items():
        made.server.tasks[f"You are {name}."] = list(read_script("\n---\n".join(answers)))


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("writes", ["one like it", "main"])
async def test_who_started_it_binds_it_though_that_one_has_ended(
    tmp_path: Path, bound: str, writes: str
) -> None:
    define(tmp_path, "narrow", BOUNDS[bound])
    by = agent("three", "narrow", "c3") if writes != "main" else CALL.replace("[m]", "[c3]")
    script = [agent("one", "narrow", "c1"), by, *WORDS]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        play(made, one=(TWO, "say: one is done"), three=(CALL, "say: three is done"))
        play(made, two=("say: two is done", WRITE, "say: tried", "say: again"))
        made.session.submit("go")
        await made.finished("c3")
        await made.seen.until(
            AgentFinished, where=lambda e: e.name == "two", count=2, within=WITHIN
        )
        assert any("please write made.txt" in text for text in heard(made)), "it went on"
        assert not (tmp_path / "project/made.txt").exists()


async def test_what_may_be_started_is_bound_as_well(tmp_path: Path) -> None:
    define(tmp_path, "lead", "tools: Read, Write, Agent(worker)")
    define(tmp_path, "worker", "tools: Read, Agent")
    script = [agent("one", "lead", "c1"), CALL.replace("[m]", "[c3]"), *WORDS]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        starts = agent("four", "general-purpose", "c4")
        play(made, one=(agent("two", "worker", "c2"), "say: one is done"))
        play(made, two=("say: two is done", starts, "say: tried", "say: again"))
        made.session.submit("go")
        await made.seen.until(
            AgentFinished, where=lambda e: e.name == "two", count=2, within=WITHIN
        )
        assert len(made.seen.of(AgentStarted)) == 3, "nobody else was started"


async def test_it_does_not_go_on_where_that_type_is_gone(tmp_path: Path) -> None:
    define(tmp_path, "narrow", BOUNDS["tools"])
    script = [agent("one", "narrow", "c1"), f"wait: gone\n{CALL}", *WORDS]
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        play(made, one=(TWO, "say: one is done"))
        play(made, two=("say: two is done", WRITE, "say: tried"))
        made.session.submit("go")
        await made.finished("c1")
        (tmp_path / "project/.claude/agents/narrow.md").unlink()
        made.server.release("gone")
        assert "the type narrow, which is not there any more" in await made.finished("m")
        assert not (tmp_path / "project/made.txt").exists()


async def test_it_does_not_leave_the_work_tree_of_who_started_it(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    before = at.state()
    isolated = agent("one", "general-purpose", "c1", isolation="worktree")
    inside = WRITE.replace("made.txt", "kept.txt")
    async with desk(tmp_path, [isolated, CALL, *WORDS], mode="bypassPermissions") as made:
        play(made, one=(TWO, "say: one is done"))
        play(made, two=(inside, "say: two is done", WRITE, "say: tried"))
        made.session.submit("go")
        said = await made.finished("m")
        assert "the work tree of one, which has ended: have that one go on" in said
        await made.session.idle()
    assert at.state() == before
    (tree,) = (at.root / ".gatewright/worktrees").iterdir()
    assert (tree / "kept.txt").exists() and not (tree / "made.txt").exists()
