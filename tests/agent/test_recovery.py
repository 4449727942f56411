"""What a turn does about answers that are cut, refused, empty or late."""

from __future__ import annotations

import pytest

from gatewright.agent.errors import ProviderError
from gatewright.agent.providers.retry import Backoff, RetryPolicy
from gatewright.agent.record.events import (
    Asked,
    AssistantMessage,
    AttemptPaid,
    Compacted,
    MessageDropped,
    Noticed,
    RetryScheduled,
    ToolFinished,
    TurnEnded,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.agent.record.session_state import Standing
from gatewright.agent.record.spending import Spending
from gatewright.agent.turn.answers import FIRST_TRIES
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.loop import RESUMES
from gatewright.agent.turn.loop_guard import STOP_AT
from gatewright.agent.turn.stop import Stop
from gatewright.tools.interact import Answer
from gatewright.tools.moments import ModelChange, Moment, Verdict
from tests.fakes.clock import FakeClock
from tests.fakes.house import house
from tests.fakes.recorder import Recorder

OVERLOADED = "error: overloaded message=Busy."


def script(*answers: str) -> str:
    return "\n---\n".join(answers)


async def test_the_first_cut_asks_again_with_the_highest_limit() -> None:
    text = script("say: Half of\nstop: length", "say: The whole answer.")
    async with house(text) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert [request.max_output for request in built.provider.requests] == [1000, 4000]
        assert [message.parts for message in seen.of(AssistantMessage)] == [
            (TextPart("The whole answer."),)
        ]
        assert len(seen.of(MessageDropped)) == 1
        assert (ended.stop, ended.requests) == (Stop.COMPLETED, 2)  # the dropped one is paid, too


@pytest.mark.parametrize(
    "first",
    [
        "usage: in=1000 out=20\nsay: Half of\nstop: length",
        "usage: in=1000 out=20\nsay: Half of\ncut:",
        "usage: in=1000 out=20\nsay: Half of\nerror: overloaded message=Busy.",
    ],
)
async def test_what_was_dropped_is_paid_by_the_session_too(first: str) -> None:
    text = script(first, "usage: in=2000 out=30\nsay: The whole answer.")
    async with house(text) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.cost == pytest.approx(3.05)
        assert ended.usage == Usage(input=3000, output=50)
        assert [paid.cost for paid in seen.of(AttemptPaid)] == [pytest.approx(1.02)]
        assert [message.cost for message in seen.of(AssistantMessage)] == [pytest.approx(2.03)]
        assert seen.of(UsageChanged)[-1].cost == ended.cost


def a_minute(*_: object) -> float:
    return 60.0


async def test_what_no_later_answer_followed_is_paid_by_the_session() -> None:
    clock = FakeClock()
    text = script("usage: in=1000 out=20\nsay: Half of\ncut:", "say: never")
    async with (
        house(text, clock=clock, retry_in=a_minute) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("go")
        await seen.until(RetryScheduled)
        built.session.interrupt()
        ended = await seen.until(TurnEnded)
        assert ended.cost == pytest.approx(1.02)
        spent = built.session.spent
        assert (spent.usage, spent.cost) == (ended.usage, ended.cost)
        kept = [envelope.event for envelope in seen.envelopes if envelope.event.durable]
        again, standing = Spending(), Standing.after(kept)
        boundary = standing.stamped(Compacted(summary="", trigger="", tokens_before=0))
        for stored in (kept, [boundary]):  # and what begins at a boundary in the midst of a turn
            again.restore(stored)
            assert (again.usage, again.cost) == (ended.usage, ended.cost)
            again = Spending()


async def test_later_cuts_are_resumed_a_few_times_then_told() -> None:
    text = script(*["say: more\nstop: length"] * (RESUMES + 2))
    async with house(text) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.MODEL_ERROR
        assert "output limit" in ended.message
        notes = [event for event in seen.of(UserMessage) if event.hidden]
        assert len(notes) == RESUMES
        assert len(seen.of(AssistantMessage)) == RESUMES + 1


async def test_a_resumed_answer_ends_well() -> None:
    text = script("say: a\nstop: length", "say: b\nstop: length", "say: c")
    async with house(text) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.COMPLETED
        texts = [
            p.text for m in seen.of(AssistantMessage) for p in m.parts if isinstance(p, TextPart)
        ]
        assert texts == ["b", "c"]


async def test_an_overloaded_model_hands_over_to_the_next() -> None:
    text = script(*[OVERLOADED] * 3, "say: Here.")
    async with (
        house(text, fallback_names=("second",)) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert [request.model for request in built.provider.requests] == ["script"] * 3 + ["second"]
        assert seen.of(Noticed)[0].text == "script is overloaded; going on with second."
        assert ended.stop is Stop.COMPLETED


class NotTheSecond:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    async def at(self, moment: Moment) -> Verdict:
        if not isinstance(moment, ModelChange):
            return Verdict()
        self.asked.append((moment.before, moment.after, moment.reason))
        return Verdict(word="deny" if moment.after == "second" else "")


async def test_a_stand_in_that_somebody_refuses_is_passed_over() -> None:
    text = script(*[OVERLOADED] * 3, "say: Here.")
    says = NotTheSecond()
    async with (
        house(text, fallback_names=("second", "third"), moments=says) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("go")
        assert (await seen.until(TurnEnded)).stop is Stop.COMPLETED
        assert built.provider.requests[-1].model == "third"
        assert says.asked == [("script", "second", "fallback"), ("script", "third", "fallback")]


async def test_where_all_stand_ins_are_refused_the_overload_is_told() -> None:
    async with (
        house(
            script(*[OVERLOADED] * 5), fallback_names=("second",), moments=NotTheSecond()
        ) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("go")
        assert (await seen.until(TurnEnded)).stop is Stop.MODEL_ERROR
        assert {request.model for request in built.provider.requests} == {"script"}


async def test_without_another_model_the_overload_is_told() -> None:
    async with house(script(*[OVERLOADED] * 5)) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.message) == (Stop.MODEL_ERROR, "Busy. Given up after 3 tries.")
        assert len(built.provider.requests) == 3


def ten_tries(error: ProviderError, attempt: int) -> float | None:
    return 0.0 if attempt < 10 else None


@pytest.mark.parametrize(("before", "tries"), [((), FIRST_TRIES), (("say: Hi.",), 10)])
async def test_a_server_never_heard_of_is_given_up_sooner(
    before: tuple[str, ...], tries: int
) -> None:
    text = script(*before, *["error: transport message=Refused."] * 12)
    async with (
        house(text, retry_in=ten_tries, attempts=10) as built,
        Recorder(built.session) as seen,
    ):
        for number in range(len(before)):
            built.session.submit("go")
            await seen.until(TurnEnded, count=number + 1)
        built.session.submit("go")
        ended = await seen.until(TurnEnded, count=len(before) + 1)
        said = f"Refused. Given up after {tries} tries."
        assert (ended.stop, ended.message) == (Stop.MODEL_ERROR, said)
        assert len(built.provider.requests) == len(before) + tries
        told = [(event.attempt, event.attempts) for event in seen.of(RetryScheduled)]
        assert told == [(n, tries - 1) for n in range(1, tries)]  # the last one is "n of n"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ("700", "wait 12 min; try again then."),
        ("3600", "wait 60 min; try again then."),
        ("18000", "wait 5 hours; try again then."),
        ("604800", "wait 7 days; try again then."),
        ("1000000000", "wait more than 30 days; choose another model with /model."),
        ("inf", "wait more than 30 days; choose another model with /model."),
    ],
)
async def test_a_wait_is_told_in_words_that_fit(seconds: str, said: str) -> None:
    text = f"error: rate retry_after={seconds} message=Slow."
    backoff = Backoff(RetryPolicy(), random=lambda: 0.5)
    async with house(text, retry_in=backoff) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.message) == (Stop.MODEL_ERROR, f"Slow. It asks to {said}")
        assert len(built.provider.requests) == 1


async def test_a_refusal_is_told() -> None:
    text = "say: I can't.\nstop: refusal"
    async with house(text) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.message) == (Stop.MODEL_ERROR, "The model declined to answer.")


