"""Our tools for other clients: the SDK's client over memory streams, a real session behind it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from gatewright.agent.build import open_session
from gatewright.agent.client.brought import NOTHING, Brought
from gatewright.agent.launch.exits import UsageError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.agent.subcommands.serving.process import options_of
from gatewright.agent.subcommands.serving.session_calls import SessionCalls
from gatewright.agent.transcript.index import list_sessions
from gatewright.agent.version import VERSION
from gatewright.mcp.talk.serving import MOST_CALLS, serve
from gatewright.mcp.talk.stdio import Inbound
from tests.fakes.waiting import being_written, eventually

ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])
NEWS = "echo begun\nwhile [ ! -e go ]; do sleep 0.05; done\necho done\n"


@dataclass
class Person:
    """Who sits at the client: says the same to everything, and keeps what was asked."""

    says: str = "Yes, once"
    asked: list[types.ElicitRequestFormParams] = field(
        default_factory=list[types.ElicitRequestFormParams]
    )

    async def __call__(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.asked.append(params)
        match self.says:
            case "decline":
                return types.ElicitResult(action="decline")
            case "cancel":
                return types.ElicitResult(action="cancel")
            case words:
                return types.ElicitResult(action="accept", content={"answer": words})


@dataclass
class Place:
    client: Client
    calls: SessionCalls
    home: Path
    project: Path
    said: list[str]

    async def text(self, name: str, **arguments: Any) -> tuple[bool, str]:
        result = await self.client.call_tool(name, arguments)
        texts = [part.text for part in result.content if isinstance(part, types.TextContent)]
        return not result.is_error, "\n".join(texts)

    def events(self) -> list[dict[str, Any]]:
        (path,) = self.home.rglob("projects/*/*.jsonl")
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass
class House:
    """A home and a project, and what serves calls there."""

    home: Path
    project: Path
    flags: Sequence[str]
    said: list[str] = field(default_factory=list[str])

    def calls(self) -> SessionCalls:
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}

        def opener(
            options: LaunchOptions, *, interactive: bool, client: Brought | None = None
        ) -> Callable[[], Awaitable[Session]]:
            given = client or NOTHING
            return lambda: open_session(options, env, interactive=interactive, client=given)

        options = options_of([f"--cwd={self.project}", *self.flags])
        return SessionCalls(options, opener, self.said.append)


def built(folder: Path, flags: Sequence[str] = (), own: dict[str, Any] | None = None) -> House:
    home, project = folder / "home", folder / "project"
    (home / ".gatewright").mkdir(parents=True)
    project.mkdir(exist_ok=True)
    (project / "notes.txt").write_text("alpha\nbeta\n", encoding="utf-8")
    (project / "hang.sh").write_text("echo $$ > pid\nexec sleep 1000\n", encoding="utf-8")
    (project / "news.sh").write_text(NEWS, encoding="utf-8")
    settings = {"smallModel": "demo", "sandbox": {"enabled": False}, **(own or {})}
    (home / ".gatewright" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return House(home, project, flags)


@asynccontextmanager
async def place(
    folder: Path,
    *flags: str,
    era: str = "auto",
    person: Person | None = None,
    own: dict[str, Any] | None = None,
) -> AsyncGenerator[Place]:
    house = built(folder, flags, own)
    calls, home, project, said = house.calls(), house.home, house.project, house.said
    to_us, inbound = anyio.create_memory_object_stream[Inbound](1)
    to_them, outbound = anyio.create_memory_object_stream[SessionMessage](1)
    async with to_us, outbound:
        serving = asyncio.create_task(serve(calls, (inbound, to_them), VERSION))
        try:
            async with Client(
                _over(outbound, to_us), mode=era, elicitation_callback=person
            ) as client:
                yield Place(client, calls, home, project, said)
        finally:
            to_us.close()
            await serving
            await calls.close()


@asynccontextmanager
async def _over(*streams: Any) -> AsyncGenerator[Any]:
    yield streams


@ERAS
async def test_basic_tools_are_listed_and_one_is_called(tmp_path: Path, era: str) -> None:
    async with place(tmp_path, era=era) as at:
        listed = (await at.client.list_tools()).tools
        assert {tool.name for tool in listed} == {"Read", "Write", "Edit", "Bash", "Glob", "Grep"}
        by_name = {tool.name: tool for tool in listed}
        hints = {name: by_name[name].annotations for name in ("Read", "Bash")}
        assert hints["Read"] == types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, open_world_hint=False
        )
        assert hints["Bash"] == types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, open_world_hint=True
        )
        assert "run_in_background" not in by_name["Bash"].input_schema["properties"]
        for _ in range(2):  # a client may have forgotten what it read
            ok, text = await at.text("Read", file_path="notes.txt")
            assert ok
            assert "alpha" in text


async def test_every_call_is_in_the_transcript(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        await at.text("Read", file_path="notes.txt")
        await at.text("Write", file_path="new.txt", content="x")
    assert "Calls of mcp" in json.dumps(at.events())
    assert [one["name"] for one in _of(at, "tool_started")] == ["Read", "Write"]
    assert [one["ok"] for one in _of(at, "tool_finished")] == [True, False]
    assert [one["behavior"] for one in _of(at, "decision")] == ["allow", "deny"]


def _of(at: Place, tag: str) -> list[dict[str, Any]]:
    events = (line.get("event", line) for line in at.events())
    return [event for event in events if tag in (event.get("type"), event.get("kind"))]


@ERAS
async def test_without_anybody_to_ask_a_call_that_asks_is_refused(tmp_path: Path, era: str) -> None:
    async with place(tmp_path, era=era) as at:
        ok, text = await at.text("Write", file_path="new.txt", content="x")
        assert not ok
        assert text.startswith("Not run (")
        assert not (at.project / "new.txt").exists()
        await eventually(lambda: any("Refused: Write" in line for line in at.said))


@ERAS
async def test_the_person_at_the_client_is_asked(tmp_path: Path, era: str) -> None:
    person = Person()
    async with place(tmp_path, era=era, person=person) as at:
        ok, _ = await at.text("Write", file_path="new.txt", content="hello\n")
        assert ok
        assert (at.project / "new.txt").read_text(encoding="utf-8") == "hello\n"
        (asked,) = person.asked
        assert "new.txt" in asked.message
        assert "hello" in asked.message
        (answer,) = asked.requested_schema["properties"].values()
        assert answer["enum"] == ["Yes, once", "No"]
        assert "default" not in answer


@ERAS
@pytest.mark.parametrize("says", ["No", "decline", "cancel", "Yes, and always allow Edit"])
async def test_only_a_yes_is_a_yes(tmp_path: Path, era: str, says: str) -> None:
    async with place(tmp_path, era=era, person=Person(says)) as at:
        ok, text = await at.text("Write", file_path="new.txt", content="x")
        assert not ok, text
        assert not (at.project / "new.txt").exists()


async def test_a_yes_is_for_the_call_that_was_shown(tmp_path: Path) -> None:
    async with place(tmp_path, person=Person()) as at:
        session = at.client.session
        shown = {"file_path": "new.txt", "content": "x"}
        first = await session.call_tool("Write", shown, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        yes: types.InputResponses = {
            "answer": types.ElicitResult(action="accept", content={"answer": "Yes, once"})
        }
        for state in ("forged", first.request_state):
            with pytest.raises(MCPError, match="No call waits"):
                await session.call_tool(
                    "Write",
                    {**shown, "file_path": "other.txt"},
                    input_responses=yes,
                    request_state=state,
                    allow_input_required=True,
                )
        with pytest.raises(MCPError, match="No call waits"):  # it is over with that
            await session.call_tool(
                "Write", shown, input_responses=yes, request_state=first.request_state
            )
        assert not list(at.project.glob("*er.txt"))
        assert not (at.project / "new.txt").exists()


async def test_a_question_is_open_for_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewright.mcp.talk.going.WAITS", 0.05)
    shown = {"file_path": "new.txt", "content": "x"}
    async with place(tmp_path, person=Person()) as at:
        session = at.client.session
        first = await session.call_tool("Write", shown, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        await eventually(lambda: bool(_of(at, "answered")))
        with pytest.raises(MCPError, match="No call waits"):
            await session.call_tool("Write", shown, request_state=first.request_state)
        ok, _ = await at.text("Read", file_path="notes.txt")  # nothing holds up the next one
        assert ok


async def test_hooks_hear_of_calls(tmp_path: Path) -> None:
    hook = {"type": "command", "command": "echo Not on my watch. >&2; exit 2"}
    own = {"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [hook]}]}}
    async with place(tmp_path, own=own) as at:
        ok, text = await at.text("Read", file_path="notes.txt")
        assert not ok
        assert "Not on my watch." in text


async def test_a_denial_is_asked_about_nowhere(tmp_path: Path) -> None:
    person = Person()
    async with place(tmp_path, "--disallowedTools=Write,Edit", person=person) as at:
        listed = (await at.client.list_tools()).tools
        assert "Write" not in {tool.name for tool in listed}
        ok, text = await at.text("Write", file_path="new.txt", content="x")
        assert not ok
        assert "There is no tool Write here" in text
        assert person.asked == []


@ERAS
async def test_a_cancelled_call_ends_what_it_began(tmp_path: Path, era: str) -> None:
    async with place(tmp_path, "--allowedTools=Bash", era=era) as at:
        call = asyncio.create_task(at.text("Bash", command="sh hang.sh"))
        pid = int(await being_written(at.project / "pid"))
        call.cancel()
        await asyncio.wait([call])
        await eventually(lambda: not _lives(pid), what="the end of the command")
        ok, text = await at.text("Read", file_path="notes.txt")
        assert ok, text


async def test_a_client_that_leaves_takes_its_calls_along(tmp_path: Path) -> None:
    async with place(tmp_path, "--allowedTools=Bash") as at:
        call = asyncio.create_task(at.text("Bash", command="sh hang.sh"))
        pid = int(await being_written(at.project / "pid"))
    await eventually(lambda: not _lives(pid))
    await asyncio.wait([call])
    (finished,) = _of(at, "tool_finished")
    assert not finished["ok"]


async def test_too_many_calls_are_refused_and_all_are_answered(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        wanted = [at.text("Read", file_path="notes.txt") for _ in range(3 * MOST_CALLS)]
        answers = await asyncio.gather(*wanted)
        assert len(answers) == 3 * MOST_CALLS
        refused = [text for ok, text in answers if not ok]
        assert set(refused) <= {f"Not run: {MOST_CALLS} calls are under way already."}
        assert len(refused) <= 2 * MOST_CALLS


async def test_news_of_a_call_is_told(tmp_path: Path) -> None:
    heard: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with place(tmp_path, "--allowedTools=Bash") as at:
        arguments = {"command": "sh news.sh"}
        call = asyncio.create_task(at.client.call_tool("Bash", arguments, progress_callback=told))
        await eventually(lambda: any("begun" in word for word in heard))
        (at.project / "go").touch()
        assert not (await call).is_error


async def test_servers_of_others_are_not_passed_on(tmp_path: Path) -> None:
    started = tmp_path / "started"
    other = {"command": "/bin/sh", "args": ["-c", f"touch {started}"]}
    async with place(tmp_path, own={"mcpServers": {"other": other}}) as at:
        assert len((await at.client.list_tools()).tools) == 6
        await at.text("Read", file_path="notes.txt")
    assert not started.exists()


async def test_nothing_runs_in_the_background(tmp_path: Path) -> None:
    async with place(tmp_path, "--tools=Bash,TaskOutput", "--allowedTools=Bash") as at:
        (bash,) = (await at.client.list_tools()).tools
        assert "run_in_background" not in bash.input_schema["properties"]
        ok, text = await at.text("Bash", command="echo said", run_in_background=True)
        assert not ok
        assert "foreground" in text


async def test_a_project_that_is_not_trusted_is_said_and_not_asked_about(tmp_path: Path) -> None:
    person = Person("No")
    rules = json.dumps({"permissions": {"allow": ["Write"]}})
    (tmp_path / "project" / ".gatewright").mkdir(parents=True)
    (tmp_path / "project" / ".gatewright" / "settings.json").write_text(rules, encoding="utf-8")
    async with place(tmp_path, person=person) as at:
        ok, _ = await at.text("Write", file_path="new.txt", content="x")
        assert not ok
        (asked,) = person.asked
        assert asked.message.startswith("Write new.txt")
        await eventually(lambda: any("not trusted" in line for line in at.said))


async def test_a_long_session_keeps_its_name(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        (at.project / "long.txt").write_text("some words\n" * 20_000, encoding="utf-8")
        for offset in range(1, 10_000, 1_000):
            await at.text("Read", file_path="long.txt", offset=offset)
    (path,) = at.home.rglob("projects/*/*.jsonl")
    assert path.stat().st_size > 100_000
    (listed,) = list_sessions(path.parent)
    assert listed.title == "Calls of mcp"


async def test_arguments_that_nobody_can_write_down_are_refused(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        ok, text = await at.text("Read", file_path="\ud800")
        assert (ok, text) == (False, "Not run: the arguments cannot be read.")


async def test_settings_that_cannot_be_read_are_said_and_mended(tmp_path: Path) -> None:
    async with place(tmp_path, "--settings=nowhere.json") as at:
        with pytest.raises(MCPError, match="nowhere"):
            await at.client.list_tools()
        assert any("nowhere.json" in line for line in at.said)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["fix it"], "takes no prompt"),
        (["--resume"], "has no --resume"),
        (["--output-format", "json"], "has no --output-format"),
        (["--tools", "Nothing"], "would offer nothing"),
        (["--permission-mode", "wild"], "--permission-mode"),
        (["--alowedTools", "Bash"], "--allowedTools"),
    ],
)
def test_a_wrong_command_line_is_explained(words: Sequence[str], wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        options_of(words)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
