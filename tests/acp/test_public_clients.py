"""The program judged by clients that others wrote: the protocol's Python package, its TypeScript
SDK, and acpx. The last two are looked for below ACP_CLIENTS, where npm put them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.waiting import PATIENCE

acp = pytest.importorskip("acp", reason="agent-client-protocol is in the extra dev")
pytestmark = pytest.mark.e2e

EDIT = json.dumps({"file_path": "notes.txt", "old_string": "beta", "new_string": "gamma"})
LOOK = 'say: I look.\ncall: Read {"file_path": "notes.txt"}'
STORY = f"{LOOK}\n---\ncall: Edit {EDIT}\n---\nsay: Done.\n---\nsay: Again."
PREFIX = os.environ.get("ACP_CLIENTS", "")
NPM = "npm install --prefix DIR acpx @agentclientprotocol/sdk, and name DIR in ACP_CLIENTS"


class Client:
    """The package's client: answers, and keeps what it was told."""

    def __init__(self, choice: str = "once") -> None:
        self.choice = choice
        self.updates: list[Any] = []
        self.asked: list[Any] = []

    async def request_permission(self, options: Any, tool_call: Any, **more: Any) -> Any:
        self.asked.append(tool_call)
        return {"outcome": {"outcome": "selected", "optionId": self.choice}}

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append(update)

    def on_connect(self, connection: Any) -> None:
        return

    def kinds(self) -> list[str]:
        return [update.session_update for update in self.updates]

    def text(self) -> str:
        said = [u for u in self.updates if u.session_update == "agent_message_chunk"]
        return "".join(each.content.text for each in said)

    def shown(self) -> list[Any]:
        """Calls as they ended, and what was said: what a person sees of it."""
        calls = [u for u in self.updates if u.session_update in ("tool_call", "tool_call_update")]
        return [self.text(), [call.model_dump(mode="json") for call in calls]]


@asynccontextmanager
async def talking(program: Program, server: ModelServer, client: Client) -> AsyncGenerator[Any]:
    env = program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url)
    argv = [*program.argv, "acp", "--model", "anthropic/claude-sonnet-5-5"]
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=program.project, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    connection = acp.connect_to_agent(
        client, process.stdin, process.stdout, use_unstable_protocol=True
    )
    try:
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        yield connection, process
    finally:
        await connection.close()
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            await asyncio.wait_for(process.wait(), PATIENCE)


async def test_the_packages_client_runs_the_whole_story(program: Program) -> None:
    client = Client()
    with ServerThread(STORY) as server:
        async with talking(program, server, client) as (connection, process):
            opened = await connection.new_session(cwd=str(program.project), mcp_servers=[])
            session = opened.session_id
            end = await connection.prompt(session_id=session, prompt=[acp.text_block("change it")])
            assert end.stop_reason == "end_turn"
            assert [call.title for call in client.asked] == ["Edit notes.txt"]
            (diff,) = [each for each in client.asked[0].content if each.type == "diff"]
            assert (diff.old_text, diff.new_text) == ("alpha\nbeta\n", "alpha\ngamma\n")
            await connection.set_session_mode(session_id=session, mode_id="plan")
            live = client.shown()
            process.send_signal(signal.SIGKILL)
            await process.wait()
        again = Client()
        async with talking(program, server, again) as (connection, _):
            await connection.load_session(
                session_id=session, cwd=str(program.project), mcp_servers=[]
            )
            assert again.shown() == live
            assert "user_message_chunk" in again.kinds()
            copy = await connection.fork_session(
                session_id=session, cwd=str(program.project), mcp_servers=[]
            )
            assert copy.session_id != session
            end = await connection.prompt(
                session_id=copy.session_id, prompt=[acp.text_block("and now?")]
            )
            assert end.stop_reason == "end_turn"
            listed = await connection.list_sessions(cwd=str(program.project))
            assert {each.session_id for each in listed.sessions} == {session, copy.session_id}
            await connection.close_session(session_id=copy.session_id)


@pytest.mark.parametrize("choice", ["no", "forged"])
async def test_what_the_packages_client_refuses_is_not_done(program: Program, choice: str) -> None:
    client = Client(choice)
    with ServerThread(STORY) as server:
        async with talking(program, server, client) as (connection, _):
            opened = await connection.new_session(cwd=str(program.project), mcp_servers=[])
            await connection.prompt(
                session_id=opened.session_id, prompt=[acp.text_block("change it")]
            )
    assert "beta" in (program.project / "notes.txt").read_text(encoding="utf-8")


def node(path: str) -> str:
    """What npm installed, or why there is nothing to judge with."""
    found = Path(PREFIX, "node_modules", path) if PREFIX else Path()
    if not PREFIX or shutil.which("node") is None or not found.exists():
        pytest.skip(NPM)
    return str(found)


