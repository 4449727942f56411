"""What becomes of a session's agents where the session is copied, written out or let go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.agents.copied import PART, copy_agents
from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.record.events import AgentFinished
from gatewright.agent.record.hub import Subscription
from gatewright.agent.subcommands.sessions import Format, export
from gatewright.agent.transcript.reader import read_transcript
from gatewright.agent.transcript.upkeep import DAY, delete, let_go
from tests.agents.test_agent_tool import agent, asked
from tests.agents.test_going_on import AGAIN, again, ids, message
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import ID, desk

COPY: Mapping[str, Any] = {**AGAIN, "fork_session": True}


async def one_with_an_agent(folder: Path) -> str:
    """A stored session; the id of the agent in it."""
    script = [agent("look", name="scout"), "say: found it", "say: done"]
    async with desk(folder, script) as opened:
        await asked(opened)
        (id,) = ids(opened)
    return id


def below(folder: Path) -> list[Path]:
    """Everything of agents, of all sessions."""
    projects = folder / "home" / ".gatewright" / "projects"
    return sorted(path for path in projects.glob("*/*/agents/*") if path.is_file())


def session_file(folder: Path) -> Path:
    (found,) = (folder / "home" / ".gatewright" / "projects").glob(f"*/{ID}.jsonl")
    return found


async def seen(watching: Subscription) -> str:
    return str([envelope.event async for envelope in watching])


async def test_a_copy_has_agents_of_its_own(tmp_path: Path) -> None:
    id = await one_with_an_agent(tmp_path)
    (original,) = below(tmp_path)
    before = original.read_bytes()
    async with desk(
        tmp_path, [message("scout"), "say: sent", "say: heard"], options=COPY
    ) as opened:
        assert below(tmp_path) == [original], "nothing before somebody speaks"
        assert "found it" in await seen(await opened.session.watch(f"main/{id}"))
        opened.server.tasks["look"] = list(read_script("say: more"))
        await again(opened)
        end = await opened.seen.until(AgentFinished, count=2)
        assert (end.child, end.report) == (f"main/{id}", "more")
        copy = original.parents[2] / opened.session.id / "agents" / original.name
    assert below(tmp_path) == sorted([original, copy])
    assert original.read_bytes() == before, "the other session's stays as it is"
    assert copy.read_bytes().startswith(before)
    ends = [e.event for e in read_transcript(copy).branch if isinstance(e.event, AgentFinished)]
    assert [each.report for each in ends] == ["found it", "more"]


async def test_a_copy_nobody_spoke_in_leaves_none(tmp_path: Path) -> None:
    await one_with_an_agent(tmp_path)
    before = below(tmp_path)
    async with desk(tmp_path, [], options=COPY):
        pass
    assert below(tmp_path) == before


async def test_the_copy_of_a_copy_has_them_too(tmp_path: Path) -> None:
    id = await one_with_an_agent(tmp_path)
    async with desk(tmp_path, ["say: oh"], options=COPY) as opened:
        await again(opened)
        first = opened.session.id
    delete(session_file(tmp_path))
    options = {"resume": first, "fork_session": True}
    async with desk(tmp_path, ["say: oh"], options=options) as opened:
        await again(opened)
        agents = opened.session.part(Agents)
        assert agents is not None
        assert agents.opened().crew.roster.by_id(id) is not None
        second = opened.session.id
    assert [path.parents[1].name for path in below(tmp_path)] == sorted([first, second])


def test_copying_again_or_over_what_went_on_changes_nothing(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    for name in ("a1", "a2"):
        (source / f"{name}.jsonl").write_text(name, encoding="utf-8")
    (source / "a3.jsonl").symlink_to("/etc/passwd")
    (source / "a1.stop").write_text("", encoding="utf-8")
    (target / "a2.jsonl").write_text("a2 and more", encoding="utf-8")
    (target / f"a1{PART}").write_text("half", encoding="utf-8")
    for _ in range(2):
        copy_agents(source, target)
        found = {path.name: path.read_text(encoding="utf-8") for path in target.iterdir()}
        assert found == {"a1.jsonl": "a1", "a2.jsonl": "a2 and more"}


async def test_they_go_with_their_session(tmp_path: Path) -> None:
    await one_with_an_agent(tmp_path)
    file = session_file(tmp_path)
    assert below(tmp_path)
    now = file.stat().st_mtime + 31 * DAY
    assert let_go(tmp_path / "home" / ".gatewright", days=30, now=now) == [file]
    assert below(tmp_path) == []


@pytest.mark.parametrize("format", list(Format))
async def test_they_are_written_out_where_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    format: Format,
) -> None:
    id = await one_with_an_agent(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "project")
    (below(tmp_path)[0].parent / "a0.jsonl").write_bytes(b"{oops\n")
    texts: list[str] = []
    for agents in (False, True):
        export(ID, format, agents=agents)
        printed = capsys.readouterr()
        texts.append(printed.out)
        assert ("a0.jsonl" in printed.err) is agents, "what is left out is said"
    alone, whole = texts
    if format is Format.JSON:
        assert "agents" not in json.loads(alone)
        (told,) = json.loads(whole)["agents"]
        assert told["session"]["id"] == id
        assert "found it" in json.dumps(told["events"])
    else:
        title = f"Agent {id}: scout, look around"
        assert title not in alone
        assert title in whole
        assert whole.rpartition(title)[2].count("found it") == 1
        assert whole.endswith("</body></html>\n") is (format is Format.HTML)
