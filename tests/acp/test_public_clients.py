"""The program judged by clients that others wrote: the protocol's Python package, its TypeScript
SDK, and acpx. The last two are looked for below ACP_CLIENTS, where npm put them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.waiting import PATIENCE, until

pytestmark = pytest.mark.e2e

EDIT = json.dumps({"file_path": "notes.txt", "old_string": "beta", "new_string": "gamma"})
LOOK = 'say: I look.\ncall: Read {"file_path": "notes.txt"}'
STORY = f"{LOOK}\n---\ncall: Edit {EDIT}\n---\nsay: Done.\n---\nsay: Again."
PREFIX = os.environ.get("ACP_CLIENTS", "")
NPM = "npm install --prefix DIR acpx @agentclientprotocol/sdk, and name DIR in ACP_CLIENTS"


def package() -> Any:
    """Loaded where it is needed: half a second of work."""
    return pytest.importorskip("acp", reason="agent-client-protocol is in the extra dev")


class Client:
    """The package's client, which answers what nobody offered."""

    async def request_permission(self, options: Any, tool_call: Any, **more: Any) -> Any:
        return {"outcome": {"outcome": "selected", "optionId": "forged"}}

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        return

    def on_connect(self, connection: Any) -> None:
        return


@asynccontextmanager
async def talking(
    program: Program, server: ModelServer, client: Any, can: Any = None
) -> AsyncGenerator[Any]:
    env = program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url)
    argv = [*program.argv, "acp", "--model", "anthropic/claude-sonnet-5-5"]
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=program.project, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    acp = package()
    connection = acp.connect_to_agent(
        client, process.stdin, process.stdout, use_unstable_protocol=True
    )
    try:
        version = acp.PROTOCOL_VERSION
        await connection.initialize(protocol_version=version, client_capabilities=can)
        yield connection, process
    finally:
        await connection.close()
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            await asyncio.wait_for(process.wait(), PATIENCE)


async def test_an_answer_that_was_not_offered_is_a_no(program: Program) -> None:
    client = Client()
    with ServerThread(STORY) as server:
        async with talking(program, server, client) as (connection, _):
            opened = await connection.new_session(cwd=str(program.project), mcp_servers=[])
            await connection.prompt(
                session_id=opened.session_id, prompt=[package().text_block("change it")]
            )
    assert "beta" in (program.project / "notes.txt").read_text(encoding="utf-8")


def node(path: str) -> str:
    """What npm installed, or why there is nothing to judge with."""
    found = Path(PREFIX, "node_modules", path) if PREFIX else Path()
    if not PREFIX or shutil.which("node") is None or not found.exists():
        pytest.skip(NPM)
    return str(found)


def begun(program: Program, server: ModelServer, *words: str) -> subprocess.Popen[str]:
    argv = ["node", node(".bin/acpx"), "--agent", f"{program.argv[0]} acp", *words]
    env = program.env(
        ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url,
        GATEWRIGHT_MODEL="anthropic/claude-sonnet-5-5",
    )  # fmt: skip
    env["PATH"] = os.environ["PATH"]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(
        argv, cwd=program.project, env=env, text=True, encoding="utf-8", stdin=nothing,
        stdout=pipe, stderr=subprocess.STDOUT,
    )  # fmt: skip


def acpx(program: Program, server: ModelServer, *words: str) -> str:
    out, _ = begun(program, server, *words).communicate(timeout=PATIENCE)
    return out


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


def test_acpx_queues_and_cancels(program: Program) -> None:
    """Prompts wait behind one that hangs; a cancel ends that one, and the next is answered."""
    node("acpx")
    with ServerThread("say: Well\nwait: never\n---\nsay: Second.") as server:
        acpx(program, server, "sessions", "new")
        hangs = begun(program, server, "prompt", "one")
        until(lambda: bool(server.bodies))
        queued = acpx(program, server, "prompt", "--no-wait", "two")
        assert "queued" in queued
        assert "cancel requested" in acpx(program, server, "cancel")
        shown, _ = hangs.communicate(timeout=PATIENCE)
        assert "[done] cancelled" in shown
        until(lambda: "Second." in said(program))
        acpx(program, server, "sessions", "close")


def said(program: Program) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in program.transcripts())


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
