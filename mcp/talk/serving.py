"""Our tools for other MCP clients: the server side of the SDK over whoever runs the calls.

Both eras; a call has a task of its own, so that its end is its own too, and is cancelled with its
request. Nothing is run here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from gatewright.mcp.described import printable
from gatewright.mcp.served import Calls, Offer, Question, ServedCall, Unserved
from gatewright.mcp.talk.going import KEY, Going, Waiting, form, said
from gatewright.mcp.talk.stdio import Streams
from gatewright.tools.protocol import (
    Content,
    DocumentContent,
    ImageContent,
    JsonObject,
    TextContent,
    ToolResult,
)

MOST_CALLS = 32  # at a time; what is beyond is refused at once
BUSY = f"Not run: {MOST_CALLS} calls are under way already."
UNREADABLE = "Not run: the arguments cannot be read."
NO_OUTPUT = "(no output)"
END_LIMIT = 5.0  # seconds for calls to end once nobody waits for them
CLOSE_LIMIT = 8.0  # seconds for what is behind them
Context = ServerRequestContext[Any]


async def serve(calls: Calls, streams: Streams, version: str) -> None:
    """Until the client has left; then nothing of its calls is under way any more."""
    client = Client(calls)
    server = server_of(lambda _: client, version)
    read, write = streams
    try:
        await server.run(read, write, server.create_initialization_options())
    finally:
        await client.close()


def server_of(whose: Callable[[Context], Client], version: str) -> Server[Any]:
    """The SDK's server; `whose` a request is may raise MCPError."""

    async def listed(
        ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del params  # they are few: one page
        with whose(ctx) as client:
            return await client.listed(ctx)

    async def called(
        ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        with whose(ctx) as client:
            return await client.called(ctx, params)

    made: Server[Any] = Server(
        "gatewright", version=version, on_list_tools=listed, on_call_tool=called
    )
    made.middleware.clear()  # traces of calls would go wherever the environment says
    return made


class Client:
    """All of one client: its calls under way and the questions that wait for its answers alone."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._requests = 0  # of it that are being answered
        self._tasks: set[asyncio.Task[ToolResult]] = set()
        self._waiting = Waiting()

    def __enter__(self) -> Client:
        self._requests += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._requests -= 1

    @property
    def busy(self) -> bool:
        """Something of it is under way, or waits for an answer."""
        return bool(self._requests or self._tasks)

    async def listed(self, ctx: Context) -> types.ListToolsResult:
        try:
            offers = await self._calls.offers(client_name(ctx), asks=asks_of(ctx))
        except Unserved as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=str(error)) from error
        return types.ListToolsResult(tools=[_tool(offer) for offer in offers])

    async def called(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        if params.request_state is not None:
            going = self._waiting.take(params)
        elif len(self._tasks) >= MOST_CALLS:
            return _answer(ToolResult.not_run(BUSY))
        elif (arguments := _plain(params.arguments)) is None:
            return _answer(ToolResult.not_run(UNREADABLE))
        else:
            going = self._begun(ctx, params.name, arguments)
        try:
            news = await going.news(ctx)
        except Unserved as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=str(error)) from error
        if isinstance(news, ToolResult):
            return _answer(news)
        request = types.ElicitRequest(params=form(news))
        state = self._waiting.hold(going)
        return types.InputRequiredResult(input_requests={KEY: request}, request_state=state)

    def _begun(self, ctx: Context, name: str, arguments: JsonObject) -> Going:
        going = Going()
        put = None
        if asks_of(ctx):
            modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            put = going.put if modern else partial(_elicited, ctx)
        call = ServedCall(client_name(ctx), name, arguments, put, going.heard)
        task = asyncio.create_task(self._calls.run(call), name="a call of a client")
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        going.begin(task, call)
        return going

    def _ended(self, task: asyncio.Task[ToolResult]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # its request has it, or is gone

    async def close(self) -> None:
        self._waiting.close()
        left = set(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=END_LIMIT)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_LIMIT):
                await self._calls.close()


async def _elicited(ctx: Context, question: Question) -> str | None:
    """Ask in mid-call, as the older era does it; a client that cannot answer has not."""
    asked = form(question)
    with contextlib.suppress(MCPError, ValidationError):
        return said(
            await ctx.session.elicit_form(
                asked.message, asked.requested_schema, related_request_id=ctx.request_id
            )
        )
    return None


def asks_of(ctx: Context) -> bool:
    """Whether the client puts forms to a person; one that names no kind means forms."""
    can = ctx.session.client_capabilities
    asking = can.elicitation if can is not None else None
    return asking is not None and (asking.form is not None or asking.url is None)


def client_name(ctx: Context) -> str:
    known = ctx.session.client_params
    return printable(known.client_info.name, 100) if known is not None else ""


def _plain(arguments: dict[str, Any] | None) -> JsonObject | None:
    """As everybody here can write it down again; None: numbers or depths that nobody means."""
    try:
        return msgspec.json.decode(msgspec.json.encode(arguments or {}), type=dict[str, Any])
    except (ValueError, OverflowError, RecursionError):
        return None


def _tool(offer: Offer) -> types.Tool:
    return types.Tool(
        name=offer.name,
        description=offer.description,
        input_schema=offer.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=offer.read_only,
            destructive_hint=offer.destructive,
            open_world_hint=offer.open_world,
        ),
    )


def _answer(result: ToolResult) -> types.CallToolResult:
    content = [_block(part) for part in result.content]
    if not content:
        content.append(types.TextContent(type="text", text=NO_OUTPUT))
    return types.CallToolResult(content=content, is_error=not result.ok)


def _block(part: Content) -> types.ContentBlock:
    match part:
        case TextContent(text=text):
            return types.TextContent(type="text", text=text)
        case ImageContent(media_type=kind, data=data):
            return types.ImageContent(type="image", data=data, mime_type=kind)
        case DocumentContent(media_type=kind, data=data, name=name):
            uri = f"document:{name or 'unnamed'}"
            held = types.BlobResourceContents(uri=uri, mime_type=kind, blob=data)
            return types.EmbeddedResource(type="resource", resource=held)
