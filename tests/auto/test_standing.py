"""When auto mode stands still, and how long a verdict holds."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.auto.reuse import Reuse
from gatewright.agent.auto.standing import DOWN, Breaker, Refusals
from gatewright.tools.access import Access, ShellText
from gatewright.tools.classify import Opinion, Pending
from gatewright.tools.protocol import ToolCall


def test_three_in_a_row_of_one_agent_or_twenty_in_all() -> None:
    refusals = Refusals()
    assert [refusals.denied("main", "a") for _ in range(3)] == [False, False, True]
    refusals.approved("main")
    assert not refusals.paused
    for n in range(16):
        assert not refusals.denied(f"main/{n}", "a")
    assert refusals.denied("main/x", "a"), "the twentieth in all"
    refusals.clear()
    assert not refusals.paused
    assert not refusals.denied("main", "a")


def test_an_allow_ends_the_row() -> None:
    refusals = Refusals()
    for _ in range(6):
        refusals.denied("main", "a")
        refusals.approved("main")
        refusals.denied("main", "a")
        refusals.allowed("main")
    assert not refusals.paused


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_three_without_a_verdict_are_a_minute_of_silence_then_one_trial() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    assert [breaker.heard(verdict=False) for _ in range(3)] == [False, False, True]
    assert not breaker.may_ask()
    clock.now += DOWN
    assert breaker.may_ask()
    assert not breaker.may_ask(), "one trial alone"
    assert not breaker.heard(verdict=False)
    assert breaker.seconds() == DOWN
    clock.now += DOWN
    assert breaker.may_ask()
    assert breaker.heard(verdict=True)
    assert breaker.may_ask()


def test_half_of_the_last_ten() -> None:
    breaker = Breaker(Clock())
    for _ in range(5):
        assert not breaker.down
        breaker.heard(verdict=True)
        breaker.heard(verdict=False)
    assert breaker.down


def test_a_trial_that_nobody_waited_for_is_none() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(3):
        breaker.heard(verdict=False)
    clock.now += DOWN
    assert breaker.may_ask()
    breaker.gave_up()
    assert breaker.may_ask()


def pending(command: str, id: str = "c", said: str = "") -> Pending:
    call = ToolCall(id, "Bash", {"command": command, "description": said})
    access = Access(runs=ShellText(command, Path("/w")))
    return Pending(call=call, access=access, agent="main", mode="auto", reason="r")


def test_an_allow_holds_for_the_same_call_until_something_else_ran() -> None:
    reuse = Reuse()
    reuse.keep(pending("make", "c1"), Opinion(word="allow"), reuse.now)
    reuse.acted("c1")
    assert reuse.find(pending("make", "c2", "said another way")) is not None
    assert reuse.find(pending("make all")) is None
    reuse.acted("c3")
    assert reuse.find(pending("make")) is None


def test_a_refusal_holds_until_the_person_speaks() -> None:
    reuse = Reuse()
    reuse.keep(pending("git push"), Opinion(word="deny"), reuse.now)
    reuse.acted("other")
    assert reuse.find(pending("git push")) is not None
    reuse.spoken()
    assert reuse.find(pending("git push")) is None


def test_no_verdict_and_a_question_are_not_kept() -> None:
    reuse = Reuse()
    reuse.keep(pending("a"), Opinion(), reuse.now)
    reuse.keep(pending("a"), Opinion(word="ask"), reuse.now)
    assert reuse.find(pending("a")) is None


def test_what_was_asked_for_before_the_person_spoke_is_not_kept() -> None:
    reuse = Reuse()
    since = reuse.now
    reuse.spoken()
    reuse.keep(pending("git push"), Opinion(word="deny"), since)
    assert reuse.find(pending("git push")) is None


def test_an_allow_is_not_kept_where_something_ran_while_it_was_judged() -> None:
    reuse = Reuse()
    since = reuse.now
    reuse.acted("other")
    reuse.keep(pending("make"), Opinion(word="allow"), since)
    assert reuse.find(pending("make")) is None
    reuse.keep(pending("git push"), Opinion(word="deny"), since)
    assert reuse.find(pending("git push")) is not None
