"""The program's commands in the terminals of the protocol's Python package, which are real."""

from __future__ import annotations

import asyncio
import json
import subprocess
from typing import Any

import pytest

from tests.acp.test_public_clients import package, talking
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.fakes.waiting import PATIENCE

pytestmark = pytest.mark.e2e

COMMAND = 'echo $((6*7)) > made; echo "it\'s ${EDITORS:-cleared}"; mkdir sub; cd sub; exit 3'
STORY = f"call: Bash {json.dumps({'command': COMMAND})}\n---\n" + (
    'call: Bash {"command": "pwd"}\n---\nsay: Done.'
)
OWN = {"acp": {"terminal": True}, "sandbox": {"enabled": False}}


class Client:
    """Says yes to everything; what runs in its terminals is its own child, in its environment."""

    def __init__(self) -> None:
        self.terminals: dict[str, tuple[asyncio.subprocess.Process, asyncio.Task[bytes]]] = {}
        self.updates: list[Any] = []
        self.released: list[str] = []

    def on_connect(self, connection: Any) -> None:
        return

    async def request_permission(self, options: Any, tool_call: Any, **more: Any) -> Any:
        return {"outcome": {"outcome": "selected", "optionId": "once"}}

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append(update.model_dump(mode="json", by_alias=True, exclude_none=True))

    async def create_terminal(
        self, session_id: str, command: str, args: Any = None, env: Any = None, cwd: Any = None,
        output_byte_limit: Any = None, **more: Any,
    ) -> Any:  # fmt: skip
        process = await asyncio.create_subprocess_exec(
            command, *args, cwd=cwd, env={"EDITORS": "theirs", "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert process.stdout is not None
        id = f"t{len(self.terminals)}"
        self.terminals[id] = process, asyncio.create_task(process.stdout.read())
        return package().CreateTerminalResponse(terminal_id=id)

    async def terminal_output(self, session_id: str, terminal_id: str, **more: Any) -> Any:
        _, reading = self.terminals[terminal_id]
        text = reading.result().decode() if reading.done() else ""
        return package().TerminalOutputResponse(output=text, truncated=False)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **more: Any) -> Any:
        process, reading = self.terminals[terminal_id]
        await asyncio.wait([reading])
        return package().WaitForTerminalExitResponse(exit_code=await process.wait())

    async def kill_terminal(self, session_id: str, terminal_id: str, **more: Any) -> Any:
        self.terminals[terminal_id][0].kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **more: Any) -> Any:
        self.released.append(terminal_id)


async def test_commands_run_in_the_clients_terminal(program: Program) -> None:
    file = program.home / ".gatewright" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(OWN), encoding="utf-8")
    client = Client()
    with ServerThread(STORY) as server:
        can = {"terminal": True}
        async with talking(program, server, client, can) as (connection, _):
            opened = await connection.new_session(cwd=str(program.project), mcp_servers=[])
            prompt = [package().text_block("go")]
            async with asyncio.timeout(PATIENCE):
                end = await connection.prompt(session_id=opened.session_id, prompt=prompt)
            assert end.stop_reason == "end_turn"
        told = [json.dumps(body["messages"][-1]) for body in server.bodies]
    assert (program.project / "made").read_text(encoding="utf-8") == "42\n"
    assert "it's cleared" in told[1] and "Exit code 3" in told[1]
    assert f"current directory is now {program.project}/sub" in told[1]
    assert f"{program.project}/sub" in told[2]
    assert set(client.released) == set(client.terminals) == {"t0", "t1"}
    shown = [
        each["terminalId"]
        for update in client.updates
        if update["sessionUpdate"] == "tool_call_update" and update.get("status")
        for each in update["content"]
        if each["type"] == "terminal"
    ]
    assert shown == ["t0", "t1"]
