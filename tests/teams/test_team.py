"""A team in a whole session: its own list and mail, who takes what, and what the dead leave."""

from __future__ import annotations

import asyncio
import io
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.extensions.teams.team_session import LOOK
from gatewright.agent.frontends import background, plain
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import AgentFinished, UserMessage
from gatewright.agent.teams.team import Mail, TeamError, TeamFolder
from gatewright.agent.teams.turns import next_for
from gatewright.agent.transcript.reader import read_transcript
from gatewright.tools.system.lifetimes import Lifetime, ours
from gatewright.tools.system.sweep import started_at
from gatewright.tools.tasks.tasklist import Holder, opened_in
from tests.fakes.model_server import ModelServer
from tests.fakes.scripted_provider import Answer, read_script
from tests.fakes.waiting import PATIENCE, eventually
from tests.permissions import composed
from tests.permissions.composed import ID, Desk, desk

TEAM = {"team": True}
CREATE = 'call[t]: TeamCreate {"team_name": "web", "description": "builds"}'


def folder(tmp_path: Path) -> TeamFolder:
    return TeamFolder(tmp_path / "home/.gatewright/teams" / ID)


async def test_without_the_setting_it_says_how(tmp_path: Path) -> None:
    async with desk(tmp_path, (CREATE, "say: done")) as made:
        made.session.submit("go")
        assert "--team or the setting agents.teams" in await made.finished("t")
        await made.ended()
        assert "TeamCreate" not in [tool["name"] for tool in made.server.bodies[0]["tools"]]


async def test_one_is_begun_and_ended(tmp_path: Path) -> None:
    script = (
        CREATE,
        CREATE.replace("[t]", "[u]"),
        'call[c]: TaskCreate {"subject": "one"}',
        "call[d]: TeamDelete {}",
        "call[e]: TeamDelete {}",
        "say: done",
    )
    async with desk(tmp_path, script, options=TEAM) as made:
        made.session.submit("go")
        assert "The team web is begun" in await made.finished("t")
        assert "has the team web already" in await made.finished("u")
        await made.finished("c")
        assert "is ended" in await made.finished("d")
        assert "has no team" in await made.finished("e")
        await made.ended()
    assert not folder(tmp_path).path.exists()


async def test_a_session_that_goes_on_leads_its_team_again(tmp_path: Path) -> None:
    script = (
        CREATE,
        'call[c]: TaskCreate {"subject": "one"}',
        member("ann"),
        "say: begun",
        "say: from ann",
    )
    async with desk(tmp_path, script, options=TEAM) as made:
        made.session.submit("go")
        await made.ended()
    with opened_in(folder(tmp_path).path) as tasks:
        assert tasks.tasks["1"].holder is None, "whoever held it is gone"
    again = {**TEAM, "resume": ID}
    async with desk(tmp_path, ("call[l]: TaskList {}", "say: seen"), options=again) as made:
        made.session.submit("what is there?")
        assert await made.finished("l") == "#1 [pending] one"
        await made.ended()
        assert any("You lead the team web (ann)" in text for text in made.words(0))
        roll = folder(tmp_path).roll
        assert roll is not None and roll.lead.is_us()


def another_process() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


async def test_what_the_dead_of_another_process_held_is_free_within_five_seconds(
    tmp_path: Path,
) -> None:
    """Nothing happens in the session meanwhile: it looks by itself, and the idle one takes it."""
    assert LOOK < 5
    at = folder(tmp_path)
    other = another_process()
    theirs = Holder(Lifetime(other.pid, started_at(other.pid)), "main/a9")
    script = (CREATE, 'call[c]: TaskCreate {"subject": "one"}', 'call[h]: TaskList {}', "say: made",
              member("ann"), "say: begun", "say: hello", "say: from ann", "say: on it")  # fmt: skip
    try:
        async with desk(tmp_path, script, options=TEAM) as made:
            made.session.submit("go")
            await made.ended()
            with opened_in(at.path) as tasks:
                tasks.claim(tasks.tasks["1"], theirs, "they")
            made.session.submit("start ann")
            await made.seen.until(AgentFinished)
            assert "they" in (at.path / "tasks.json").read_text(encoding="utf-8")
            other.kill()
            other.communicate()
            await eventually(lambda: '"ann"' in (at.path / "tasks.json").read_text("utf-8"))
    finally:
        other.kill()
        other.communicate()


