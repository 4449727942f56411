"""The view of an agent: its transcript live, a prompt that talks to it, and the way back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gatewright.agent.record import events as ev
from gatewright.agent.record.messages import TextPart
from gatewright.tools import blocks as b
from gatewright.tui.ask.guard import GUARD
from tests.tui.agent_scenes import agents, asks, ends, path, said, start, works
from tests.tui.scenes import prose
from tests.tui.stage import Stage, stage


def speaks(s: Stage, child: str, text: str) -> None:
    s.session.publish(
        ev.AssistantMessage(id=text[:9], model="x", parts=(TextPart(text),)), agent=child
    )


@asynccontextmanager
async def watched(size: tuple[int, int] = (80, 24)) -> AsyncGenerator[Stage]:
    """A conversation, an agent at work, and its view open."""
    async with stage(size=size) as s:
        prose(s.session)
        child = start(s.session, 0)
        s.session.publish(said("Find who renews the lease."), agent=child)
        speaks(s, child, "I look at the locks.")
        works(s.session, child, 0)
        await s.see("◇ Explore")
        await s.press("down", "enter")
        await s.see("I look at the locks.", "esc goes back", "to Explore")
        s.clock.now += 2 * GUARD
        yield s


async def test_it_shows_what_was_and_what_comes() -> None:
    async with watched() as s:
        assert "flaky" not in s.text(), "the main transcript is not seen"
        s.session.publish(ev.TextDelta(text="Now I read "), agent=path(0))
        await s.see("Now I read")
        s.session.publish(
            ev.ToolStarted(call_id="c", name="Read", input={}, verb="Read", target="store.py"),
            ev.ToolFinished(
                call_id="c", ok=True, content=(), view=(b.Output("12 lines"),), summary="done"
            ),
            agent=path(0),
        )
        await s.see("● Read  store.py", "12 lines")


async def test_what_an_agent_waits_for_stands_above_its_view() -> None:
    """Whoever opens it then sees no more of that in it."""
    async with watched() as s:
        waits = ev.AgentProgressed(
            child=path(0), state="waits for the server", target="", phase="waiting"
        )
        s.session.publish(waits, agent=path(0))
        await s.see("waits for the server ──")
        goes = ev.AgentProgressed(child=path(0), state="answering", target="", phase="running")
        s.session.publish(goes, agent=path(0))
        await s.gone("waits for the server ──")


async def test_escape_goes_back_to_the_same_place_and_keeps_nothing() -> None:
    async with stage() as s:
        prose(s.session)
        await s.settled()
        await s.press("pageup")
        main = s.app.repl.transcript
        place = main.place
        assert place is not None
        before = s.text()
        child = start(s.session, 0)
        await s.see("◇ Explore")
        await s.press("down", "enter")
        await s.see("esc goes back")
        hub = s.session.journal.hub(child)
        assert len(hub._subscriptions) == 1  # pyright: ignore[reportPrivateUsage]
        await s.press("escape")
        await s.see("enter opens")
        await s.until(lambda: not s.app.repl.query("#watched"))
        assert main.place == place
        assert before.split("\n")[1] == s.text().split("\n")[1]
        assert hub._subscriptions == []  # pyright: ignore[reportPrivateUsage]
        assert s.app.repl.watching.view is None
        assert s.session.interrupts == 0


async def test_what_is_typed_goes_to_it_and_commands_to_the_session() -> None:
    async with watched() as s:
        await s.type("look at the store too")
        await s.press("enter")
        await s.until(lambda: s.session.said == [(path(0), "look at the store too")])
        await s.see("▎ look at the store too")
        assert s.session.sent == []
        await s.type("/mode plan")
        await s.press("end", "enter")
        await s.until(lambda: s.session.mode == "plan")
        await s.press("escape")
        await s.type("and you")
        await s.press("enter")
        await s.until(lambda: s.session.sent == ["and you"])


async def test_a_draft_is_for_whom_it_was_written() -> None:
    async with watched() as s:
        await s.type("half a word")
        await s.press("escape")
        await s.see("enter opens")
        assert s.app.repl.box.text == ""
        await s.press("enter")
        await s.see("to Explore", "half a word")
        await s.press("ctrl+u", "escape")
        await s.gone("to Explore")


async def test_a_question_of_another_agent_is_asked_over_it() -> None:
    async with watched(size=(80, 34)) as s:
        other = start(s.session, 1)
        asks(s.session, other, 9)
        await s.see("general-purpose asks", "esc goes back")
        s.clock.now += 5
        await s.press("y")
        await s.until(lambda: [number for number, _ in s.session.answers] == [9])
        await s.see("to Explore")


async def test_its_end_is_seen_and_the_view_stays() -> None:
    async with watched() as s:
        ends(s.session, path(0))
        await s.see("Find who renews the lease", "done ──")
        s.session.journal.forget(path(0))
        await s.pilot.pause(0.05)
        await s.see("I look at the locks.")


async def test_one_that_goes_on_is_followed_again() -> None:
    async with watched() as s:
        ends(s.session, path(0))
        s.session.journal.forget(path(0))
        await s.see("done ──")
        await s.until(lambda: not s.app.repl.watching._following)  # pyright: ignore[reportPrivateUsage]
        s.session.publish(
            ev.AgentStarted(child=path(0), kind="Explore", prompt="go on", resumed=True)
        )
        speaks(s, path(0), "I go on.")
        await s.see("I go on.")


async def test_an_agent_nothing_is_known_of_is_said() -> None:
    async with stage() as s:
        child = start(s.session, 0)
        s.session.lost.add(child)
        await s.see("◇ Explore")
        await s.press("down", "enter")
        await s.see("Nothing is known of an agent main/a0.", "esc goes back")
        await s.press("escape")
        await s.gone("Nothing is known")


async def test_keys_of_the_transcript_are_the_views() -> None:
    async with watched() as s:
        speaks(s, path(0), "\n\n".join(f"line {n}" for n in range(80)))
        await s.see("line 79")
        await s.press("pageup")
        await s.gone("line 79")
        await s.press("ctrl+end")
        await s.see("line 79")
        await s.press("ctrl+home")
        await s.see("I look at the locks.")
        await s.press("ctrl+t")
        await s.see("v opens an editor")
        await s.press("slash", *"line 41".replace(" ", ""), "enter")
        await s.press("q")
        await s.see("esc goes back")


async def test_a_view_of_one_below_opens_from_the_strip() -> None:
    async with stage(size=(100, 34)) as s:
        agents(s.session)
        await s.see("waits for you")
        s.clock.now += 5
        await s.press("n")
        await s.until(lambda: bool(s.session.answers))
        await s.settled()
        await s.press("down", "down", "enter")
        await s.see("to Plan", "Plan the change of the store")
        await s.press("down")
        await s.see("enter opens")
        await s.press("up")
        await s.gone("enter opens")


async def test_only_what_is_open_is_rendered() -> None:
    async with stage() as s:
        child = start(s.session, 0)
        for number in range(200):
            s.session.publish(ev.TextDelta(text=f"word {number} "), agent=child)
        works(s.session, child, 0)
        await s.see("Read harbour/locks.py")
        taken = s.app.repl.view
        assert not taken.live
        assert s.session.journal.hub(child)._subscriptions == []  # pyright: ignore[reportPrivateUsage]


async def test_another_session_closes_the_view() -> None:
    async with watched() as s:
        s.app.enter(s.session.facade())
        await s.until(lambda: not s.app.repl.watching.open)
        assert s.app.talk.to == "main"


async def test_escape_leads_back_to_the_row_it_was_opened_from() -> None:
    """One more leaves the strip, and stops neither the turn nor an agent."""
    async with stage(size=(100, 34)) as s:
        first, second = start(s.session, 0), start(s.session, 1)
        await s.press("down", "down", "enter")
        await s.see("to general-purpose", "esc goes back")
        await s.press("escape")
        await s.see("enter opens", "▸ ◇ general-purpose")
        await s.press("escape")
        await s.gone("enter opens")
        assert s.session.stopped == [], (first, second)
