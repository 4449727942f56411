"""Asks a model for a verdict: a quick look, and one with reasons where that one would block.

Whatever goes wrong is no verdict, never a yes: silence, refusals, errors, answers that cannot be
read. Each stage has its time, retries included. What a request used is told when it ends, also one
that nobody waits for any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TypeAlias

import msgspec

from gatewright.agent.auto.request import judging
from gatewright.agent.auto.verdict import LONGEST, Stage, Verdict, read
from gatewright.agent.errors import GatewrightError, ProviderError
from gatewright.agent.providers.protocol import Request, StopReason
from gatewright.agent.providers.registry import Opened
from gatewright.agent.providers.retry import TRANSIENT
from gatewright.agent.record.events import InputDelta, TextDelta, ThinkingDelta
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.agent.turn.answer_stream import Assembly

SECONDS: Mapping[Stage, float] = {"fast": 5.0, "thinking": 20.0}
AGAIN = 0.25  # seconds before the one further try
TALKED = "Its answer was too long."
Paid: TypeAlias = Callable[[str, Usage, float], object]  # by which model


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """Without a verdict `failure` says why, in a sentence."""

    verdict: Verdict | None
    stage: Stage
    failure: str = ""
    usage: Usage = Usage()
    cost: float = 0.0
    looks: int = 1  # requests that were answered, or tried


class Judge:
    """One model, the same for a session."""

    def __init__(
        self,
        opened: Opened,
        system: tuple[str, ...],
        *,
        stages: str = "both",
        seconds: Mapping[Stage, float] = SECONDS,
        paid: Paid | None = None,
    ) -> None:
        self.opened = opened
        self.seconds = seconds
        self.goes_by(system, stages)
        self._paid = paid

    def goes_by(self, system: tuple[str, ...], stages: str) -> None:
        """From the next request on."""
        self.system, self._stages = system, stages

    @property
    def name(self) -> str:
        return self.opened.name or self.opened.model

    async def rule(self, blocks: Sequence[str]) -> Ruling:
        """The verdict on the last action in these blocks."""
        if self._stages == "thinking":
            return await self.look("thinking", blocks)
        fast = await self.look("fast", blocks)
        word = "" if fast.verdict is None else fast.verdict.word
        talked = fast.failure == TALKED and self._stages == "both"  # no yes, and no failure either
        if word == "allow" or not (word or talked):
            return fast
        if self._stages == "fast" and fast.verdict is not None:
            left = msgspec.structs.replace(fast.verdict, word="ask")
            return msgspec.structs.replace(fast, verdict=left)
        slow = await self.look("thinking", blocks)
        return msgspec.structs.replace(
            slow,
            usage=fast.usage.plus(slow.usage),
            cost=fast.cost + slow.cost,
            looks=fast.looks + slow.looks,
        )

    async def look(self, stage: Stage, blocks: Sequence[str], *, review: bool = False) -> Ruling:
        """One stage alone; a review is of an agent that has ended."""
        request = judging(
            stage,
            model=self.opened.model,
            facts=self.opened.facts,
            system=self.system,
            blocks=blocks,
            review=review,
        )
        used: list[Usage] = []
        failure, verdict = "", None
        try:
            async with asyncio.timeout(self.seconds[stage]):
                text, failure = await self._answered(request, used, self.seconds[stage])
                verdict = None if failure else read(text, stage)
                failure = failure or ("" if verdict else "Its answer could not be read as one.")
        except TimeoutError:
            failure = f"It did not answer within {self.seconds[stage]:g} s."
        except GatewrightError as error:
            failure = str(error)
        total = Usage()
        for usage in used:
            total = total.plus(usage)
        return Ruling(
            verdict=verdict,
            stage=stage,
            failure=failure,
            usage=total,
            cost=sum(self.opened.facts.cost(usage) for usage in used),
            looks=max(1, len(used)),
        )

    async def _answered(self, request: Request, used: list[Usage], most: float) -> tuple[str, str]:
        """The text, and why it does not count; one further try where the fault may pass in time."""
        try:
            return await self._once(request, used)
        except ProviderError as error:
            pause = max(AGAIN, error.retry_after or 0.0)
            if error.kind not in TRANSIENT or pause >= most:
                raise
            await asyncio.sleep(pause)
            return await self._once(request, used)

    async def _once(self, request: Request, used: list[Usage]) -> tuple[str, str]:
        assembly, length = Assembly(frozenset()), 0
        try:
            async with aclosing(self.opened.provider.stream(request)) as pieces:
                async for piece in pieces:
                    match assembly.add(piece):
                        case (
                            TextDelta(text=text) | ThinkingDelta(text=text) | InputDelta(json=text)
                        ):
                            length += len(text)
                        case _:
                            pass
                    if length > LONGEST:
                        return "", "Its answer had no end."
        finally:
            used.append(assembly.usage)
            if self._paid is not None and assembly.usage != Usage():
                cost = self.opened.facts.cost(assembly.usage)
                self._paid(self.opened.model, assembly.usage, cost)
        if assembly.reason is StopReason.REFUSAL:
            return "", "It declined to judge."
        if assembly.reason is StopReason.LENGTH:
            return "", TALKED
        if assembly.reason is not StopReason.END:
            return "", "Its answer was cut short."
        texts = [part.text for part in assembly.parts if isinstance(part, TextPart)]
        return "".join(texts), ""

    async def close(self) -> None:
        await self.opened.provider.close()
