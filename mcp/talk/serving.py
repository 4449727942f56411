"""Our tools for other MCP clients: the server side of the SDK over whoever runs the calls.

Both eras; a call has a task of its own, so that its end is its own too, and is cancelled with its
request. Nothing is run here.
"""

from __future__ import annotations

import asyncio
import contextlib
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
Context = ServerRequestContext[Any]


async def serve(calls: Calls, streams: Streams, version: str) -> None:
    """Until the client has left; then nothing of its calls is under way any more."""
    serving = _Serving(calls)
    server = Server(
        "gatewright",
        version=version,
        on_list_tools=serving.listed,
        on_call_tool=serving.called,
    )
    server.middleware.clear()  # traces of calls would go wherever the environment says
    read, write = streams
    try:
        await server.run(read, write, server.create_initialization_options())
    finally:
        await serving.close()


class _Serving:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._tasks: set[asyncio.Task[ToolResult]] = set()
        self._waiting = Waiting()

    async def listed(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del params  # they are few: one page
        try:
            offers = await self._calls.offers(_client(ctx), asks=_asks(ctx))
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
        if _asks(ctx):
            modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            put = going.put if modern else partial(_elicited, ctx)
        call = ServedCall(_client(ctx), name, arguments, put, going.heard)
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


def _asks(ctx: Context) -> bool:
    """Whether the client puts forms to a person; one that names no kind means forms."""
    can = ctx.session.client_capabilities
    asking = can.elicitation if can is not None else None
    return asking is not None and (asking.form is not None or asking.url is None)


def _client(ctx: Context) -> str:
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
