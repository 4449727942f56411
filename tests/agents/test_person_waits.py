"""What a person takes to answer counts for no agent: neither who asks, nor who waits for it."""

from __future__ import annotations

from functools import partial

from gatewright.agent.agents.life import Life
from gatewright.agent.record import events as ev
from gatewright.agent.record.event_base import Event
from gatewright.agent.session.waiting.standstill import Standstills
from gatewright.agent.session.waiting.turn_waits import TurnWaits
from gatewright.agent.turn.stop import Stop
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Ask
from tests.agents.crews import Team, team
from tests.fakes.waiting import eventually

HOLD = "wait: gate\nsay: done\n"
ASK = Ask(kind="permission", title="Run ls", body=(), options=())
ANSWERED = Answer(cancelled=True)


class Now:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waits_that_overlap_count_once_and_a_parted_one_waits_no_more() -> None:
    now = Now()
    still = Standstills(now)
    still.begin(1, ["c", "p"])
    now.now = 10
    still.begin(2, ["d", "p"])
    now.now = 15
    still.end(1)
    assert (still.of("c").seconds, still.of("p").seconds) == (15, 15)
    still.part("d")
    now.now = 30
    assert (still.of("d").seconds, still.of("p").seconds) == (20, 15)
    assert still.of("d").now
    assert not still.of("p").now
    still.forget("d")
    still.end(2)
    assert still.of("d").seconds == 0


def turn(waits: TurnWaits, *events: tuple[Event, str]) -> int:
    found = 0
    for event, agent in events:
        stamped = waits.stamped(event, agent)  # type: ignore[arg-type]
        if isinstance(stamped, ev.TurnEnded) and agent == MAIN:
            found = stamped.waited
    return found


def test_the_end_of_a_turn_says_what_a_person_took_of_it() -> None:
    now = Now()
    waits = TurnWaits(now)
    a, w = "main/a1", "main/w1"
    turn(waits, (ev.TurnStarted(), MAIN), (ev.Asked(id=1, ask=ASK), MAIN))
    now.now = 5
    turn(waits, (ev.Answered(id=1, answer=ANSWERED), MAIN))
    turn(waits, (ev.AgentStarted(child=a, kind="x", prompt=""), MAIN), (ev.TurnStarted(), a))
    turn(waits, (ev.Asked(id=2, ask=ASK), a), (ev.Asked(id=3, ask=ASK), w))
    now.now = 9
    turn(waits, (ev.AgentProgressed(child=a, state="asks", background=True), a))
    now.now = 60
    assert turn(waits, (ev.TurnEnded(Stop.COMPLETED), MAIN)) == 9000
    again = ((ev.TurnStarted(), MAIN), (ev.Answered(id=3, answer=ANSWERED), w))
    assert turn(waits, *again, (ev.TurnEnded(Stop.COMPLETED), MAIN)) == 0


def progress(made: Team, path: str) -> list[ev.AgentProgressed]:
    events = (one.event for one in made.envelopes)
    return [e for e in events if isinstance(e, ev.AgentProgressed) and e.child == path]


def stands(life: Life) -> bool:
    return life.still.now


async def test_an_agent_that_waits_for_one_that_asks_stands_still_with_it() -> None:
    async with team(HOLD) as made:
        parent = made.start("parent")
        await made.provider.reached("gate")
        child = made.start("child", attended=True, owner=parent.path, parent=parent.path)
        await eventually(lambda: len(made.provider.requests) >= 2)
        made.crew.asks(child.path, True)
        for life in (child, parent):
            found = partial(progress, made, life.path)
            await eventually(lambda: any(each.still for each in found()))  # noqa: B023  at once
        assert child.is_asking
        assert not parent.is_asking
        made.crew.release(child)
        assert not stands(parent), "nobody waits for it any more"
        assert stands(child)
        made.crew.asks(child.path, False)
        assert not stands(child)
        made.provider.release("gate")
        for life in (child, parent):
            await life.gone.wait()
            (end,) = [
                e for one in made.envelopes
                if isinstance(e := one.event, ev.AgentFinished) and e.child == life.path
            ]  # fmt: skip
            assert 0 <= end.waited <= end.ms


async def test_what_an_agent_asks_without_the_gate_counts_for_nobody_either() -> None:
    async with team(HOLD) as made:
        life = made.start("look")
        await made.provider.reached("gate")
        made.house.journal.publish(ev.Asked(id=7, ask=ASK), life.path)
        assert stands(life)
        made.house.journal.publish(ev.Answered(id=7, answer=ANSWERED), life.path)
        assert not stands(life)
        assert not life.is_asking
        made.provider.release("gate")
        await life.gone.wait()
