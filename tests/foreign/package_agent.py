"""An agent upon the protocol's own package, which judges every word that we say to it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from acp import Client, run_agent, text_block, update_agent_message
from acp.schema import (
    ClientCapabilities,
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallLocation,
    ToolCallUpdate,
)

SESSION = "package-1"


class PackageAgent:
    conn: Client

    def on_connect(self, conn: Client) -> None:
        self.conn = conn

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **more: Any,
    ) -> InitializeResponse:
        del client_capabilities, client_info, more
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **more: Any) -> NewSessionResponse:
        del more
        self.cwd = cwd
        return NewSessionResponse(session_id=SESSION)

    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> PromptResponse:
        del more
        conn, path = self.conn, f"{self.cwd}/a.txt"
        read = await conn.read_text_file(session_id=session_id, path=path)
        await conn.write_text_file(session_id=session_id, path=path, content=f"{read.content}2\n")
        made = await conn.create_terminal(session_id=session_id, command="cat", args=["a.txt"])
        id = made.terminal_id
        exited = await conn.wait_for_terminal_exit(session_id=session_id, terminal_id=id)
        shown = await conn.terminal_output(session_id=session_id, terminal_id=id)
        await conn.release_terminal(session_id=session_id, terminal_id=id)
        call = ToolCallUpdate(
            tool_call_id="t", kind="read", locations=[ToolCallLocation(path=path)]
        )
        options = [
            PermissionOption(option_id="y", name="Yes", kind="allow_once"),
            PermissionOption(option_id="n", name="No", kind="reject_once"),
        ]
        asked = await conn.request_permission(
            session_id=session_id, tool_call=call, options=options
        )
        said = [prompt[-1].text, exited.exit_code, shown.output, asked.outcome.model_dump()]
        await conn.session_update(
            session_id=session_id, update=update_agent_message(text_block(json.dumps(said)))
        )
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **more: Any) -> None:
        del session_id, more


if __name__ == "__main__":
    sys.exit(asyncio.run(run_agent(PackageAgent())))  # type: ignore[arg-type]
