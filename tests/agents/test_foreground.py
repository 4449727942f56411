"""The turn and its agents: moved to the background, ended with it, asking side by side, apart."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AgentStarted,
    Asked,
    ToolFinished,
)
from tests.agents.test_agent_tool import agent, asked
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import WITHIN, desk


def many(count: int) -> str:
    calls = [agent(f"task number {n}.", name=f"n{n}") for n in range(count)]
    return "\n".join(call.replace("c1", f"c{n}") for n, call in enumerate(calls))


def asks(event: AgentProgressed) -> bool:
    return event.state == "asks" and event.phase == "waiting"


async def test_to_the_background_the_same_run_goes_on(tmp_path: Path) -> None:
    script = [agent("look"), "wait: gate\nsay: found", "say: going on", "say: heard"]
    async with desk(tmp_path, script) as opened:
        opened.session.submit("go")
        await opened.server.reached("gate")
        assert opened.session.to_background() == 1
        assert "sent it to the background" in await opened.finished("c1")
        (done,) = opened.seen.of(ToolFinished)
        assert done.data["status"] == "async_launched"
        opened.server.release("gate")
        end = await opened.seen.until(AgentFinished, within=WITHIN)
        assert (end.background, end.report) == (True, "found")
        await opened.session.idle()
        assert len([b for b in opened.server.bodies if "look" in str(b["messages"][0])]) == 1


async def test_an_interrupt_ends_them_and_keeps_what_is_done(tmp_path: Path) -> None:
    async with desk(tmp_path, [many(3), "say: on"]) as opened:
        opened.server.tasks["task number 0."] = list(read_script("say: done"))
        for n in (1, 2):
            opened.server.tasks[f"task number {n}."] = list(
                read_script('say: so far\ncall: Read {"file_path": "x"}\n---\nwait: never\nsay: x')
            )
        opened.session.submit("go")
        await opened.server.reached("never")
        await opened.seen.until(AgentFinished)
        opened.session.interrupt()
        await opened.ended()
        assert (await opened.finished("c0")).startswith("done\n")
        for n in (1, 2):
            told = await opened.finished(f"c{n}")
            assert told.startswith("so far\n[Interrupted")
            assert "agentId: a" in told
        ends = {event.call_id: event.status for event in opened.seen.of(AgentFinished)}
        assert ends == {"c0": "completed", "c1": "stopped", "c2": "stopped"}


async def test_five_ask_at_once_and_each_has_its_own_answer(tmp_path: Path) -> None:
    async with desk(tmp_path, [many(5), "say: all"]) as opened:
        for n in range(5):
            text = f'call: Bash {{"command": "mkdir made{n}"}}\n---\nsay: ok'
            opened.server.tasks[f"task number {n}."] = list(read_script(text))
        opened.session.submit("go")
        await opened.seen.until(AgentProgressed, where=asks, count=5, within=WITHIN)
        for number in range(1, 6):
            question = await opened.asked(number)
            assert len(opened.seen.of(Asked)) == number, "one at a time"
            command = question.ask.title.rpartition("made")[2]
            opened.answer(question, "once" if int(command) % 2 == 0 else "no")
        await opened.ended()
        made = sorted(path.name for path in opened.project.glob("made*"))
        assert made == ["made0", "made2", "made4"]
        refused = {event.call_id: event.refused for event in opened.seen.of(AgentFinished)}
        assert refused == {f"c{n}": n % 2 for n in range(5)}


async def test_apart_from_the_checkout(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    (project / "a.txt").write_text("one\n", encoding="utf-8")
    git(project, "add", "a.txt")
    git(project, "commit", "-qm", "begin")
    write = {"file_path": "made.txt", "content": "by it\n"}
    script = [
        agent("write", isolation="worktree"),
        f"call: Write {json.dumps(write)}",
        "say: written",
        "say: done",
    ]
    async with desk(tmp_path, script, mode="acceptEdits") as opened:
        await asked(opened)
        (end,) = opened.seen.of(AgentFinished)
        assert end.status == "completed", await opened.finished("c1")
        assert end.worktree, await opened.finished("c1")
        assert (Path(end.worktree) / "made.txt").read_text(encoding="utf-8") == "by it\n"
        assert not (project / "made.txt").exists()
        told = await opened.finished("c1")
        assert end.worktree in told
        assert end.branch in told
        (done,) = opened.seen.of(ToolFinished)
        assert done.data["worktreePath"] == end.worktree
        assert len(opened.seen.of(AgentStarted)) == 1


async def test_a_file_that_another_agent_changed_is_stale_and_says_who(tmp_path: Path) -> None:
    edit = {"file_path": "a.txt", "old_string": "two", "new_string": "three"}
    own = {"file_path": "a.txt", "old_string": "one", "new_string": "two"}
    script = [
        'call: Read {"file_path": "a.txt"}',
        agent("change it"),
        'call: Read {"file_path": "a.txt"}',
        f"call: Edit {json.dumps(own)}",
        "say: changed",
        f"call[e1]: Edit {json.dumps(edit)}",
        "say: oh",
    ]
    async with desk(tmp_path, script, mode="acceptEdits") as opened:
        (opened.project / "a.txt").write_text("one\n", encoding="utf-8")
        await asked(opened)
        (started,) = opened.seen.of(AgentStarted)
        id = started.child.rpartition("/")[2]
        assert f"changed since it was read, by agent {id}." in await opened.finished("e1")
        assert (opened.project / "a.txt").read_text(encoding="utf-8") == "two\n"


async def test_stopping_one_says_what_it_did(tmp_path: Path) -> None:
    script = [agent("look", run_in_background=True), "say: going on", "say: stopped"]
    async with desk(tmp_path, script) as opened:
        text = 'say: so far\ncall: Read {"file_path": "x"}\n---\nwait: never\nsay: x'
        opened.server.tasks["look"] = list(read_script(text))
        await asked(opened)
        await opened.server.reached("never")
        (started,) = opened.seen.of(AgentStarted)
        id = started.child.rpartition("/")[2]
        stop = f'call[s1]: TaskStop {{"task_id": "{id}"}}\n---\nsay: ok'
        opened.server.tasks["go"] = list(read_script(stop))
        opened.session.submit("stop it")
        told = await opened.finished("s1")
        assert told.startswith(f"{id} was stopped.\n")
        assert "so far" in told
        await opened.session.idle()


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)
