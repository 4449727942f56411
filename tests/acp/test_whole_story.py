"""One story of an editor, told by two clients that others wrote: the same comes of it."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.acp.test_public_clients import PREFIX, node, package, talking
from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.scripted_provider import read_script
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e

EDIT = json.dumps({"file_path": "notes.txt", "old_string": "beta", "new_string": "gamma"})
BACK = json.dumps({"file_path": "notes.txt", "old_string": "gamma", "new_string": "beta"})
TODO = json.dumps({"todos": [{"content": "one", "activeForm": "one", "status": "in_progress"}]})
RUN = json.dumps({"command": "echo up; exec sleep 600"})
# By the first words of a conversation: what the model answers in it.
TOLD = {
    "STORY": 'say: I look.\ncall: Read {"file_path": "notes.txt"}\n---\n'
    f"call: TodoWrite {TODO}\n---\ncall: Edit {EDIT}\n---\nsay: Done.\n---\n"
    f"call: Edit {BACK}\n---\nsay: Again.",
    "LEFT": "say: Well\nwait: never",
    "RIGHT": "say: Right.",
    "EARLY": "wait: never",
    "ASKS": 'call: Bash {"command": "touch made"}',
    "RUNS": f"call: Bash {RUN}\n---\nsay: Still here.",
}
CAME = {
    "end": "end_turn",
    "asked": ["Edit notes.txt", "Edit notes.txt", "Run touch made", "Run echo up; exec sleep 600"],
    "refused": "end_turn",
    "plan": 1,
    "same": True,
    "images": 1,
    "fork": ["end_turn", "Again.", True],
    "sessions": 2,
    "right": ["end_turn", "Right."],
    "cancelled": dict.fromkeys(
        ("streaming", "queued", "before", "asking", "running"), "cancelled"
    ),
    "after": ["end_turn", True],
}  # fmt: skip


def image() -> str:
    made = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(made, "png")
    return base64.b64encode(made.getvalue()).decode()


def scripted() -> ModelServer:
    server = ModelServer()
    server.tasks = {words: list(read_script(script)) for words, script in TOLD.items()}
    return server


def judged(report: dict[str, Any], program: Program, server: ModelServer) -> None:
    assert report == CAME
    assert (program.project / "notes.txt").read_text(encoding="utf-8") == "alpha\ngamma\n"
    assert not (program.project / "made").exists()
    assert "image/" in json.dumps(server.bodies)


class Client:
    """The package's client. `choice` answers questions; `found` waits for what it is told."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        self.choice: Callable[[], Awaitable[Any]] = picks("once")
        self.updates: list[tuple[str, Any]] = []
        self._news = asyncio.Event()

    def on_connect(self, connection: Any) -> None:
        return

    async def request_permission(self, options: Any, tool_call: Any, **more: Any) -> Any:
        self.report["asked"].append(tool_call.title)
        self._news.set()
        return {"outcome": await self.choice()}

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append((session_id, update.model_dump(mode="json")))
        self._news.set()

    def of(self, session: str, kind: str = "") -> list[dict[str, Any]]:
        told = [update for id, update in self.updates if id == session]
        return [each for each in told if each["session_update"].startswith(kind)]

    def said(self, session: str) -> str:
        return "".join(each["content"]["text"] for each in self.of(session, "agent_message"))

    def shown(self, session: str) -> list[Any]:
        return [self.said(session), self.of(session, "tool_call"), self.of(session, "plan")]

    async def until(self, found: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not found():
                self._news.clear()
                await self._news.wait()


def picks(id: str) -> Callable[[], Awaitable[Any]]:
    async def chosen() -> Any:
        return {"outcome": "selected", "optionId": id}

    return chosen


async def never() -> Any:
    await asyncio.Event().wait()


class Talk:
    def __init__(self, connection: Any, program: Program) -> None:
        self.connection = connection
        self.place: dict[str, Any] = {"cwd": str(program.project), "mcp_servers": []}

    async def new(self) -> str:
        return str((await self.connection.new_session(**self.place)).session_id)

    def turn(self, session: str, words: str, *more: Any) -> asyncio.Task[str]:
        return asyncio.create_task(self._turn(session, [package().text_block(words), *more]))

    async def _turn(self, session: str, prompt: list[Any]) -> str:
        async with asyncio.timeout(PATIENCE):
            end = await self.connection.prompt(session_id=session, prompt=prompt)
        return str(end.stop_reason)

    async def cancel(self, session: str) -> None:
        await self.connection.cancel(session_id=session)


async def test_the_packages_client_tells_it(program: Program) -> None:
    report: dict[str, Any] = {"asked": [], "cancelled": {}}
    first, client = Client(report), Client(report)
    with ServerThread(server=scripted()) as server:
        async with talking(program, server, first) as (connection, process):
            talk = Talk(connection, program)
            session = await talk.new()
            picture = package().image_block(image(), "image/png")
            report["end"] = await talk.turn(session, "STORY", picture)
            first.choice = picks("no")
            report["refused"] = await talk.turn(session, "again")
            report["plan"] = len(first.of(session, "plan"))
            process.kill()
            await process.wait()
        async with talking(program, server, client) as (connection, _):
            talk = Talk(connection, program)
            await connection.load_session(session_id=session, **talk.place)
            report["same"] = client.shown(session) == first.shown(session)
            own = client.of(session, "user_message")
            report["images"] = sum(each["content"]["type"] == "image" for each in own)
            copy = (await connection.fork_session(session_id=session, **talk.place)).session_id
            end = await talk.turn(copy, "and now?")
            report["fork"] = [end, client.said(copy), copy != session]
            await connection.set_session_mode(session_id=copy, mode_id="plan")
            listed = await connection.list_sessions(cwd=str(program.project))
            report["sessions"] = len(listed.sessions)
            await connection.close_session(session_id=copy)
            await _side_by_side(talk, client)
            await _cancelled(talk, client)
    judged(report, program, server)


async def _side_by_side(talk: Talk, client: Client) -> None:
    left = await talk.new()
    streams = talk.turn(left, "LEFT")
    await client.until(lambda: client.said(left))
    right = await talk.new()
    client.report["right"] = [await talk.turn(right, "RIGHT"), client.said(right)]
    waits = talk.turn(left, "queued")
    await asyncio.sleep(0)  # its request is out
    await talk.cancel(left)
    client.report["cancelled"] |= {"streaming": await streams, "queued": await waits}


async def _cancelled(talk: Talk, client: Client) -> None:
    cancelled, asked = client.report["cancelled"], client.report["asked"]
    fresh = await talk.new()
    early = talk.turn(fresh, "EARLY")
    await asyncio.sleep(0)
    await talk.cancel(fresh)
    cancelled["before"] = await early
    before = len(asked)
    client.choice = never
    third = await talk.new()
    asks = talk.turn(third, "ASKS")
    await client.until(lambda: len(asked) > before)
    await talk.cancel(third)
    cancelled["asking"] = await asks
    client.choice = picks("once")
    other = await talk.new()
    runs = talk.turn(other, "RUNS")
    await client.until(lambda: "```\\nup" in json.dumps(client.of(other, "tool_call_up")))
    await talk.cancel(other)
    cancelled["running"] = await runs
    end = await talk.turn(other, "on")
    client.report["after"] = [end, client.said(other).endswith("Still here.")]


def test_the_typescript_sdk_tells_it(program: Program) -> None:
    node("@agentclientprotocol/sdk")
    script = Path(PREFIX, "story.mjs")  # below what npm installed, so that its imports are found
    script.write_text(Path(__file__).with_name("story.mjs").read_text("utf-8"), encoding="utf-8")
    with ServerThread(server=scripted()) as server:
        env = program.env(
            ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url,
            GATEWRIGHT_MODEL="anthropic/claude-sonnet-5-5",
        )  # fmt: skip
        env["PATH"] = os.environ["PATH"]
        argv = ["node", str(script), program.argv[0], str(program.project), image()]
        done = subprocess.run(
            argv, env=env, capture_output=True, text=True, encoding="utf-8",
            timeout=2 * PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    judged(json.loads(done.stdout), program, server)
