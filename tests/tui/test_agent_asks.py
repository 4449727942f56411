"""Questions of several agents at once: whose turn it is, who asks, and what an answer means."""

from __future__ import annotations

import pytest

from gatewright.agent.record import events as ev
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tui.ask.guard import HOLD, QUIET
from gatewright.tui.reduce import reduce
from gatewright.tui.state import View
from tests.tui.agent_scenes import asks, start
from tests.tui.asked import permission
from tests.tui.stage import Stage, stage
from tests.tui.test_state import play

ASK = Ask(kind="permission", title="Run ls", body=(), options=(Option("once", "Yes", "y"),))


def asked(view: View, *numbers: tuple[int, str]) -> View:
    for number, agent in numbers:
        view, _ = play(ev.Asked(id=number, ask=ASK), view=view, agent=agent)
    return view


def known(*background: str) -> View:
    view = View()
    for child in ("main/a1", "main/a2", "main/b1", "main/b2"):
        event = ev.AgentStarted(child=child, kind="x", prompt="", background=child in background)
        view, _ = play(event, view=view)
    return view


def order(view: View) -> list[int]:
    return [pending.id for pending in view.asks]


def test_they_come_in_the_order_in_which_they_were_asked() -> None:
    view = asked(known(), (1, "main/a1"), (2, "main/a2"), (3, "main"))
    assert order(view) == [1, 2, 3]


def test_the_foreground_goes_first_but_never_in_place_of_what_is_seen() -> None:
    view = known("main/b1", "main/b2")
    view = asked(view, (1, "main/b1"), (2, "main/b2"), (3, "main/a1"), (4, "main"), (5, "main/b1"))
    assert order(view) == [1, 3, 4, 2, 5]
    view, _ = play(ev.Answered(id=1, answer=Answer()), view=view, agent="main/b1")
    assert order(view) == [3, 4, 2, 5]


def test_what_a_background_agent_started_is_in_the_background() -> None:
    view = asked(known("main/b1"), (1, "main"), (2, "main/b1/c1"), (3, "main/a1"))
    assert order(view) == [1, 3, 2]


async def two(s: Stage) -> None:
    first, second = start(s.session, 0), start(s.session, 1)
    asks(s.session, first, 1)
    await s.see("Explore asks")
    asks(s.session, second, 2)
    await s.see("1 of 2")
    s.clock.now += 2 * QUIET


async def test_who_asks_and_what_for_and_how_long_it_waits() -> None:
    async with stage(size=(80, 34)) as s:
        await two(s)
        await s.see("Explore asks", "Find who renews the lease", "1 of 2")
        s.session.now += 75
        await s.see("waits 1 min")


async def test_each_answer_reaches_the_one_who_asked() -> None:
    async with stage(size=(80, 34)) as s:
        await two(s)
        await s.press("y")
        await s.until(lambda: s.session.answers == [(1, Answer(("once",)))])
        await s.see("general-purpose asks")
        await s.press("y")  # the one of before, held down
        await s.pilot.pause(2 * HOLD)
        assert len(s.session.answers) == 1
        s.app.repl.box.put("")
        await s.pilot.pause(0.05)
        s.clock.now += 4 * QUIET
        await s.press("n")
        await s.until(lambda: s.session.answers[1:] == [(2, Answer(("no",)))])


async def test_x_stops_the_agent_that_asks_and_answers_nothing() -> None:
    async with stage(size=(80, 34)) as s:
        await two(s)
        await s.see("x  Stop Explore")
        await s.press("x")
        await s.until(lambda: s.session.stopped == ["main/a0"])
        assert s.session.answers == []


async def test_stopping_can_be_chosen_with_the_arrows() -> None:
    async with stage(size=(80, 34)) as s:
        await two(s)
        for _ in range(5):
            await s.press("down")
        await s.see("▸ x  Stop Explore")
        await s.press("enter")
        await s.until(lambda: s.session.stopped == ["main/a0"])
        assert s.session.answers == []


async def test_x_in_a_sentence_stops_nobody() -> None:
    async with stage(size=(80, 34)) as s:
        await two(s)
        await s.press("x", "y")
        await s.pilot.pause(2 * HOLD)
        assert s.session.stopped == []
        assert s.session.answers == []
        assert s.app.repl.box.text == "xy"


async def test_the_main_agent_cannot_be_stopped_so() -> None:
    async with stage(size=(80, 34)) as s:
        s.session.publish(ev.Asked(id=1, ask=permission()))
        text = await s.see("Yes, once")
        assert "Stop " not in text
        assert "waits" not in text
        assert s.app.repl.asking._ticking is None  # pyright: ignore[reportPrivateUsage]


async def test_five_at_once_are_all_seen_and_all_answered_to_the_right_one() -> None:
    async with stage(size=(80, 34)) as s:
        for number in range(5):
            asks(s.session, start(s.session, number, background=number % 2 == 1), number + 1)
        await s.see("1 of 5")
        for _ in range(5):
            await s.settled()
            s.app.repl.panel.seen()
            s.clock.now += 4 * QUIET
            asked = s.app.repl.view.asks[0]
            await s.press("y")
            await s.until(lambda: asked not in s.app.repl.view.asks)  # noqa: B023  at once
        assert [number for number, _ in s.session.answers] == [1, 3, 5, 2, 4]
        assert s.app.repl.box.text == ""


def test_who_waited_behind_another_question_waits_since_it_asked() -> None:
    view = known()
    for number, child in ((1, "main/a1"), (2, "main/a2")):
        asks_now = ev.AgentProgressed(child=child, state="asks", phase="waiting")
        view, _ = reduce(view, at(100.0 + number, asks_now, child))
    view, _ = reduce(view, at(103.0, ev.Asked(id=1, ask=ASK), "main/a1"))
    assert [each.since for each in view.asks] == [101.0]
    view, _ = reduce(view, at(120.0, ev.Answered(id=1, answer=Answer()), "main/a1"))
    view, _ = reduce(view, at(120.0, ev.Asked(id=2, ask=ASK), "main/a2"))
    assert [each.since for each in view.asks] == [102.0]
    assert view.waited == pytest.approx(17.0)  # nobody's time counts twice
    view, _ = reduce(view, at(125.0, ev.Answered(id=2, answer=Answer()), "main/a2"))
    assert view.waited == pytest.approx(22.0)


def at(now: float, event: ev.AnyEvent, agent: str) -> ev.Envelope:
    return ev.Envelope(seq=0, uuid="", parent="", timestamp=now, agent=agent, event=event)
