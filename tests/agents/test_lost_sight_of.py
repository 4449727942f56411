"""Agents whose start the conversation no longer holds: summarised, gone back behind, or deeper."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.agents.lineage import told_in
from gatewright.agent.agents.roster import Member
from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.record.events import AgentFinished, AgentStarted
from tests.agents.test_agent_tool import agent, asked
from tests.agents.test_going_on import AGAIN, again, cut_off, ids, message, put_back
from tests.fakes.scripted_provider import read_script
from tests.fakes.waiting import eventually
from tests.permissions.composed import ID, Desk, desk

TASK = "a deep look"
STARTED = [agent(TASK, name="scout", run_in_background=True), "say: going on"]


def member(opened: Desk, id: str) -> Member:
    agents = opened.session.part(Agents)
    assert agents is not None
    found = agents.opened().crew.roster.by_id(id)
    assert found is not None
    return found


def notices(opened: Desk, id: str) -> list[str]:
    """What the model was told by itself, in the last request it had."""
    return [text for text in opened.words(-1) if text.startswith(f"Agent {id}")]


def main_file(folder: Path) -> Path:
    (found,) = (folder / "home" / ".gatewright" / "projects").glob(f"*/{ID}.jsonl")
    return found


async def summarised(opened: Desk) -> None:
    """Once there is enough to be worth it."""
    for turn in range(2):
        opened.session.submit(f"hello {turn} " + "word " * 3_000)
        await opened.session.idle()
    await opened.session.past.compact()


async def started(opened: Desk, answer: str = "wait: gate\nsay: found") -> str:
    """One in the background, held or at once done as its own answer says; its id."""
    opened.server.tasks[TASK] = list(read_script(answer))
    opened.session.submit("go")
    await opened.seen.until(AgentStarted)
    (id,) = ids(opened)
    return id


async def test_one_that_was_started_before_a_summary_goes_on(tmp_path: Path) -> None:
    script = [agent(TASK, name="scout"), "say: done", "say: 1", "say: 2", "say: so far"]
    async with desk(tmp_path, script) as opened:
        id = await started(opened, "say: found")
        await summarised(opened)
    script = [message("scout"), "say: sent", "say: heard"]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        assert not opened.seen.of(AgentStarted), "the summary took its start away"
        opened.server.tasks[TASK] = list(read_script("say: more"))
        await again(opened)
        assert "goes on with it" in await opened.finished("m1")
        end = await opened.seen.until(AgentFinished)
        assert (end.report, end.child) == ("more", f"main/{id}")


async def test_one_that_was_cut_off_behind_a_summary_is_told_once(tmp_path: Path) -> None:
    async with desk(tmp_path, [*STARTED, "say: 1", "say: 2", "say: so far"]) as opened:
        id = await started(opened)
        await opened.server.reached("gate")
        await opened.session.idle()
        await summarised(opened)
        cut = cut_off(tmp_path)
    put_back(tmp_path, cut)
    for turn in range(2):
        async with desk(tmp_path, ["say: oh"], options=AGAIN) as opened:
            assert member(opened, id).status == "interrupted"
            await again(opened)
            assert len(notices(opened, id)) == 1, f"once, in turn {turn}"


async def test_one_that_another_agent_started_goes_on(tmp_path: Path) -> None:
    async with desk(tmp_path, [agent("outer"), "say: done"]) as opened:
        opened.server.tasks["outer"] = list(read_script(f"{agent('inner')}\n---\nsay: outside"))
        opened.server.tasks["inner"] = list(read_script("say: inside"))
        await asked(opened)
        inner = next(e.child for e in opened.seen.of(AgentStarted) if e.prompt == "inner")
    script = [message(inner.rpartition("/")[2]), "say: sent", "say: heard"]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        known = member(opened, inner.rpartition("/")[2])
        assert (known.path, known.status, known.kind) == (inner, "completed", "general-purpose")
        opened.server.tasks["inner"] = list(read_script("say: more"))
        await again(opened)
        end = await opened.seen.until(AgentFinished, where=lambda one: one.child == inner)
        assert end.report == "more"


async def test_going_back_behind_a_start_silences_it(tmp_path: Path) -> None:
    script = ["say: hello", *STARTED, "say: other", message("scout"), "say: sent", "say: heard"]
    async with desk(tmp_path, script) as opened:
        opened.session.submit("hello")
        await opened.ended()
        id = await started(opened)
        await opened.server.reached("gate")
        await opened.session.idle()
        points = opened.session.past.points()
        await opened.session.past.go_back(points[1].id, "talk")
        assert member(opened, id).orphaned
        opened.server.release("gate")
        await opened.seen.until(AgentFinished)
        await again(opened)
        assert notices(opened, id) == [], "its start never was, for the model"
        opened.server.tasks[TASK] = list(read_script("say: more"))
        await again(opened)
        assert "goes on with it" in await opened.finished("m1"), "who asks can go on with it"
        await opened.seen.until(AgentFinished, count=2)
        assert not member(opened, id).orphaned


async def test_taking_the_going_back_back_tells_what_ended_meanwhile(tmp_path: Path) -> None:
    async with desk(tmp_path, [*STARTED, "say: heard"]) as opened:
        id = await started(opened)
        await opened.server.reached("gate")
        await opened.session.idle()
        await opened.session.past.go_back(opened.session.past.points()[0].id, "talk")
        opened.server.release("gate")
        await opened.seen.until(AgentFinished)
        assert member(opened, id).orphaned
        await opened.session.past.undo()
        assert not member(opened, id).orphaned
        await eventually(lambda: len(notices(opened, id)) == 1)
        await opened.session.idle()
        await opened.session.past.go_back(opened.session.past.points()[0].id, "talk")
        await opened.session.past.undo()
        await opened.session.idle()
        assert len(notices(opened, id)) == 1, "who was told is not told again"


async def test_the_next_process_knows_where_it_went_back_to(tmp_path: Path) -> None:
    async with desk(tmp_path, [*STARTED, "say: heard"]) as opened:
        id = await started(opened, "say: found")
        await opened.seen.until(AgentFinished)
        await eventually(lambda: len(notices(opened, id)) == 1)
        await opened.session.idle()
        await opened.session.past.go_back(opened.session.past.points()[0].id, "talk")
    async with desk(tmp_path, ["say: oh"], options=AGAIN) as opened:
        assert member(opened, id).orphaned
        assert member(opened, id).status == "completed"
        await opened.session.past.undo()
        assert not member(opened, id).orphaned
        await again(opened)
    async with desk(tmp_path, ["say: oh"], options=AGAIN) as opened:
        assert not member(opened, id).orphaned
        await again(opened)
        assert len(notices(opened, id)) == 1


async def test_a_line_that_was_lost_costs_that_line(tmp_path: Path) -> None:
    async with desk(tmp_path, [*STARTED, "say: heard"]) as opened:
        id = await started(opened, "say: found")
        await eventually(lambda: len(notices(opened, id)) == 1)
        await opened.session.idle()
    file = main_file(tmp_path)
    lines = file.read_bytes().split(b"\n")
    at = next(n for n, line in enumerate(lines) if b'"agent_started"' in line)
    whole = told_in(file)
    for lost in range(at + 1, len(lines) - 1):
        file.write_bytes(b"\n".join([*lines[:lost], lines[lost][:40], *lines[lost + 1 :]]))
        assert told_in(file).lineage.here() == whole.lineage.here() == {id}