def acpx(program: Program, server: ModelServer, *words: str) -> str:
    argv = ["node", node(".bin/acpx"), "--agent", f"{program.argv[0]} acp", *words]
    env = program.env(
        ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url,
        GATEWRIGHT_MODEL="anthropic/claude-sonnet-5-5",
    )  # fmt: skip
    env["PATH"] = os.environ["PATH"]
    done = subprocess.run(
        argv, cwd=program.project, env=env, capture_output=True, text=True, encoding="utf-8",
        timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("how", "made"),
    [("--approve-all", True), ("--approve-reads", False), ("--deny-all", False)],
)
def test_acpx_approves_what_it_is_told_to(program: Program, how: str, *, made: bool) -> None:
    node("acpx")
    with ServerThread('call: Bash {"command": "touch made"}\n---\nsay: So.') as server:
        flags = (how, "--non-interactive-permissions", "deny")
        said = acpx(program, server, *flags, "exec", "go")
    assert "[done]" in said
    assert (program.project / "made").exists() == made


def test_acpx_keeps_a_session(program: Program) -> None:
    node("acpx")
    with ServerThread("say: First.\n---\nsay: Second.") as server:
        acpx(program, server, "sessions", "new")
        assert "First." in acpx(program, server, "prompt", "one")
        assert "mode set: plan" in acpx(program, server, "set-mode", "plan")
        assert "config set: model=" in acpx(
            program, server, "set", "model", "anthropic/claude-sonnet-5-5"
        )
        assert "Second." in acpx(program, server, "prompt", "two")
        assert "nothing to cancel" in acpx(program, server, "cancel")
        acpx(program, server, "sessions", "close")


SDK = """
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
const [command, project] = process.argv.slice(2);
const child = spawn(command, ["acp"], { stdio: ["pipe", "pipe", "inherit"], cwd: project });
const told = [];
const { agent, client } = acp.methods;
const app = acp.client({ name: "story" })
  .onRequest(client.session.requestPermission, ({ params }) => {
    told.push("asked " + params.toolCall.title);
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onNotification(client.session.update, ({ params }) => {
    told.push(params.update.sessionUpdate);
  });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const end = await app.connectWith(stream, async (ctx) => {
  const hello = { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} };
  await ctx.request(agent.initialize, hello);
  const { sessionId } = await ctx.request(agent.session.new, { cwd: project, mcpServers: [] });
  const prompt = [{ type: "text", text: "change it" }];
  const done = await ctx.request(agent.session.prompt, { sessionId, prompt });
  await ctx.request(agent.session.setMode, { sessionId, modeId: "plan" });
  const { sessions } = await ctx.request(agent.session.list, {});
  await ctx.request(agent.session.close, { sessionId });
  return { end: done.stopReason, sessions: sessions.length };
});
console.log(JSON.stringify({ ...end, told }));
child.kill();
"""


def test_the_typescript_sdk_runs_a_turn(program: Program) -> None:
    node("@agentclientprotocol/sdk")
    script = Path(PREFIX, "story.mjs")
    script.write_text(SDK, encoding="utf-8")
    with ServerThread(STORY) as server:
        env = program.env(
            ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url,
            GATEWRIGHT_MODEL="anthropic/claude-sonnet-5-5",
        )  # fmt: skip
        env["PATH"] = os.environ["PATH"]
        argv = ["node", str(script), program.argv[0], str(program.project)]
        done = subprocess.run(
            argv, env=env, capture_output=True, text=True, encoding="utf-8",
            timeout=PATIENCE, check=True,
        )  # fmt: skip
    said = json.loads(done.stdout)
    assert (said["end"], said["sessions"]) == ("end_turn", 1)
    assert "asked Edit notes.txt" in said["told"]
    assert "gamma" in (program.project / "notes.txt").read_text(encoding="utf-8")


def test_the_log_is_its_owners_and_has_no_keys(program: Program) -> None:
    key = "sk-ant-api03-" + "a" * 40
    file = program.project / "protocol.log"
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1, "x": key}},
        {"id": 2, "method": "session/new", "params": {"cwd": f"/no/{key}", "mcpServers": []}},
    ]
    sent = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    done = program.run("acp", "--log-protocol", str(file), input=sent)
    assert done.returncode == 0
    assert sorted(json.loads(line).get("id") for line in done.stdout.splitlines()) == [1, 2]
    text = file.read_text(encoding="utf-8")
    assert [json.loads(line)["from"] for line in text.splitlines()].count("agent") == 2
    assert "sk-ant-api03-aaaa" not in text
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "words", [("a prompt",), ("--resume", "x"), ("--log-protocol",), ("--plain",), ("--nonsense",)]
)
def test_flags_that_mean_nothing_are_told(program: Program, words: tuple[str, ...]) -> None:
    done = program.run("acp", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "agent" in done.stderr
