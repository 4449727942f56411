"""One connection to a server, owned by one task: it begins, is talked over, and ends whole.

Only this folder imports the SDK, which costs 0.4 s: import it in a thread, once a server is wanted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import mcp_types as types
import msgspec
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import FileUrl, TypeAdapter, ValidationError

from gatewright.mcp.asked.questions import Elicit, Sample
from gatewright.mcp.described import MOST_TEXT, Described, Hello, Listing, printable
from gatewright.mcp.errors import Lost, NotConnected, Refused
from gatewright.mcp.talk.answering import Answering, settled
from gatewright.mcp.talk.failures import FAILURES
from gatewright.mcp.talk.following import Following, following
from gatewright.mcp.talk.listing import MOST, described, items, kept
from gatewright.mcp.talk.stdio import Streams
from gatewright.tools.protocol import ToolFailure

PROBE = 2.0
LIST_PAGE, LIST_PAGES, LIST_TOOLS = 15.0, 100, 1_000
CLOSE = 2.0
MOST_REQUESTS = 100  # of a server that are being answered
LOGGED = frozenset({"warning", "error", "critical", "alert", "emergency"})
T = TypeVar("T")
_Result: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)


class Hears(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a connection tells what the server says unasked."""

    changed: Callable[[str], None]  # "tools", "prompts" or "resources"
    logged: Callable[[str], None]
    roots: Callable[[], Sequence[Path]]
    ended: Callable[[], None]
    updated: Callable[[str], object]  # a resource that is watched, by its URI
    completed: Callable[[str], object]  # what the person opened an address for, by its id
    elicits: Elicit | None = None
    samples: Sample | None = None


class Checking(JSONRPCDispatcher):
    """Leaves malformed items out of a list before they make the whole of it unreadable.

    Requests that a server does not hear the answers of do not pile up: more are not answered.
    """

    left_out = 0
    _answering = 0
    version = ""  # that was agreed on
    over: Callable[[], None] | None = None

    async def run(self, *given: Any, **more: Any) -> None:
        """Until the other end is gone."""
        try:
            await super().run(*given, **more)
        finally:
            if self.over is not None:
                self.over()

    async def _dispatch_request(self, *given: Any, **more: Any) -> None:
        if self._answering < MOST_REQUESTS:
            await super()._dispatch_request(*given, **more)

    async def _handle_request(self, *given: Any, **more: Any) -> None:
        self._answering += 1
        try:
            await super()._handle_request(*given, **more)
        finally:
            self._answering -= 1

    async def send_raw_request(
        self, method: str, params: Any, opts: Any = None, **more: Any
    ) -> dict[str, Any]:
        raw = await super().send_raw_request(method, params, opts, **more)
        raw, lost = kept(method, self.version, raw) if self.version else (raw, 0)
        self.left_out += lost
        return raw


