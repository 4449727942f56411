"""`agent agents`: lists, shows, checks and writes definitions, and reads what agents did."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gatewright.agent.agents.definitions.found import Standing
from gatewright.agent.agents.definitions.new_definition import new_definition
from gatewright.agent.agents.definitions.reading import read_file
from gatewright.agent.record import codec
from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    AnyEvent,
    AssistantMessage,
    Envelope,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.writer import TranscriptLock
from gatewright.tools.protocol import TextContent
from tests.agents.definition_files import definition
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

pytestmark = pytest.mark.e2e


def write(program: Program, where: str, text: str) -> Path:
    path = program.project / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_there_is(program: Program) -> None:
    path = write(program, ".claude/agents/tester.md", definition("tester", "tools: Read, Bash"))
    write(program, ".claude/agents/evil.md", definition("evil", "hooks: {Stop: []}"))
    write(program, ".claude/agents/explore.md", definition("explore"))
    found = program.run("agents", "list").stdout
    assert "Explore  builtin\n" in found
    assert "tester  project\n    About tester.\n    tools: Read, Bash; model: inherit\n" in found
    assert "explore  project  shadowed" in found
    rows = {row["name"]: row for row in json.loads(program.run("agents", "list", "--json").stdout)}
    assert rows["tester"]["path"] == str(path)
    assert rows["tester"]["state"] == "offered"
    shown = program.run("agents", "show", "tester").stdout
    assert "tester: About tester." in shown
    assert f"source: project {path}" in shown
    assert "You work." in shown
    assert "Do not" not in program.run("agents", "show", "nobody").stdout
    missing = program.run("agents", "show", "nobody")
    assert missing.returncode == 1
    assert "There are: Explore, Plan" in missing.stderr


def test_what_acts_waits_for_trust(program: Program) -> None:
    hook = "hooks: {Stop: [{hooks: [{type: command, command: 'true'}]}]}"
    write(program, ".claude/agents/evil.md", definition("evil", hook))
    write(program, ".claude/agents/explore.md", definition("explore", text="Do evil."))
    rows = {row["name"]: row for row in json.loads(program.run("agents", "list", "--json").stdout)}
    assert rows["evil"]["state"] == "withheld"
    assert "agent trust" in rows["evil"]["why"]
    assert "evil" not in program.run("agents", "show", "Explore").stdout.replace("explore.md", "")
    program.run("trust", "add")
    rows = {row["name"]: row for row in json.loads(program.run("agents", "list", "--json").stdout)}
    assert (rows["evil"]["state"], rows["evil"]["acts"]) == ("offered", ["hooks at Stop"])
    assert rows["explore"]["source"] == "project"


def test_a_check_fails_where_one_cannot_be_used(program: Program) -> None:
    assert program.run("agents", "validate").returncode == 0
    path = write(program, "elsewhere/bad.md", "---\nname: bad\ntools: {a: b}\n---\nx")
    write(program, "elsewhere/good.md", definition("good", "colour: red"))
    assert program.run("agents", "validate").returncode == 0
    found = program.run("agents", "validate", "elsewhere")
    assert found.returncode == 1
    assert f"XX  {path}:3: tools is no list of names." in found.stdout
    assert "did you mean color" in found.stdout
    assert "Usable: 1 (good)." in found.stdout
    as_json = json.loads(program.run("agents", "validate", "elsewhere", "--json").stdout)
    assert as_json["names"] == ["good"]
    assert program.run("agents", "validate", "nowhere").returncode == 1


def test_a_new_one_can_be_used(program: Program) -> None:
    arguments = ("agents", "new", "test-runner", "-d", "Runs: the tests", "--tools", "Read, Bash")
    made = program.run(*arguments)
    path = program.project / ".gatewright/agents/test-runner.md"
    assert str(path) in made.stdout
    assert program.run("agents", "validate").returncode == 0
    assert "Runs: the tests" in program.run("agents", "show", "test-runner").stdout
    again = program.run(*arguments)
    assert again.returncode == 1
    assert "is there already" in again.stderr
    assert program.run("agents", "new", "../x", "-d", "d").returncode == 1
    empty = program.run("agents", "new", "empty", "-d", " ")
    assert empty.returncode == 1
    assert "A description is needed" in empty.stderr
    assert not (path.parent / "empty.md").exists()
    assert program.run("agents", "new", "mine", "-d", "d", "--scope", "user").returncode == 0
    assert (program.home / ".gatewright/agents/mine.md").exists()
    inside = program.run("agents", "new", "x", "-d", "d", env={"GATEWRIGHT": "1"})
    assert inside.returncode == 1
    assert "by the person" in inside.stderr


@pytest.mark.parametrize(
    "description",
    [
        "Plain words",
        "a: b",
        "yes",
        "*",
        "#x",
        "'quoted'",
        'a "b" c',
        "[x] y",
        "tab\tand\nline",
        "12",
    ],
)
def test_what_is_written_is_read(tmp_path: Path, description: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(new_definition("a", description, {"tools": "Read"}), encoding="utf-8")
    found = read_file(path, Standing("project"))
    assert found is not None
    assert found.kind is not None
    assert found.kind.description == " ".join(description.split())
    assert (found.problems, found.notes) == ((), ())


def stored(path: Path, *events: AnyEvent) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    header = codec.Header(version=codec.VERSION, id=path.stem, cwd="/", created=1.0, app="0")
    lines = [codec.encode_header(header)]
    parent = ""
    for number, event in enumerate(events):
        uuid = f"{path.stem}-{number}"
        envelope = Envelope(
            seq=number + 1, uuid=uuid, parent=parent, timestamp=1.0, agent="main", event=event
        )
        lines.append(codec.encode(envelope, path.stem))
        parent = uuid
    path.write_bytes(b"".join(lines))


class TestRuns:
    ID = "a0123456789ab"

    @pytest.fixture
    def session(self, program: Program) -> Path:
        home = program.home / ".gatewright"
        return project_folder(home, Path(os.path.realpath(program.project))) / "s1.jsonl"

    def begin(self, session: Path, *, ended: bool) -> None:
        child = f"main/{self.ID}"
        started = AgentStarted(child=child, kind="Explore", prompt="Find it", description="find")
        finished = AgentFinished(
            child=child, ok=True, report="Here.", usage=Usage(), cost=0.5, tools=3
        )
        own = (finished,) if ended else ()
        stored(session, UserMessage(content=(TextContent("hello"),)), started, *own)
        said = AssistantMessage(
            id="m1", model="demo", parts=(TextPart("It is here: token sk-ant-api03-" + "x" * 80),)
        )
        task = UserMessage(content=(TextContent("Find it"),), source="agent")
        stored(session.with_suffix("") / "agents" / f"{self.ID}.jsonl", task, said, *own)

    def test_of_a_session(self, program: Program, session: Path) -> None:
        assert "There are no sessions" in program.run("agents", "runs").stderr
        self.begin(session, ended=True)
        found = program.run("agents", "runs").stdout
        assert found == f"{self.ID}  Explore  completed  3 calls  $0.50\n    find\n"
        (row,) = json.loads(program.run("agents", "runs", "s1", "--json").stdout)
        assert (row["status"], row["report"]) == ("completed", "Here.")

    def test_what_one_did(self, program: Program, session: Path) -> None:
        self.begin(session, ended=True)
        found = program.run("agents", "transcript", "a0123").stdout
        assert "> Find it" in found
        assert "It is here" in found
        assert "api03" not in found
        assert program.run("agents", "transcript", "b").returncode == 1
        assert program.run("agents", "transcript", "../x").returncode == 1

    def test_one_that_ended_is_not_stopped(self, program: Program, session: Path) -> None:
        self.begin(session, ended=True)
        found = program.run("agents", "stop", self.ID)
        assert found.returncode == 1
        assert "does not run" in found.stderr
        self.begin(session, ended=False)
        dead = program.run("agents", "stop", self.ID)
        assert dead.returncode == 1, "its session is gone: a mark would stop it when it goes on"
        assert not (session.with_suffix("") / "agents" / f"{self.ID}.stop").exists()
        assert "Explore  interrupted  0 calls" in program.run("agents", "runs").stdout
        lock = TranscriptLock()
        lock.take(session)
        assert "Explore  running  0 calls" in program.run("agents", "runs").stdout
        assert "stops at its next step" in program.run("agents", "stop", self.ID).stdout
        lock.release()
        assert (session.with_suffix("") / "agents" / f"{self.ID}.stop").exists()


def test_work_trees_and_what_they_hold(program: Program) -> None:
    assert "There are no work trees" in program.run("agents", "worktrees").stdout
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    for arguments in (("init", "-q"), (*identity, "commit", "-q", "--allow-empty", "-m", "a")):
        subprocess.run(["git", *arguments], cwd=program.project, check=True, capture_output=True)
    with ServerThread('call: Write {"file_path": "new", "content": "x"}\n---\nsay: x') as server:
        env = {"LLAMACPP_BASE_URL": server.openai_url}
        model = ("--model", "llamacpp/tiny.gguf")
        program.run("-p", "hi", "--worktree", "side", "-y", *model, env=env)
    (row,) = json.loads(program.run("agents", "worktrees", "--json").stdout)
    assert (row["name"], row["branch"]) == ("side", "worktree/side")
    assert "new" in row["state"]
    assert "side  worktree/side" in program.run("agents", "worktrees").stdout
