"""What a server asks of us while a call of ours is under way, in both eras of the protocol.

It asks nobody while nothing of ours waits for it, and one question at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import mcp_types as types
from mcp.client._input_required import run_input_required_driver
from mcp.client.session import ClientRequestContext, ClientSession

from gatewright.mcp.asked.questions import (
    Elicit,
    Elicitation,
    Said,
    Sample,
    Sampling,
    Unfit,
)
from gatewright.mcp.described import printable

MOST_MESSAGE, LONGEST_URL, MOST_ID = 2_000, 4_000, 200
MOST_QUESTIONS = 10  # while something of ours waits
R = TypeVar("R")
T = TypeVar("T")
Send = Callable[[types.InputResponses | None, str | None], Awaitable[R | types.InputRequiredResult]]
UNASKED = "Nothing of the client waits for this server: it asks nobody."
ENOUGH = "That is enough of questions for one call."
REFUSED = -1  # by the person, as the protocol has it
MOST_MESSAGES, MOST_PROMPT = 50, 50_000  # characters of all of them, which a person is to read
CANCEL = types.ElicitResult(action="cancel")


class Answering:
    """`waits` is told that a person is asked, and that they no longer are."""

    def __init__(self, elicit: Elicit | None, sample: Sample | None) -> None:
        self._elicit, self._sample = elicit, sample
        self._calls = 0
        self._asking = 0
        self._count = 0  # of questions since something waits
        self._one = asyncio.Lock()
        self._open: set[asyncio.Future[Any]] = set()
        self.waits: set[Callable[[bool], None]] = set()

    @property
    def asks(self) -> bool:
        """A person is asked right now."""
        return self._asking > 0

    @contextmanager
    def call(self) -> Generator[None]:
        """While something of ours waits for the server."""
        self._count = self._count if self._calls else 0
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            for task in self._open if not self._calls else ():
                task.cancel()

    @asynccontextmanager
    async def patient(self, seconds: float) -> AsyncGenerator[None]:
        """So long at most, while nobody is asked. Raises TimeoutError."""
        async with asyncio.timeout(seconds) as limit:

            def waits(asked: bool) -> None:
                if not limit.expired():
                    now = asyncio.get_running_loop().time()
                    limit.reschedule(None if asked else now + seconds)

            self.waits.add(waits)
            try:
                yield
            finally:
                self.waits.discard(waits)

    @contextmanager
    def _person(self) -> Generator[None]:
        self._asking += 1
        if self._asking == 1:
            self._tell(asked=True)
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._tell(asked=False)

    def _tell(self, *, asked: bool) -> None:
        for each in tuple(self.waits):
            each(asked)

    async def elicited(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        del context
        if self._elicit is None or not self._calls:
            return types.ErrorData(code=types.INVALID_REQUEST, message=UNASKED)
        self._count += 1
        if self._count > MOST_QUESTIONS:
            return CANCEL
        with self._person():
            async with self._one:
                try:
                    reply = await self._asked(self._elicit(_elicitation(params)))
                except Unfit as error:
                    return types.ErrorData(code=types.INVALID_PARAMS, message=str(error))
        if reply is None:
            return CANCEL
        content = reply.content if reply.action == "accept" else None
        return types.ElicitResult(action=reply.action, content=content)

    async def sampled(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        del context
        if self._sample is None or not self._calls:
            return types.ErrorData(code=types.INVALID_REQUEST, message=UNASKED)
        self._count += 1
        if self._count > MOST_QUESTIONS:
            return types.ErrorData(code=types.INVALID_REQUEST, message=ENOUGH)
        with self._person():
            async with self._one:
                try:
                    said = await self._asked(self._sample(_sampling(params)))
                except Unfit as error:
                    return types.ErrorData(code=REFUSED, message=str(error))
        if said is None:
            return types.ErrorData(code=REFUSED, message=UNASKED)
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(type="text", text=said.text),
            model=said.model,
            stop_reason="endTurn",
        )

    async def _asked(self, asking: Coroutine[Any, Any, T]) -> T | None:
        """Until nothing of ours waits for the server any more; then nothing."""
        task = asyncio.ensure_future(asking)
        self._open.add(task)
        try:
            await asyncio.wait([task])
            return None if task.cancelled() else task.result()
        finally:
            task.cancel()
            self._open.discard(task)


def _elicitation(params: types.ElicitRequestParams) -> Elicitation:
    """Raises Unfit."""
    message = printable(params.message, MOST_MESSAGE)
    match params:
        case types.ElicitRequestURLParams(url=url, elicitation_id=id):
            if len(url) > LONGEST_URL or printable(url) != url or url.split() != [url]:
                raise Unfit("The address cannot be shown as it is.")
            return Elicitation(message=message, url=url, id=printable(id or "", MOST_ID))
        case types.ElicitRequestFormParams(requested_schema=schema):
            return Elicitation(message=message, schema=schema)


def _sampling(params: types.CreateMessageRequestParams) -> Sampling:
    """Raises Unfit."""
    if params.tools:
        raise Unfit("No tools are lent here.")
    if len(params.messages) > MOST_MESSAGES:
        raise Unfit(f"A conversation has {MOST_MESSAGES} messages at most.")
    messages: list[Said] = []
    for message in params.messages:
        blocks = message.content if isinstance(message.content, list) else [message.content]
        for block in blocks:
            if not isinstance(block, types.TextContent):
                raise Unfit("Only texts are answered here.")
            messages.append(Said(printable(block.text), own=message.role == "assistant"))
    if not any(message.text.strip() for message in messages):
        raise Unfit("There is nothing to answer.")
    system = printable(params.system_prompt or "")
    if len(system) + sum(len(message.text) for message in messages) > MOST_PROMPT:
        raise Unfit(f"A conversation has {MOST_PROMPT:,} characters at most.")
    wanted = params.model_preferences or types.ModelPreferences()
    cheap = max(wanted.cost_priority or 0, wanted.speed_priority or 0)
    return Sampling(
        messages=tuple(messages),
        system=system,
        most=max(1, params.max_tokens),
        hints=tuple(printable(each.name, 100) for each in wanted.hints or () if each.name),
        cheap=cheap > (wanted.intelligence_priority or 0),
    )


async def settled(session: ClientSession, send: Send[R]) -> R:
    """The answer, after as many rounds of questions as the newer era may need for it."""
    first = await send(None, None)
    if not isinstance(first, types.InputRequiredResult):
        return first

    async def one(key: str, request: types.InputRequest) -> types.InputResponse | types.ErrorData:
        context = ClientRequestContext(session=session, request_id=key)
        return await session.dispatch_input_request(context, request)

    return await run_input_required_driver(first, dispatch=one, retry=send)