class Connection:
    def __init__(
        self,
        transport: Callable[[], AbstractAsyncContextManager[Streams]],
        hears: Hears,
        era: str,
        refused: Callable[[], bool] = bool,
    ) -> None:
        """`refused`: whether it let nobody in when it was last asked."""
        self._transport, self._hears, self._era, self._refused = transport, hears, era, refused
        self._session: ClientSession | None = None
        self._dispatcher: Checking | None = None
        self.answering = Answering(hears.elicits, hears.samples)
        self.following: Following | None = None  # once it is open
        self._over = asyncio.Event()
        self._why = ""
        self._task: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._session is not None and not self._over.is_set()

    async def open(self, seconds: float) -> Hello:
        """Raises NotConnected."""
        opened: asyncio.Future[Hello] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(opened, seconds), name="an MCP server")
        try:
            return await asyncio.shield(opened)
        except asyncio.CancelledError:
            await self.close()
            raise

    async def close(self) -> None:
        self._over.set()
        if self._task is None:
            return
        await asyncio.wait([self._task], timeout=CLOSE)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE)

    async def _live(self, opened: asyncio.Future[Hello], seconds: float) -> None:
        try:
            async with self._transport() as (inbound, outbound):
                self._dispatcher = Checking(inbound, outbound)
                self._dispatcher.over = self._over.set
                async with self._made(self._dispatcher) as session:
                    async with asyncio.timeout(seconds):
                        await _agree(session, self._era, self._refused)
                    self._session = session
                    hello = _hello(session)
                    self._dispatcher.version = hello.era
                    opened.set_result(hello)
                    async with following(session, hello, self._hears) as self.following:
                        await self._over.wait()
        except (*FAILURES, ToolFailure) as error:
            self._why = said(error)
            if not opened.done():
                again = isinstance(error, TimeoutError | httpx2.TransportError | ExceptionGroup)
                opened.set_exception(NotConnected(self._why, again=again))
        finally:
            self._over.set()
            if not opened.done():
                opened.set_exception(NotConnected("the connection was closed"))
            if opened.exception() is None and self._session is not None:
                self._hears.ended()
            self._session = None

    def _made(self, dispatcher: Checking) -> ClientSession:
        return ClientSession(
            dispatcher=dispatcher,
            client_info=types.Implementation(name="gatewright", version="1"),
            message_handler=self._heard,
            logging_callback=self._logged,
            list_roots_callback=self._roots,
            sampling_callback=None if self._hears.samples is None else self.answering.sampled,
            elicitation_callback=None if self._hears.elicits is None else self.answering.elicited,
        )

    async def _heard(self, message: object) -> None:
        match message:
            case types.ToolListChangedNotification():
                self._hears.changed("tools")
            case types.PromptListChangedNotification():
                self._hears.changed("prompts")
            case types.ResourceListChangedNotification():
                self._hears.changed("resources")
            case types.ResourceUpdatedNotification() if self.following is not None:
                self.following.heard(message.params.uri)
            case types.ElicitCompleteNotification():
                self._hears.completed(message.params.elicitation_id)
            case _:
                pass

    async def _logged(self, params: types.LoggingMessageNotificationParams) -> None:
        if params.level in LOGGED:
            self._hears.logged(f"{params.level}: {params.data!s:.2000}\n")

    async def _roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        del context
        roots = [
            types.Root(uri=FileUrl(path.as_uri()), name=path.name) for path in self._hears.roots()
        ]
        return types.ListRootsResult(roots=roots)

    async def roots_changed(self) -> None:
        """Said in the era in which a server keeps them; in the newer one it asks each time."""
        session = self._session
        if session is None or session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        with suppress(*FAILURES):
            await session.send_notification(types.RootsListChangedNotification())

    def _now(self) -> ClientSession:
        if self._session is None or self._over.is_set():
            raise Lost(self._why or "the server is not connected")
        return self._session

    async def over(
        self, ask: Callable[[ClientSession], Awaitable[T]], seconds: float, *, wanted: bool = True
    ) -> T:
        """What the server answers, which nothing changes there. Raises Lost or Refused.

        Where nobody `wanted` it, the server has no reason to ask the person anything.
        """
        session = self._now()
        try:
            with self.answering.call() if wanted else nullcontext():
                async with self.answering.patient(seconds):
                    return await ask(session)
        except FAILURES as error:
            raise self._gone(error, sent=False) from error

    async def tools(self) -> Listing:
        """All of its tools. Raises Lost or Refused."""
        try:
            return await self._tools()
        except FAILURES as error:
            raise self._gone(error, sent=False) from error

    async def _tools(self) -> Listing:
        session, found = self._now(), list[Described]()
        left: list[str] = []
        size = 0
        cursor: str | None = None
        before = self._dispatcher.left_out if self._dispatcher is not None else 0
        for _ in range(LIST_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            async with asyncio.timeout(LIST_PAGE):
                page = await session.list_tools(params=params)
            for tool in page.tools:
                each = described(tool)
                if isinstance(each, str):
                    left.append(each)
                elif (size := size + len(msgspec.json.encode(each))) <= MOST:
                    found.append(each)
            cursor = page.next_cursor
            if not cursor or size > MOST or len(found) + len(left) >= LIST_TOOLS:
                break
        lost = (self._dispatcher.left_out if self._dispatcher is not None else 0) - before
        if lost:
            left.append(f"{lost} that no reader of the protocol takes")
        if len(found) > LIST_TOOLS or cursor or size > MOST:
            left.append(f"what is beyond {LIST_TOOLS:,} tools or {MOST >> 20} MiB")
        unique = {tool.name: tool for tool in reversed(found[:LIST_TOOLS])}
        return Listing(tools=tuple(reversed(unique.values())), left_out=tuple(left))

    async def call(
        self, tool: str, arguments: dict[str, Any], heard: Callable[[str], None]
    ) -> types.CallToolResult:
        """Being cancelled tells the server so. Raises Lost or Refused."""
        session = self._now()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            heard(": ".join(filter(None, (share, printable(message or "", 300)))))

        def send(
            answers: types.InputResponses | None, state: str | None
        ) -> Awaitable[types.CallToolResult | types.InputRequiredResult]:
            params = types.CallToolRequestParams(
                name=tool, arguments=arguments, input_responses=answers, request_state=state
            )
            request = types.CallToolRequest(params=params)
            return session.send_request(request, _Result, progress_callback=told)

        try:
            with self.answering.call():
                return await settled(session, send)
        except FAILURES as error:
            raise self._gone(error, sent=True) from error

    def _gone(self, error: Exception, *, sent: bool) -> Lost | Refused:
        """Whether an error is the end of the connection, or an answer."""
        closed = isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED
        if closed or self._over.is_set():
            return Lost(self._why or "the connection ended", sent=sent)
        if isinstance(error, MCPError):
            return Refused(printable(error.message, 2_000))
        return Refused(said(error))


async def _agree(session: ClientSession, era: str, refused: Callable[[], bool]) -> None:
    """The newer era by a question; whoever does not answer it in time speaks the older one.

    A server that was only slow has taken the question for the beginning of the newer era by then,
    and refuses the older one: that is an answer, too. Who is not let in learns nothing of either.
    """
    late = False
    if not era or era in MODERN_PROTOCOL_VERSIONS:
        try:
            async with asyncio.timeout(PROBE):
                await session.discover()
            return
        except TimeoutError:
            late = True
        except (MCPError, ValidationError, RuntimeError):
            if refused():
                raise
    try:
        await session.initialize()
    except MCPError as error:
        if refused() or not (late or error.code == types.UNSUPPORTED_PROTOCOL_VERSION):
            raise
        await session.discover()


def _hello(session: ClientSession) -> Hello:
    can = session.server_capabilities
    info = session.server_info
    return Hello(
        era=session.protocol_version or "",
        server=items(f"{info.name} {info.version}")[:100] if info is not None else "",
        instructions=printable(session.instructions or "", MOST_TEXT),
        tools=can is not None and can.tools is not None,
        resources=can is not None and can.resources is not None,
        subscribes=bool(can and can.resources and can.resources.subscribe),
        completes=can is not None and can.completions is not None,
        prompts=can is not None and can.prompts is not None,
    )


def said(error: BaseException) -> str:
    """One sentence for people, of the innermost that has one."""
    match error:
        case BaseExceptionGroup(exceptions=[first, *_]):
            return said(first)
        case ValidationError():
            return "it answered with what is no answer of the protocol"
        case TimeoutError():
            return "it did not answer in time"
        case MCPError(message=message):
            return items(message)
        case OSError(strerror=str(text)) if text:
            return text
        case _:
            return items(str(error) or type(error).__name__)
