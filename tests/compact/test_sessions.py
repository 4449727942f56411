"""Whole sessions in small windows: bounded, valid, and nothing that matters is forgotten."""

from __future__ import annotations

import random

import msgspec
import pytest

from gatewright.agent.compact.compactor import budget_of
from gatewright.agent.compact.estimate import turns_tokens
from gatewright.agent.providers.protocol import Request
from gatewright.agent.record import codec as wire
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import Compacted, Envelope, Noticed, ResultsCleared, TurnEnded
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import ToolCall, ToolResult
from tests.agent.test_conversation import defects
from tests.compact.windowed import Windowed, is_summary, texts
from tests.fakes.examples import some
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import house
from tests.fakes.recorder import Recorder

NEEDLE = "the harbour is called Whitmoor-7731"


def stored(envelopes: list[Envelope]) -> list[Envelope]:
    return [wire.decode(wire.encode(e, "s")) for e in envelopes if e.event.durable]


def fold(envelopes: list[Envelope]) -> Conversation:
    talk = Conversation()
    boundary = max(
        (i for i, e in enumerate(envelopes) if isinstance(e.event, Compacted)), default=0
    )
    for envelope in envelopes[boundary:]:  # as a resume reads it
        talk.apply(envelope.event)
    return talk


@pytest.mark.parametrize("seed", some(range(100), 4))
async def test_random_sessions_stay_valid_and_bounded(seed: int) -> None:
    rng = random.Random(seed)
    window = rng.choice([8_000, 20_000, 60_000])
    provider = Windowed(window, calls=rng.randrange(4))
    sizes = [10, 100, 2_000, window // 2, window * 2]

    def result(call: ToolCall) -> ToolResult:
        return ToolResult.text("r" * rng.choice(sizes))

    executor = FakeExecutor({"Read": result})
    async with (
        house("", executor=executor, open_model=provider.open) as built,
        Recorder(built.session) as seen,
    ):
        prompts = [f"{n}: " + "p" * rng.choice(sizes) for n in range(rng.randrange(2, 7))]
        for number, prompt in enumerate(prompts, start=1):
            built.session.submit(prompt)
            await seen.until(TurnEnded, count=number)
        asked = [request for request in provider.requests if not is_summary(request)]
        assert [defects(request.turns) for request in asked] == [[]] * len(asked)
        ends = seen.of(TurnEnded)
        assert all(end.stop in (Stop.COMPLETED, Stop.PROMPT_TOO_LONG) for end in ends)
        assert len(provider.requests) < 60
        live = built.talk
        again = fold(stored(seen.envelopes))
        assert again.view() == live.view()
        assert (again.words, again.tokens) == (live.words, live.tokens)
        for event in seen.of(Compacted):
            limit = budget_of(provider.open("m", "")).auto
            assert turns_tokens(event.turns) < event.tokens_after < limit


async def test_a_provider_that_always_says_too_long_ends() -> None:
    provider = Windowed(100_000, calls=0)
    async with (
        house("", open_model=provider.open) as built,
        Recorder(built.session) as seen,
    ):
        for number in range(1, 6):
            built.session.submit("word " * 10_000)
            await seen.until(TurnEnded, count=number)
            provider.window = 10  # from now on everything is too long
        assert {end.stop for end in seen.of(TurnEnded)[1:]} == {Stop.PROMPT_TOO_LONG}
        assert len(provider.requests) < 40
        texts_ = [notice.text for notice in seen.of(Noticed)]
        assert any("could not be summarised" in text for text in texts_)


async def test_three_failures_turn_automatic_summaries_off_and_say_so() -> None:
    provider = Windowed(30_000, calls=0, summary=lambda request: "")
    async with (
        house("", open_model=provider.open) as built,
        Recorder(built.session) as seen,
    ):
        for number in range(1, 9):
            built.session.submit("word " * 4_000)
            await seen.until(TurnEnded, count=number)
        off = [n for n in seen.of(Noticed) if "Automatic summaries are off" in n.text]
        assert len(off) == 1
        assert provider.summaries <= 6
        assert seen.of(TurnEnded)[-1].stop is Stop.PROMPT_TOO_LONG
        assert "/compact" in seen.of(TurnEnded)[-1].message


async def test_old_results_go_first_and_only_when_it_pays() -> None:
    provider = Windowed(200_000, calls=30)
    executor = FakeExecutor({"Read": lambda call: ToolResult.text(f"{call.id} " + "r" * 30_000)})
    async with (
        house("", executor=executor, open_model=provider.open) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("read it all")
        await seen.until(TurnEnded)
        cleared = seen.of(ResultsCleared)
        assert len(cleared) == 1
        assert cleared[0].tokens >= 20_000
        assert provider.summaries == 0
        view = texts(provider.requests[-1].turns)
        assert view.count("an old result, cleared") == len(cleared[0].call_ids)
        assert "call1 r" not in view
        assert "call30 r" in view


async def test_a_needle_survives_three_compactions() -> None:
    """It stands in the person's words, in a summary, or in the state put back."""

    def summary(request: Request) -> str:
        return "Known: " + (
            "the pier is Elmgate-12" if "Elmgate-12" in texts(request.turns) else ""
        )

    async def remains(file_tokens: int) -> list[str]:
        return ["# Task list\n\n[>] paint the jetty Ochre-5"]

    provider = Windowed(24_000, calls=1, tool="Lookup", summary=summary)
    executor = FakeExecutor(
        {"Lookup": lambda call: ToolResult.text("Elmgate-12 " * (call.id == "call1") + "r" * 9_000)}
    )
    async with (
        house("", executor=executor, open_model=provider.open, remains=remains) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit(f"Remember: {NEEDLE}.")
        number = 1
        await seen.until(TurnEnded, count=1)
        while len(seen.of(Compacted)) < 3:
            number += 1
            built.session.submit(f"step {number} " + "x" * 100)
            await seen.until(TurnEnded, count=number)
            assert number < 60
        built.session.submit("What is the harbour called, and the pier?")
        await seen.until(TurnEnded, count=number + 1)
        told = texts(provider.requests[-1].turns)
        assert NEEDLE in told
        assert "the pier is Elmgate-12" in told
        assert "Ochre-5" in told
        compacted = seen.of(Compacted)[-1]
        assert msgspec.json.decode(msgspec.json.encode(compacted), type=Compacted) == compacted
        assert compacted.tokens_after < compacted.tokens_before


async def test_a_smaller_model_takes_over() -> None:
    provider = Windowed(400_000, calls=0)
    async with (
        house("", open_model=provider.open) as built,
        Recorder(built.session) as seen,
    ):
        for number in range(1, 21):
            built.session.submit(f"{number} " + "word " * 8_000)
            await seen.until(TurnEnded, count=number)
        assert provider.summaries == 0
        provider.window = 32_000
        await built.session.set_model("other")
        built.session.submit("and now?")
        ended = await seen.until(TurnEnded, count=21)
        assert ended.stop is Stop.COMPLETED
        assert provider.summaries == 1
        assert "and now?" in texts(provider.requests[-1].turns)
