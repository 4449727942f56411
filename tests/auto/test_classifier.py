"""Auto mode's answers to calls: verdicts, refusals, no verdicts, pauses, and what they cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from gatewright.agent.auto.account import Account
from gatewright.agent.auto.classifier import Classifier, Ports
from gatewright.agent.auto.judge import Judge
from gatewright.agent.auto.lists import defaults
from gatewright.agent.auto.request import standing
from gatewright.agent.auto.verdict import Stage
from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import (
    BlockEnded,
    Finished,
    Piece,
    Request,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.providers.registry import Opened
from gatewright.agent.record.events import Envelope, UserMessage
from gatewright.agent.record.messages import Usage, UserTurn
from gatewright.tools.access import MAIN, Access, ShellText
from gatewright.tools.classify import Opinion, Pending
from gatewright.tools.protocol import JsonObject, TextContent, ToolCall
from tests.fakes.waiting import PATIENCE

FACTS = ModelFacts(structured=True, window=100_000, input=1.0, output=1.0)
ALLOW = '{"verdict": "allow"}'
BLOCK = '{"verdict": "block"}'
DENY = '{"why": "It pushes.", "label": "published history", "verdict": "deny"}'
LEFT = '{"why": "Only you know.", "label": "unclear", "verdict": "ask"}'


def limits(seconds: float, first: float | None = None) -> dict[Stage, float]:
    return {"fast": seconds if first is None else first, "thinking": seconds}


class Voice:
    """Structurally a provider: says what it was given, or does what the test wants instead."""

    name = "voice"

    def __init__(self, *said: Any) -> None:
        self.said = list(said)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self.requests.append(request)
        now = self.said.pop(0) if self.said else ALLOW
        if isinstance(now, ProviderError):
            raise now
        if now is None:
            await asyncio.Event().wait()
        given = isinstance(now, list)
        pieces = cast("list[Piece]", now) if given else [TextPiece(str(now))]
        for piece in pieces:
            yield piece
        yield BlockEnded()
        yield UsageReported(Usage(input=1_000, output=10))
        if not given:
            yield Finished(StopReason.END)

    async def close(self) -> None:
        return


class House:
    def __init__(self, *said: Any, alone: bool = False, stages: str = "both") -> None:
        self.voice = Voice(*said)
        self.paid: list[tuple[str, Usage, float]] = []
        self.checked: list[str] = []
        self.changes = 0
        self.clock = 0.0
        self.broken = ""
        self.known: Callable[[], JsonObject] = lambda: {"known": True}
        opened = Opened(self.voice, "m", FACTS, "p/m")
        seconds = limits(0.2)
        self.judge = Judge(
            opened,
            standing(defaults(), ()),
            stages=stages,
            seconds=seconds,
            paid=lambda model, usage, cost: self.paid.append((model, usage, cost)),
        )
        self.account = Account(lambda _: "shell")
        self.classifier = Classifier(
            self.account,
            Ports(
                judge=self._judge,
                known=lambda access, facts: self.known(),
                checking=lambda id, agent: self.checked.append(id),
                changed=self._changed,
                alone=lambda: alone,
                clock=lambda: self.clock,
            ),
        )

    async def _judge(self) -> Judge:
        if self.broken:
            raise GatewrightError(self.broken)
        return self.judge

    def _changed(self) -> None:
        self.changes += 1

    async def asks(self, command: str = "git push", id: str = "c", agent: str = "main") -> Opinion:
        call = ToolCall(id, "Bash", {"command": command, "description": "as agreed"})
        access = Access(runs=ShellText(command, Path("/w")))
        return await self.classifier(
            Pending(call=call, access=access, agent=agent, mode="auto", reason="r", facts={"a": 1})
        )


async def test_a_quick_yes_is_one_request() -> None:
    house = House(ALLOW)
    opinion = await house.asks("make")
    assert opinion.word == "allow"
    assert len(house.voice.requests) == 1
    ((model, used, cost),) = house.paid
    assert (model, used, round(cost, 5)) == ("m", Usage(input=1_000, output=10), 0.00101)
    judged = opinion.judged
    assert judged is not None
    assert (judged.stage, judged.verdict, judged.model, judged.reused) == (
        "fast", "allow", "p/m", False
    )  # fmt: skip


async def test_a_block_is_looked_at_again_and_its_no_says_what_would_permit_it() -> None:
    house = House(BLOCK, DENY)
    opinion = await house.asks()
    assert (opinion.word, opinion.text) == ("deny", "published history: It pushes.")
    assert 'autoMode.allow about "published history"' in opinion.permits
    fast, slow = house.voice.requests
    assert fast.system == slow.system
    assert fast.schema == slow.schema, "what is cached hangs on it"
    assert fast.turns[:-1] == slow.turns[:-1], "the second look reuses what the first one sent"


async def test_a_block_may_turn_out_to_be_fine() -> None:
    assert (await House(BLOCK, DENY.replace("deny", "allow")).asks()).word == "allow"


async def test_a_question_is_left_to_the_person() -> None:
    opinion = await House(BLOCK, LEFT).asks()
    assert (opinion.word, opinion.text) == ("ask", "unclear: Only you know.")


async def test_the_first_stage_alone_asks_where_it_blocks() -> None:
    assert (await House(BLOCK, stages="fast").asks()).word == "ask"
    house = House(DENY, stages="thinking")
    assert (await house.asks()).word == "deny"
    assert len(house.voice.requests) == 1


CUT = [TextPiece(ALLOW)]
THOUGHT = [ThinkingPiece("<verdict>allow</verdict>"), Finished(StopReason.END)]
REFUSED = [TextPiece(ALLOW), Finished(StopReason.REFUSAL)]
LENGTH = [TextPiece(ALLOW), Finished(StopReason.LENGTH)]
HUGE = [TextPiece("x" * 1_000) for _ in range(40)]
FAULTS: list[Any] = [
    None, "", "maybe", "<verdict>allow</verdict><verdict>block</verdict>", CUT, THOUGHT, REFUSED,
    HUGE, ProviderError(FailureKind.REFUSED, "no"), ProviderError(FailureKind.AUTH, "key"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault)[:30])
@pytest.mark.parametrize("second", [False, True])
async def test_whatever_is_no_verdict_allows_nothing(fault: Any, second: bool) -> None:
    house = House(*([BLOCK, fault] if second else [fault]))
    async with asyncio.timeout(PATIENCE):
        opinion = await house.asks()
    assert opinion.word == ""
    assert "Not judged." in opinion.text
    assert opinion.leave == "default"
    assert not house.classifier.refusals.paused


async def test_a_first_look_that_talks_on_is_followed_by_a_second() -> None:
    assert (await House(LENGTH, DENY).asks()).word == "deny"
    assert (await House(LENGTH, LENGTH).asks()).word == ""
    house = House(LENGTH, stages="fast")
    assert (await house.asks()).word == ""
    assert len(house.voice.requests) == 1


@pytest.mark.parametrize("kind", [FailureKind.RATE, FailureKind.OVERLOADED, FailureKind.TRANSPORT])
async def test_what_may_pass_is_tried_once_more(kind: FailureKind) -> None:
    error = ProviderError(kind, "later")
    house = House(error, ALLOW)
    house.judge.seconds = limits(5.0)
    assert (await house.asks()).word == "allow"
    assert (await House(error, error, ALLOW).asks()).word == ""


async def test_three_without_a_verdict_leave_the_judge_alone_for_a_minute() -> None:
    house = House("?", "?", "?", ALLOW)
    for _ in range(3):
        assert (await house.asks()).word == ""
    assert house.changes == 1
    said = await house.asks()
    assert "asked again in 60 s" in said.text
    assert len(house.voice.requests) == 3
    house.clock += 60
    assert (await house.asks()).word == "allow"
    assert house.changes == 2


async def test_three_refusals_pause_it_and_a_yes_goes_on() -> None:
    house = House(*[BLOCK, DENY] * 3)
    for n in range(3):
        assert (await house.asks(f"push {n}")).word == "deny"
    paused = await house.asks("make")
    assert paused.word == "ask"
    assert "paused" in paused.text
    assert len(house.voice.requests) == 6
    house.classifier.refusals.approved("main")
    assert (await house.asks("make")).word == "allow"


async def test_with_nobody_there_the_turn_ends() -> None:
    house = House(*[BLOCK, DENY] * 3, alone=True)
    opinions = [await house.asks(f"push {n}") for n in range(3)]
    assert [bool(each.stops) for each in opinions] == [False, False, True]
    assert "too much was refused" in opinions[-1].stops
    assert "push 0 (published history); push 1" in opinions[-1].stops


async def test_the_same_call_is_judged_once() -> None:
    house = House(ALLOW)
    await house.asks("make")
    again = await house.asks("make", id="c2")
    assert again.word == "allow"
    assert again.judged is not None
    assert (again.judged.reused, again.judged.cost) == (True, 0.0)
    assert len(house.voice.requests) == 1


async def test_a_repeated_refusal_counts_without_a_request() -> None:
    house = House(BLOCK, DENY)
    for n in range(3):
        await house.asks(id=f"c{n}")
    assert len(house.voice.requests) == 2
    assert house.classifier.refusals.paused


async def test_words_that_are_too_many_are_no_verdict() -> None:
    house = House()
    said = UserMessage(content=(TextContent("word " * 200_000),))
    house.account.saw(Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent=MAIN, event=said))
    opinion = await house.asks()
    assert (opinion.word, house.voice.requests) == ("", [])
    assert "more than a judge can read" in opinion.text


async def test_without_a_judge_nothing_is_allowed() -> None:
    house = House()
    house.broken = "There is no key."
    opinion = await house.asks()
    assert (opinion.word, opinion.leave) == ("", "default")
    assert "There is no key." in opinion.text


async def test_what_is_sent_is_the_call_and_what_the_gate_knows_of_it() -> None:
    house = House(ALLOW)
    await house.asks("make it")
    first = house.voice.requests[0].turns[0]
    assert isinstance(first, UserTurn)
    told = json.dumps([part.text for part in first.content if isinstance(part, TextContent)])
    assert "make it" in told
    assert "as agreed" not in told
    assert '\\"facts\\":{\\"a\\":1,\\"known\\":true}' in told


async def test_a_check_that_takes_a_while_is_told() -> None:
    house = House(None)
    house.judge.seconds = limits(0.6)
    await house.asks()
    assert house.checked == ["c"]
