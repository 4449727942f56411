"""Complete answers from a model, through everything that can fail on the way.

Whatever was streamed of an attempt that failed is void (MessageDropped) before the next begins, so
no text is shown twice and no call runs twice. Each recovery has its own bound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import msgspec

from gatewright.agent.errors import FailureKind, ModelLoading, ProviderError
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.protocol import Queued, StopReason
from gatewright.agent.providers.streams.answer_limits import TooMuch, weight
from gatewright.agent.record.clock import Clock
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    AttemptPaid,
    ImagesDropped,
    MessageDropped,
    Noticed,
    RequestQueued,
    RetryScheduled,
    StreamSilent,
)
from gatewright.agent.record.messages import AssistantPart, Usage
from gatewright.agent.turn.answer_stream import Assembly
from gatewright.agent.turn.cache_watch import CacheWatch
from gatewright.agent.turn.watchdog import Watchdog
from gatewright.tools.access import MAIN

STALLS = 2  # silent or empty answers that are asked for again
FIRST_TRIES = 5  # of a server never heard of: the address is more likely wrong than busy
OVERLOADS = 3  # in a row, before the next model is tried


async def _the_same(model: OpenModel) -> OpenModel:
    """One model answers all of the turn."""
    return model


class AnswerPorts(msgspec.Struct, frozen=True, kw_only=True):
    model: OpenModel
    following: Callable[[OpenModel], Awaitable[OpenModel]] = _the_same  # who gives the next answer
    stand_in: Callable[[str], Awaitable[OpenModel | None]]  # who follows that model, None: nobody
    make_room: Callable[[OpenModel], Awaitable[None]]  # before each request; raises ProviderError
    compact: Callable[[OpenModel], Awaitable[bool]]  # it was too long; False: there is no room
    retry_in: Callable[[ProviderError, int], float | None]  # None: not worth another attempt
    attempts: int
    barrier: Callable[[], Awaitable[None]]  # returns once what was published is kept
    emit: Callable[[AnyEvent], None]
    clock: Clock
    cache: CacheWatch
    patient: bool  # the server has answered before: it is worth waiting for
    silence: float  # seconds a stream may say nothing
    patience: float  # seconds it may only show that the server is alive
    agent: str = MAIN


class Stalled(ProviderError):
    """The stream went silent or ended with nothing."""

    def __init__(self, message: str) -> None:
        super().__init__(FailureKind.TRANSPORT, message)


class Starved(Stalled):
    """The server was alive all the time and gave nothing: to ask again would be no better."""


class Answers:
    """Asks for one turn. Sums what was used, also by attempts whose text was dropped."""

    def __init__(self, ports: AnswerPorts, talk: Conversation) -> None:
        self._ports = ports
        self._talk = talk
        self.model = ports.model
        self._raised = False
        self._compacted = False
        self._stalls = 0
        self._loads = 0  # of the attempts at this answer: the server was loading its model
        self._overloads = 0
        self.usage = Usage()
        self.cost = 0.0
        self.requests = 0
        self.seconds = 0.0
        self._sent = 0.0  # when the request left the queue

    async def next(self) -> Assembly:
        """The next complete answer, kept as an AssistantMessage. Raises ProviderError."""
        attempt = self._loads = 0
        following = await self._ports.following(self.model)
        if following is not self.model:
            self.model, self._overloads, self._raised = following, 0, False
        await self._ports.make_room(self.model)
        while True:
            attempt += 1
            self._sent = self._ports.clock.monotonic()
            try:
                assembly = await self._attempt()
            except ProviderError as error:
                self.seconds += self._ports.clock.monotonic() - self._sent
                if await self._recovered(error):
                    attempt = 0
                    continue
                await self._wait(error, attempt)
                continue
            self.seconds += self._ports.clock.monotonic() - self._sent
            self._overloads = 0
            if self._may_raise(assembly):
                self._raised = True
                self.requests += 1
                self._drop(assembly, shown=True)
                continue
            self._keep(assembly, assembly.parts)
            self._watch_cache(assembly)
            return assembly

    async def _attempt(self) -> Assembly:
        ports = self._ports
        request = self.model.frame.request(self._talk, ports.agent, raised=self._raised)
        self._request = request
        assembly, shown = Assembly(self._talk.call_ids), False
        await ports.barrier()
        watchdog = Watchdog(ports.silence, ports.patience, self._quiet)
        try:
            async with aclosing(self.model.provider.stream(request)) as pieces, watchdog:
                async for piece in pieces:
                    if isinstance(piece, Queued):
                        self._queued(piece)
                        watchdog.fed(content=True)
                        continue
                    watchdog.fed(content=weight(piece) > 0)
                    if event := assembly.add(piece):
                        shown = True
                        ports.emit(event)
            _check_complete(assembly)
        except TimeoutError as error:
            self._drop(assembly, shown=shown)
            if watchdog.starved:
                raise Starved(
                    f"The server sent nothing but signs of life for {ports.patience / 60:.0f} min. "
                    "Where the model does think so long, raise patienceMinutes."
                ) from error
            raise Stalled(f"The model sent nothing for {ports.silence:.0f} s.") from error
        except ProviderError as error:
            if isinstance(error, TooMuch) and (parts := assembly.beginning()):
                self._keep(assembly, parts, cut=True)
            else:
                self._drop(assembly, shown=shown)
            raise
        except asyncio.CancelledError:
            if parts := assembly.partial():
                self._keep(assembly, parts, cut=True)
            else:
                self._pay(assembly)
            raise
        return assembly

    def _queued(self, queued: Queued) -> None:
        """The model is not at work yet."""
        self._sent = self._ports.clock.monotonic()
        self._ports.emit(RequestQueued(seconds=queued.seconds, ahead=queued.ahead))

    def _quiet(self, seconds: float) -> None:
        self._ports.emit(StreamSilent(seconds=seconds, limit=self._ports.silence))

    async def _recovered(self, error: ProviderError) -> bool:
        """Whether something was changed that makes another attempt worth it at once."""
        if error.kind is FailureKind.TOO_LONG and not self._compacted:
            self._compacted = True
            return await self._ports.compact(self.model)
        if error.kind is FailureKind.REFUSED and "image" in str(error).lower():
            if not self._talk.has_images():
                return False
            self._ports.emit(ImagesDropped(reason=str(error)))
            return True
        if error.kind is not FailureKind.OVERLOADED or isinstance(error, ModelLoading):
            return False
        self._overloads += 1
        if (
            self._overloads < OVERLOADS
            or (other := await self._ports.stand_in(self.model.name)) is None
        ):
            return False
        notice = f"{self.model.name} is overloaded; going on with {other.name}."
        self._ports.emit(Noticed(text=notice, tone="warning"))
        self.model, self._overloads, self._raised = other, 0, False
        return True

    async def _wait(self, error: ProviderError, attempt: int) -> None:
        """Wait before another attempt, or raise the error when there is none."""
        ports = self._ports
        if isinstance(error, ModelLoading):
            self._loads += 1
            tries, most = self._loads, 0  # by the clock
        else:
            tries = attempt - self._loads
            most = self._most(error, tries)
        seconds = ports.retry_in(error, tries) if not most or tries < most else None
        if seconds is None:
            error.tries = tries
            raise error
        again = max(0, most - 1)
        ports.emit(
            RetryScheduled(attempt=tries, attempts=again, seconds=seconds, reason=str(error))
        )
        if error.waits is None:  # else the queue waits, where its place is kept
            await ports.clock.sleep(seconds)

    def _most(self, error: ProviderError, tries: int) -> int:
        """How often it is asked at most while it fails like this: what is told is what is done."""
        ports, most = self._ports, self._ports.attempts
        if isinstance(error, Starved):
            return tries
        if isinstance(error, Stalled):
            self._stalls += 1
            most = min(most, tries + STALLS - self._stalls + 1)
        if error.kind is FailureKind.TRANSPORT and not (ports.patient or self.requests):
            most = min(most, FIRST_TRIES)
        return most

    def _watch_cache(self, assembly: Assembly) -> None:
        ports = self._ports
        if miss := ports.cache.saw(self._request, assembly.usage, ports.clock.monotonic()):
            ports.emit(Noticed(text=miss, tone="dim", brief="cache missed"))

    def _may_raise(self, assembly: Assembly) -> bool:
        """The first cut at the output limit is answered by asking again with the highest one."""
        cut = assembly.reason is StopReason.LENGTH
        return cut and not self._raised and self.model.frame.can_raise()

    def _drop(self, assembly: Assembly, *, shown: bool) -> None:
        """What streamed is void, but it was paid for."""
        self._pay(assembly)
        if shown:
            self._ports.emit(MessageDropped())

    def _pay(self, assembly: Assembly) -> None:
        """Told at once: no later answer may come that could say it."""
        cost = self._count(assembly)
        if assembly.usage != Usage():
            model = assembly.model or self.model.name
            self._ports.emit(AttemptPaid(model=model, usage=assembly.usage, cost=cost))

    def _count(self, assembly: Assembly) -> float:
        cost = self.model.price(assembly.usage)
        self.usage = self.usage.plus(assembly.usage)
        self.cost += cost
        return cost

    def _keep(
        self, assembly: Assembly, parts: tuple[AssistantPart, ...], *, cut: bool = False
    ) -> None:
        cost = self._count(assembly)
        self.requests += 1
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


def _check_complete(assembly: Assembly) -> None:
    if assembly.reason is None:
        raise ProviderError(FailureKind.TRANSPORT, "The connection broke in mid-answer.")
    if not assembly.parts and assembly.reason not in (StopReason.REFUSAL, StopReason.LENGTH):
        raise Stalled("The model sent an empty answer.")
