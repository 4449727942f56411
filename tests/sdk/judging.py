"""The public client pointed at our program, in a test's own project, and what came back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.e2e.program import AGENT, Program
from tests.fakes.model_server import ModelServer

sdk = pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (  # noqa: E402  only where it is installed
    ClaudeAgentOptions,
    Message,
    ResultMessage,
    ToolResultBlock,
    UserMessage,
    query,
)


class Judge:
    """Options for our program in a test's own project, and what came back."""

    def __init__(self, program: Program, server: ModelServer) -> None:
        self.program = program
        self.server = server

    def options(self, **more: Any) -> ClaudeAgentOptions:
        env = self.program.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=self.server.url)
        return ClaudeAgentOptions(cli_path=AGENT, cwd=self.program.project, env=env, **more)

    async def query(
        self, prompt: str | AsyncIterator[dict[str, Any]], **more: Any
    ) -> list[Message]:
        return [message async for message in query(prompt=prompt, options=self.options(**more))]

    def bodies(self) -> list[Any]:
        return [body["messages"] for body in self.server.bodies]


async def one(text: str) -> AsyncIterator[dict[str, Any]]:
    """A streamed prompt, which callbacks need."""
    message = {"role": "user", "content": text}
    yield {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "x"}


def result(messages: list[Message]) -> ResultMessage:
    """The last message, which is the only result."""
    found = [message for message in messages if isinstance(message, ResultMessage)]
    assert len(found) == 1
    assert messages[-1] is found[0]
    return found[0]


def tool_results(messages: list[Message]) -> list[tuple[str, bool]]:
    return [
        (str(block.content), bool(block.is_error))
        for message in messages
        if isinstance(message, UserMessage) and isinstance(message.content, list)
        for block in message.content
        if isinstance(block, ToolResultBlock)
    ]