def test_mail_comes_once_and_in_order(tmp_path: Path) -> None:
    at = TeamFolder(tmp_path)
    at.send("ann", Mail("bob", "one"))
    with (tmp_path / "mail/ann.jsonl").open("ab") as torn:
        torn.write(b'{"torn')
    at.send("ann", Mail("bob", "two"))
    assert [mail.text for mail in at.take("ann")] == ["one", "two"] and at.take("ann") == []
    assert (tmp_path / "mail/ann.bad").read_bytes() == b'{"torn\n'
    for number in range(100):
        at.send("ann", Mail("bob", str(number)))
    with pytest.raises(TeamError, match="100 messages wait for ann"):
        at.send("ann", Mail("bob", "more"))
    with pytest.raises(TeamError, match="100,000 characters"):
        at.send("ann", Mail("bob", "x" * 100_001))


def test_its_own_task_then_the_next_free_one(tmp_path: Path) -> None:
    at, who = TeamFolder(tmp_path), Holder(ours(), "main/a1")
    with opened_in(tmp_path) as tasks:
        one, two = tasks.add("one", "do it", ""), tasks.add("two", "", "")
        tasks.block(two, one.id)
    nudged: dict[str, int] = {}
    first = next_for(at, "ann", who, nudged)
    assert first.task == "1" and "do it" in first.text
    assert next_for(at, "bob", Holder(ours(), "main/a2"), {}).text == ""
    for _ in range(3):
        assert "not completed task #1" in next_for(at, "ann", who, nudged).text
    last = next_for(at, "ann", who, nudged)
    assert last.text == "" and last.gave_up == "1"
    assert next_for(at, "bob", Holder(ours(), "main/a2"), {}).task == "1"


class Builders(ModelServer):
    """Answers by what it is asked: a lead that begins a team of four, and members that build."""

    def __init__(self, lead: Sequence[str]) -> None:
        super().__init__()
        self.steps = 0
        self.written: set[str] = set()
        self.held, self.at_work = True, 0  # no task gets done; how often bob was given one
        self._lead = [read_script(text)[0] for text in lead]

    def _next(self) -> Answer | None:
        self.steps += 1
        messages = self.bodies[-1]["messages"]
        said = [text for message in messages for text in texts(message)]
        mine = [found for text in said if (found := re.search(r"Task #(\d+) of your team", text))]
        if not any("You are a builder" in text for text in said):
            return self._lead.pop(0) if self._lead else read_script("say: ok")[0]
        if not mine or "Message from" in said[-1]:
            return read_script("say: ready")[0]
        if self.held:
            bob = any("You are bob" in text for text in said)
            self.at_work += bob
            return read_script(f"wait: {f'bob {self.at_work}' if bob else 'others'}\nsay: later")[0]
        id = mine[-1][1]
        after = said[max(n for n, text in enumerate(said) if f"Task #{id} of your team" in text) :]
        return read_script(self._step(id, " ".join(after)))[0]

    def _step(self, id: str, after: str) -> str:
        name = FILES[int(id) - 1]
        if "[completed]" in after:
            return "say: done"
        if id in self.written:
            done = json.dumps({"taskId": id, "status": "completed"})
            return f"call[u{id}-{self.steps}]: TaskUpdate {done}"
        self.written.add(id)
        given = json.dumps({"file_path": f"pack/{name}", "content": CONTENT[name]})
        return f"call[w{id}-{self.steps}]: Write {given}"


