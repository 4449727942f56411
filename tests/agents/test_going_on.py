"""What a session that goes on knows of the agents of the process before it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.record.events import AgentFinished, AgentStarted, ToolFinished
from gatewright.agent.transcript.reader import read_transcript
from tests.agents.test_agent_tool import agent, asked
from tests.permissions.composed import ID, Desk, desk

AGAIN: Mapping[str, Any] = {"resume": ID}


def files(folder: Path) -> list[Path]:
    return sorted((folder / "home" / ".gatewright" / "projects").glob(f"*/{ID}/agents/*.jsonl"))


def message(to: str, text: str = "and now?") -> str:
    return f"call[m1]: SendMessage {json.dumps({'to': to, 'message': text})}"


def ids(opened: Desk) -> list[str]:
    return [event.child.rpartition("/")[2] for event in opened.seen.of(AgentStarted)]


async def again(opened: Desk) -> None:
    """One more turn; those of the process before are no news."""
    opened.session.submit("so?")
    await opened.session.idle()


async def test_its_file_says_whose_it_is_and_how_it_ended(tmp_path: Path) -> None:
    script = [agent("look", name="scout"), "say: found", "say: done"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        (id,) = ids(opened)
    (file,) = files(tmp_path)
    assert file.stem == id
    stored = read_transcript(file)
    about = stored.header.agent
    assert isinstance(about, dict)
    assert {key: about[key] for key in ("parent", "call", "kind", "name")} == {
        "parent": "main",
        "call": "c1",
        "kind": "general-purpose",
        "name": "scout",
    }
    last = stored.branch[-1].event
    assert isinstance(last, AgentFinished)
    assert (last.status, last.report) == ("completed", "found")


async def test_one_that_ended_goes_on_in_the_next_process(tmp_path: Path) -> None:
    async with desk(tmp_path, [agent("look"), "say: found", "say: done"]) as opened:
        await asked(opened)
        (id,) = ids(opened)
    script = [message(id), "say: sent", "say: more", "say: heard"]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        await again(opened)
        assert "goes on with it" in await opened.finished("m1")
        end = await opened.seen.until(AgentFinished, count=2)
        assert (end.report, end.child) == ("more", f"main/{id}")
        bodies = [json.dumps(body["messages"]) for body in opened.server.bodies]
        assert any("look" in text and "found" in text and "and now?" in text for text in bodies)
    assert len(files(tmp_path)) == 1


async def test_one_that_was_cut_off_is_said_once(tmp_path: Path) -> None:
    script = [agent("look"), "say: I look.\ncall: Read {}\n---\nwait: never\nsay: x"]
    async with desk(tmp_path, script) as opened:
        opened.session.submit("go")
        await opened.server.reached("never")
        (id,) = ids(opened)
        cut = cut_off(tmp_path)
    put_back(tmp_path, cut)
    async with desk(tmp_path, ["say: oh"], options=AGAIN) as opened:
        end = await opened.seen.until(AgentFinished)
        assert (end.status, end.report, end.call_id) == ("interrupted", "I look.", "c1")
        (result,) = [event for event in opened.seen.of(ToolFinished) if event.call_id == "c1"]
        assert "I look." in str(result.content)
        assert id in str(result.content)
        await again(opened)
    async with desk(tmp_path, ["say: oh"], options=AGAIN) as opened:
        await again(opened)
        assert len(opened.seen.of(AgentFinished)) == 1, "and not again"


async def test_one_in_the_background_that_was_cut_off_is_told_to_the_model(tmp_path: Path) -> None:
    script = [agent("look", run_in_background=True), "say: going on", "wait: never\nsay: x"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        await opened.server.reached("never")
        (id,) = ids(opened)
    for turn in range(2):
        async with desk(tmp_path, ["say: oh"], options=AGAIN) as opened:
            await again(opened)
            told = [text for text in opened.words(0) if text.startswith(f"Agent {id}")]
            assert len(told) == 1, f"once, in turn {turn}"
            assert "stopped" in told[0]


async def test_whom_the_person_stopped_only_the_person_wakes_in_the_next_process_too(
    tmp_path: Path,
) -> None:
    script = [agent("look", run_in_background=True), "say: going on", "wait: never\nsay: x"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        await opened.server.reached("never")
        (id,) = ids(opened)
        agents = opened.session.part(Agents)
        assert agents is not None
        assert await agents.stop(f"main/{id}")
    script = [message(id), "say: sent", "say: heard the person"]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        await again(opened)
        assert "only when the person writes to it" in await opened.finished("m1")
        agents = opened.session.part(Agents)
        assert agents is not None
        await agents.say(f"main/{id}", "go on")
        end = await opened.seen.until(AgentFinished, where=lambda e: e.status == "completed")
        assert end.report == "heard the person"
        assert end.stopped_by == ""


def cut_off(folder: Path) -> dict[Path, bytes]:
    """What is on the disk in this moment."""
    found = (folder / "home" / ".gatewright" / "projects").rglob("*.jsonl")
    return {path: path.read_bytes() for path in found}


def put_back(folder: Path, files: Mapping[Path, bytes]) -> None:
    for path in (folder / "home" / ".gatewright" / "projects").rglob("*.jsonl"):
        path.write_bytes(files.get(path, b""))
