"""One turn: request, stream, run the calls, and again until the model calls nothing more.

A function over ports: it knows no settings, no front end and no concrete tool or provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec

from gatewright.agent.clock import Clock
from gatewright.agent.conversation import Conversation
from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.events import (
    AnyEvent,
    AssistantMessage,
    MessageDropped,
    Noticed,
    RetryScheduled,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.guard import LoopGuard, Verdict
from gatewright.agent.inbox import Inbox
from gatewright.agent.messages import AssistantPart, CallPart, Usage
from gatewright.agent.providers.protocol import Provider, Request, StopReason
from gatewright.agent.stop import Stop
from gatewright.agent.stream import Assembly
from gatewright.agent.toolrun import BatchPorts, Finished, run_batch
from gatewright.tools.protocol import TextContent

MALFORMED_LIMIT = 3
SAME_CALL_NOTE = (
    "The same call has now given the same result three times. "
    "Do something different, or say what is in the way."
)


class Limits(msgspec.Struct, frozen=True):
    """Zero means no limit; `silence` is how long a stream may say nothing."""

    requests: int = 0
    cost: float = 0.0
    silence: float = 90.0


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    provider: Provider
    request: Callable[[Conversation], Request]
    tools: BatchPorts
    inbox: Inbox
    emit: Callable[[AnyEvent], None]
    clock: Clock
    retry_in: Callable[[ProviderError, int], float | None]  # attempt -> seconds; None: give up
    attempts: int
    price: Callable[[Usage], float]
    barrier: Callable[[], Awaitable[None]]  # returns once what was published is kept
    limits: Limits = Limits()


async def run_turn(ports: Ports, talk: Conversation) -> Stop:
    """Never raises except CancelledError; emits exactly one TurnEnded, also when cancelled."""
    turn = _Turn(ports, talk)
    ports.emit(TurnStarted())
    stop, message = Stop.MODEL_ERROR, "An internal error ended the turn; the log has the details."
    failure: FailureKind | None = None
    try:
        stop, message = await turn.run()
    except ProviderError as error:
        stop, message, failure = _stop_for(error), str(error), error.kind
    except asyncio.CancelledError:
        stop = Stop.ABORTED_TOOLS if turn.in_tools else Stop.ABORTED_STREAMING
        message = "Interrupted."
        raise
    finally:
        turn.end(stop, message, failure)  # also for a defect, which goes on to the caller
    return stop


def _stop_for(error: ProviderError) -> Stop:
    match error.kind:
        case FailureKind.AUTH | FailureKind.QUOTA:
            return Stop.PROVIDER_AUTH
        case FailureKind.TOO_LONG:
            return Stop.PROMPT_TOO_LONG
        case _:
            return Stop.MODEL_ERROR


class _Turn:
    """What one turn has used so far."""

    def __init__(self, ports: Ports, talk: Conversation) -> None:
        self._ports = ports
        self._talk = talk
        self._guard = LoopGuard()
        self._malformed = 0
        self._started = ports.clock.monotonic()
        self._api_seconds = 0.0
        self._usage = Usage()
        self._cost = 0.0
        self._requests = 0
        self.in_tools = False

    async def run(self) -> tuple[Stop, str]:
        ports = self._ports
        while True:
            message = await self._answer()
            calls = [part for part in message.parts if isinstance(part, CallPart)]
            if not calls:
                if not len(ports.inbox):
                    return _ended(message)
                self._take_inputs()  # typed while the model was answering: go on with it
                continue
            self.in_tools = True
            finished = await run_batch(calls, ports.tools)
            self.in_tools = False
            if stop := self._after_batch(calls, finished):
                return stop
            self._take_inputs()

    def end(self, stop: Stop, message: str, failure: FailureKind | None = None) -> None:
        ports = self._ports
        ports.emit(
            TurnEnded(
                stop=stop,
                message=message,
                failure=failure,
                usage=self._usage,
                cost=self._cost,
                requests=self._requests,
                ms=round((ports.clock.monotonic() - self._started) * 1000),
                api_ms=round(self._api_seconds * 1000),
            )
        )

    async def _answer(self) -> Assembly:
        """One complete answer, through as many attempts as the retry policy grants."""
        ports, attempt = self._ports, 0
        while True:
            attempt += 1
            began = ports.clock.monotonic()
            try:
                return await self._attempt(ports.request(self._talk))
            except ProviderError as error:
                wait = ports.retry_in(error, attempt)
                if wait is None:
                    raise
                ports.emit(
                    RetryScheduled(
                        attempt=attempt,
                        attempts=ports.attempts,
                        seconds=wait,
                        reason=str(error),
                    )
                )
                await ports.clock.sleep(wait)
            finally:
                self._api_seconds += ports.clock.monotonic() - began

    async def _attempt(self, request: Request) -> Assembly:
        ports = self._ports
        assembly = Assembly(self._talk.call_ids)
        shown = False
        await ports.barrier()
        try:
            async with (
                aclosing(ports.provider.stream(request)) as pieces,
                asyncio.timeout(ports.limits.silence) as watchdog,
            ):
                async for piece in pieces:
                    _feed(watchdog, ports.limits.silence)
                    if event := assembly.add(piece):
                        shown = True
                        ports.emit(event)
            _check_complete(assembly)
        except TimeoutError as error:
            silence = f"The model sent nothing for {ports.limits.silence:.0f} s."
            failure = ProviderError(FailureKind.TRANSPORT, silence)
            self._drop(shown=shown)
            raise failure from error
        except ProviderError:
            self._drop(shown=shown)
            raise
        except asyncio.CancelledError:
            if parts := assembly.partial():
                self._keep(assembly, parts, cut=True)
            raise
        self._keep(assembly, assembly.parts)
        return assembly

    def _drop(self, *, shown: bool) -> None:
        if shown:
            self._ports.emit(MessageDropped())

    def _keep(
        self, assembly: Assembly, parts: tuple[AssistantPart, ...], *, cut: bool = False
    ) -> None:
        cost = self._ports.price(assembly.usage)
        self._usage = self._usage.plus(assembly.usage)
        self._cost += cost
        self._requests += 1
        self._ports.emit(
            AssistantMessage(
                id=assembly.id,
                model=assembly.model,
                parts=parts,
                usage=assembly.usage,
                cost=cost,
                cut=cut,
            )
        )

    def _take_inputs(self) -> None:
        for item in self._ports.inbox.take():
            self._ports.emit(
                UserMessage(content=item.content, input_id=item.id, hidden=item.hidden)
            )

    def _after_batch(
        self, calls: list[CallPart], finished: tuple[Finished, ...]
    ) -> tuple[Stop, str] | None:
        """Why the turn ends here, or None when the model should see the results."""
        if any(item.result.ends_turn for item in finished):
            return Stop.USER_REFUSED, ""
        self._malformed = self._malformed + 1 if any(c.malformed for c in calls) else 0
        if self._malformed >= MALFORMED_LIMIT:
            return (
                Stop.MALFORMED_TOOL_USE,
                "The model sent unreadable tool arguments three times in a row. Try another model.",
            )
        limits = self._ports.limits
        if limits.requests and self._requests >= limits.requests:
            return Stop.MAX_TURNS, f"Stopped after {self._requests} rounds, the limit."
        if limits.cost and self._cost >= limits.cost:
            return Stop.BUDGET_EXHAUSTED, f"Stopped at ${self._cost:.2f}, the budget."
        return self._going_in_circles(finished)

    def _going_in_circles(self, finished: tuple[Finished, ...]) -> tuple[Stop, str] | None:
        for item in finished:
            match self._guard.saw(item.call, item.result.content, ok=item.result.ok):
                case Verdict.STOP:
                    return (
                        Stop.LOOP_GUARD,
                        f"Stopped: the model repeats {item.call.name} with the same result. "
                        "Say how to go on.",
                    )
                case Verdict.NOTE:
                    note = (TextContent(SAME_CALL_NOTE),)
                    self._ports.emit(UserMessage(content=note, hidden=True))
                    self._ports.emit(Noticed(text="The model was told it repeats itself."))
                case Verdict.GO_ON:
                    pass
        return None


def _ended(message: Assembly) -> tuple[Stop, str]:
    match message.reason:
        case StopReason.REFUSAL:
            return Stop.COMPLETED, "The model declined to answer."
        case StopReason.LENGTH:
            return Stop.COMPLETED, "The answer reached the model's output limit and was cut."
        case _:
            return Stop.COMPLETED, ""


def _check_complete(assembly: Assembly) -> None:
    if assembly.reason is None:
        raise ProviderError(FailureKind.TRANSPORT, "The connection broke in mid-answer.")
    if not assembly.parts and assembly.reason is not StopReason.REFUSAL:
        raise ProviderError(FailureKind.TRANSPORT, "The model sent an empty answer.")


def _feed(watchdog: asyncio.Timeout, silence: float) -> None:
    """Push the deadline out, at most once a second: this runs for every piece."""
    now = asyncio.get_running_loop().time()
    due = watchdog.when()
    if due is not None and due - now < silence - 1.0:
        watchdog.reschedule(now + silence)