def texts(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    if isinstance(content, str):
        return [content]
    found: list[str] = []
    for block in content:
        inner = block.get("content", block.get("text", ""))
        found.append(inner if isinstance(inner, str) else json.dumps(inner))
    return [text for text in found if text]


CONTENT = {
    **{f"part{n}.py": f"def value() -> int:\n    return {n}\n" for n in range(1, 7)},
    "total.py": "from pack import part1, part2, part3, part4, part5, part6\n\n\n"
    "def total() -> int:\n    parts = (part1, part2, part3, part4, part5, part6)\n"
    "    return sum(part.value() for part in parts)\n",
    "test_total.py": "from pack.total import total\n\n\ndef test_total() -> None:\n"
    "    assert total() == 21\n",
}
FILES = list(CONTENT)
MEMBERS = ("ann", "bob", "cem", "dia")


def tasks() -> list[str]:
    made = [
        f"call[c{n}]: TaskCreate {json.dumps({'subject': f'write pack/{name}'})}"
        for n, name in enumerate(FILES, start=1)
    ]
    waits = json.dumps({"taskId": "7", "addBlockedBy": ["1", "2", "3", "4", "5", "6"]})
    return [*made, f"call[b1]: TaskUpdate {waits}",
            'call[b2]: TaskUpdate {"taskId": "8", "addBlockedBy": ["7"]}']  # fmt: skip


def member(name: str) -> str:
    prompt = f"You are a builder of the team. You are {name}."
    given = {"description": "build", "prompt": prompt, "name": name, "run_in_background": True}
    return f"call[{name}]: Agent {json.dumps(given)}"


async def killed(made: Desk, at: TeamFolder, name: str, time: int) -> None:
    """Its run is stopped in the middle of a task, which is free then; told so, it goes on."""
    agents = made.session.part(Agents)
    assert agents is not None
    session = agents.opened()
    await made.server.reached(f"{name} {time}")
    life = session.crew.living(name)
    assert life is not None and held(at, life.path), "it has a task"
    session.crew.stop(life, "agent")
    await life.gone.wait()
    await eventually(lambda: not held(at, life.path))
    await session.mail.send("main", name, "Go on, please.")


def held(at: TeamFolder, path: str) -> list[str]:
    with opened_in(at.path) as tasks:
        return [task.id for task in tasks.held_by(Holder(ours(), path))]


def finished(at: TeamFolder) -> bool:
    with opened_in(at.path) as tasks:
        return all(task.status == "completed" for task in tasks.tasks.values())


async def test_four_build_a_package_and_one_of_them_is_killed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead = [CREATE, *tasks(), *(member(name) for name in MEMBERS), "say: begun"]

    def builders(script: str) -> Builders:
        del script
        return Builders(lead)

    monkeypatch.setattr(composed, "ModelServer", builders)
    at = folder(tmp_path)
    async with desk(tmp_path, (), mode="bypassPermissions", options=TEAM) as made:
        made.session.submit("Build the package.")
        await made.ended()
        assert isinstance(made.server, Builders)
        for time in (1, 2):
            await killed(made, at, "bob", time)
        made.server.held = False
        made.server.release("others")
        await eventually(lambda: finished(at))
        assert at.roll is not None and set(at.roll.members) == set(MEMBERS)
        await eventually(lambda: len(completions(made)) == len(FILES))
        assert set(completions(made).values()) == {1}, "a task was done twice"
        stopped = [event for event in made.seen.of(AgentFinished) if event.status == "stopped"]
        assert [event.name for event in stopped] == ["bob", "bob"]
    package = made.project / "pack"
    assert {path.name for path in package.glob("*.py")} >= set(FILES)
    assert "1 passed" in (said := said_by_its_tests(made.project)), said


async def test_print_mode_ends_with_the_last_task_and_waits_for_nobody_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would wait ten minutes for agents at work; members that have nothing to do are none."""
    server = Builders([CREATE, *tasks(), member("ann"), member("bob"), "say: begun"])
    server.held = False

    def builders(script: str) -> Builders:
        del script
        return server

    monkeypatch.setattr(composed, "ModelServer", builders)
    out, err = io.StringIO(), io.StringIO()
    options = LaunchOptions(prompt="Build the package.", print_mode=True)
    async with desk(tmp_path, (), mode="bypassPermissions", options=TEAM) as made:
        assert background.wait_seconds(made.session) == 600
        async with asyncio.timeout(PATIENCE):
            assert await plain.run(made.session, options, out, err) == 0
        assert finished(folder(tmp_path))
    assert "Stopped" not in err.getvalue() and out.getvalue() == "ok\n"


def completions(made: Desk) -> Counter[str]:
    """How often each task was completed, by the results that members were given."""
    found: set[tuple[str, str]] = set()
    for body in made.server.bodies:
        for block in (each for message in body["messages"] for each in blocks(message)):
            done = re.search(r"#(\d+) \[completed\]", json.dumps(block.get("content", "")))
            if block.get("tool_use_id", "").startswith("u") and done:
                found.add((done[1], block["tool_use_id"]))
    return Counter(id for id, _ in found)


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [] if isinstance(content, str) else content


def said_by_its_tests(project: Path) -> str:
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "pack"]
    return subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False).stdout


async def test_a_task_comes_as_the_words_of_an_agent(tmp_path: Path) -> None:
    """One of them wrote it: not this program, and not the person."""
    script = (
        CREATE,
        'call[c]: TaskCreate {"subject": "one"}',
        member("ann"),
        *(f"say: word {n}" for n in range(30)),  # of whoever asks next
    )
    async with desk(tmp_path, script, options=TEAM) as made:
        made.session.submit("go")
        await made.seen.until(AgentFinished, count=2)
    (file,) = tmp_path.rglob("agents/*.jsonl")
    said = [e.event for e in read_transcript(file).branch if isinstance(e.event, UserMessage)]
    (task,) = [each for each in said if "Task #1 of your team" in str(each.content)]
    assert task.source == "agent"