async def test_an_empty_answer_is_asked_for_twice_more() -> None:
    text = script("usage: in=1", "usage: in=1", "usage: in=1", "say: never")
    async with house(text) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.message) == (
            Stop.MODEL_ERROR,
            "The model sent an empty answer. Given up after 3 tries.",
        )
        assert seen.of(AssistantMessage) == []
        assert len(seen.of(RetryScheduled)) == 2


async def test_waits_between_attempts_are_those_of_the_policy() -> None:
    clock = FakeClock()
    text = script("error: rate message=Slow down.", "say: Now.")
    async with house(text, clock=clock) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        await seen.until(TurnEnded)
        assert clock.slept == [event.seconds for event in seen.of(RetryScheduled)] == [0.0]


@pytest.mark.parametrize(("choice", "stop"), [("go_on", Stop.COMPLETED), ("stop", Stop.LOOP_GUARD)])
async def test_a_circle_asks_the_person_where_there_is_one(choice: str, stop: Stop) -> None:
    text = script(*['call: ReadA {"x": 1}'] * STOP_AT, "say: Done.")
    async with house(text, interactive=True) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        asked = await seen.until(Asked)
        assert "ReadA" in asked.ask.title
        built.session.answer(asked.id, Answer((choice,)))
        ended = await seen.until(TurnEnded)
        assert ended.stop is stop


async def test_the_budget_counts_the_whole_session() -> None:
    text = script("say: one", "call: ReadA", "say: never")
    limits = Limits(cost=0.03)  # each answer costs 0.015
    async with house(text, limits=limits) as built, Recorder(built.session) as seen:
        built.session.submit("first")
        await seen.until(TurnEnded)
        built.session.submit("second")
        ended = await seen.until(TurnEnded, count=2)
        assert ended.stop is Stop.BUDGET_EXHAUSTED
        assert len(seen.of(ToolFinished)) == 1
