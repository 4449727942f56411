"""An editor of ours in the same process, whose lines go through a pipe, and which can misbehave."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gatewright.agent.build import open_session
from gatewright.agent.client.brought import Brought
from gatewright.agent.frontends.acp.editor_agent import EditorAgent, Ports
from gatewright.agent.frontends.acp.intake import LIMIT, Intake
from gatewright.agent.frontends.acp.jsonrpc import Peer
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.tools.files.disk import DISK
from tests.fakes.model_server import ModelServer
from tests.fakes.waiting import PATIENCE

Handler = Callable[[dict[str, Any]], Awaitable[Any]]
MODEL = "anthropic/claude-sonnet-5-5"
USUAL = LaunchOptions(model=MODEL)
FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
FILES: dict[str, Any] = {"fs": {"readTextFile": True, "writeTextFile": True}}


class Refused(Exception):
    """An error that was answered; in a handler, one to answer with."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message")))
        self.code, self.data = error.get("code"), error.get("data")


class Editor:
    """`handlers` answer what it is asked, by method; `heard` is everything that came, in order."""

    def __init__(self, project: Path, server: ModelServer) -> None:
        self.project, self.server = project, server
        self.heard: list[dict[str, Any]] = []
        self.handlers: dict[str, Handler] = {}
        self.agent: EditorAgent | None = None
        self.read, self._in = os.pipe()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self._news = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    # what the agent says: the sink of its lines

    def write(self, text: str) -> None:
        message = json.loads(text)
        self.heard.append(message)
        self._news.set()
        if "method" not in message:
            waiting = self._waiting.pop(message["id"], None) if message["id"] is not None else None
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
        elif "id" in message:
            task = asyncio.create_task(self._answer(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, message: dict[str, Any]) -> None:
        handler = self.handlers.get(message["method"])
        try:
            if handler is None:
                raise Refused({"code": -32601, "message": "unknown"})
            self.send(id=message["id"], result=await handler(message["params"]))
        except Refused as error:
            self.send(id=message["id"], error={"code": -32000, "message": str(error)})

    # what the editor says

    def send(self, **message: Any) -> None:
        self.raw((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())

    def raw(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._in, data) :]

    def begin(self, method: str, **params: Any) -> asyncio.Future[dict[str, Any]]:
        self._next += 1
        future = asyncio.get_running_loop().create_future()
        self._waiting[self._next] = future
        self.send(id=self._next, method=method, params=params)
        return future

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await said(self.begin(method, **params))

    def notify(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def leave(self) -> None:
        if self._in >= 0:
            os.close(self._in)
            self._in = -1

    # in short

    async def new(self, **more: Any) -> str:
        result = await self.ask("session/new", cwd=str(self.project), mcpServers=[], **more)
        return str(result["sessionId"])

    def prompt(self, session: str, text: str, *more: Any) -> asyncio.Future[dict[str, Any]]:
        blocks = [{"type": "text", "text": text}, *more]
        return self.begin("session/prompt", sessionId=session, prompt=blocks)

    async def turn(self, session: str, text: str, *more: Any) -> dict[str, Any]:
        return await said(self.prompt(session, text, *more))

    def updates(self, session: str, kind: str = "") -> list[dict[str, Any]]:
        found = [
            message["params"]["update"]
            for message in self.heard
            if message.get("method") == "session/update"
            and message["params"]["sessionId"] == session
        ]
        return [each for each in found if not kind or each["sessionUpdate"] == kind]

    def text(self, session: str) -> str:
        chunks = self.updates(session, "agent_message_chunk")
        return "".join(each["content"]["text"] for each in chunks)

    def asked(self, method: str) -> list[dict[str, Any]]:
        return [message["params"] for message in self.heard if message.get("method") == method]

    async def until(self, found: Callable[[], Any]) -> Any:
        async with asyncio.timeout(PATIENCE):
            while not (value := found()):
                self._news.clear()
                await self._news.wait()
            return value

    def answers(self, option: str) -> None:
        """Every permission is answered with that option."""

        async def permission(params: dict[str, Any]) -> Any:
            return {"outcome": {"outcome": "selected", "optionId": option}}

        self.handlers["session/request_permission"] = permission


async def said(future: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        message = await future
    if "error" in message:
        raise Refused(message["error"])
    return dict(message["result"] or {})


@asynccontextmanager
async def editor(
    folder: Path,
    *script: str,
    own: Mapping[str, Any] | None = None,
    can: Mapping[str, Any] | None = None,
    limit: int = LIMIT,
    options: LaunchOptions = USUAL,
    key: str = "key",
    env: Mapping[str, str] | None = None,
) -> AsyncGenerator[Editor]:
    """One that has said hello, with a home and a project below `folder`."""
    home, project = folder / "home", folder / "project"
    (home / ".gatewright").mkdir(parents=True, exist_ok=True)
    project.mkdir(exist_ok=True)
    usual = {"smallModel": "demo", "sandbox": {"enabled": False}}
    text = json.dumps({**usual, **(own or {})})
    (home / ".gatewright" / "settings.json").write_text(text, encoding="utf-8")
    async with ModelServer("\n---\n".join(script)) as server:
        usual_env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        env = {**usual_env, "ANTHROPIC_BASE_URL": server.url, **(env or {})}
        if key:
            env["ANTHROPIC_API_KEY"] = key

        async def opens(options: LaunchOptions, client: Brought) -> Session:
            return await open_session(options, env, interactive=True, client=client)

        async def loaded() -> None:
            return

        ed = Editor(Path(os.path.realpath(project)), server)
        peer = Peer(ed)
        ports = Ports(open=opens, disk=DISK, env=env, loaded=loaded)
        ed.agent = EditorAgent(peer, replace(options, print_mode=True), ports)
        talking = asyncio.create_task(peer.run(Intake(ed.read, limit)))
        try:
            await ed.ask("initialize", protocolVersion=1, clientCapabilities=dict(can or {}))
            yield ed
        finally:
            ed.leave()
            async with asyncio.timeout(PATIENCE):
                await talking
            peer.leave()
            await ed.agent.close()
            await peer.close()
            os.close(ed.read)
