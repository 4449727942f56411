"""One call of a client on its way: a task of its own, heard by whatever request waits for it.

In the newer era a question is the result of a request, and its answer comes with the next one: the
call waits in between, for so long and no longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from gatewright.mcp.served import Question, ServedCall
from gatewright.tools.protocol import Progress, ToolResult

WAITS = 600.0  # seconds for an answer that comes with the next request
EVERY = 0.1  # seconds between two words of progress
MOST_TAIL = 2_000
KEY = "answer"  # of the one field, and of the one question in a result
GONE = "No call waits for this answer: make the call again."


class Going:
    """A call, its task once it has begun, and the question that it waits with."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.asked: asyncio.Future[Question] = self._loop.create_future()
        self._answer: asyncio.Future[str | None] | None = None
        self.task: asyncio.Task[ToolResult] | None = None
        self.call: ServedCall | None = None
        self._news: _News | None = None

    def begin(self, task: asyncio.Task[ToolResult], call: ServedCall) -> None:
        self.task, self.call = task, call

    async def put(self, question: Question) -> str | None:
        self._answer = self._loop.create_future()
        self.asked.set_result(question)
        return await self._answer

    def answer(self, said: str | None) -> None:
        self.asked = self._loop.create_future()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(said)

    def heard(self, progress: Progress) -> None:
        if self._news is not None:
            self._news.take(progress)

    async def news(self, ctx: ServerRequestContext[Any]) -> ToolResult | Question:
        """Its result, or what it asks first. Cancelled, the call is."""
        task = self.task
        assert task is not None
        either: set[asyncio.Future[Any]] = {task, self.asked}
        try:
            async with _telling(ctx) as self._news:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._news = None
        return task.result() if task.done() else self.asked.result()


class Waiting:
    """The calls that wait for an answer, each by a word that nobody can guess."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[Going, asyncio.TimerHandle]] = {}

    def hold(self, going: Going) -> str:
        word = secrets.token_urlsafe(32)
        late = asyncio.get_running_loop().call_later(WAITS, self._late, word)
        self._calls[word] = going, late
        return word

    def take(self, params: types.CallToolRequestParams) -> Going:
        """The call that this request goes on with, answered. Raises MCPError."""
        given = params.request_state or ""
        word = next((each for each in self._calls if hmac.compare_digest(each, given)), "")
        if not word:
            raise MCPError(code=types.INVALID_PARAMS, message=GONE)
        going, late = self._calls.pop(word)
        late.cancel()
        call, task = going.call, going.task
        assert call is not None
        assert task is not None
        if (call.name, call.arguments) != (params.name, params.arguments or {}):
            task.cancel()  # a yes is for the call that was shown, and for no other
            raise MCPError(code=types.INVALID_PARAMS, message=GONE)
        response = (params.input_responses or {}).get(KEY)
        going.answer(said(response) if isinstance(response, types.ElicitResult) else None)
        return going

    def _late(self, word: str) -> None:
        going, _ = self._calls.pop(word)
        going.answer(None)

    def close(self) -> None:
        for _, late in self._calls.values():
            late.cancel()
        self._calls.clear()


def form(question: Question) -> types.ElicitRequestFormParams:
    """One field with a choice and no default: nobody says yes by pressing Enter."""
    field = {"type": "string", "title": "Answer", "enum": list(question.choices)}
    schema: types.ElicitRequestedSchema = {
        "type": "object",
        "properties": {KEY: field},
        "required": [KEY],
    }
    return types.ElicitRequestFormParams(message=question.message, requested_schema=schema)


def said(result: types.ElicitResult) -> str | None:
    """What was chosen; empty where the client declined, None where nobody answered."""
    match result.action:
        case "accept":
            chosen = (result.content or {}).get(KEY)
            return chosen if isinstance(chosen, str) else ""
        case "decline":
            return ""
        case "cancel":
            return None


@asynccontextmanager
async def _telling(ctx: ServerRequestContext[Any]) -> AsyncGenerator[_News]:
    news = _News(ctx)
    try:
        yield news
    finally:
        news.close()


class _News:
    """Says the newest word of a call, ten times a second at most, where the client wants that."""

    def __init__(self, ctx: ServerRequestContext[Any]) -> None:
        self._ctx = ctx
        self._newest: Progress | None = None
        self._at = 0.0
        self._task: asyncio.Task[None] | None = None

    def take(self, progress: Progress) -> None:
        self._newest = progress
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tell(), name="progress to a client")

    async def _tell(self) -> None:
        with contextlib.suppress(MCPError):
            while (newest := self._newest) is not None:
                self._newest = None
                self._at = max(newest.seconds, self._at + 0.001)  # it only ever grows
                tail = newest.tail[-MOST_TAIL:]
                await self._ctx.session.report_progress(self._at, message=tail or None)
                await asyncio.sleep(EVERY)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
