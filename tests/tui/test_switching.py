"""Going over to another session on the screen: what is shown, what is kept, what is closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Choice, Outcome, Pick, Say, Switch
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import (
    Asked,
    AssistantMessage,
    JobChanged,
    TasksChanged,
    TitleChanged,
    UserMessage,
)
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.record.messages import TextPart
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import TextContent
from gatewright.tui.app import AgentApp
from tests.fakes.commands import add_command
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import Clock, Stage, driven

ROWS = (
    Choice("0198-other", "paint the shed", "3 d  12 kB", "main", "/resume 0198-other"),
    Choice("0198-gone", "mend the lexer", "4 d  1 kB", "", "/resume 0198-gone"),
)


TITLE = "Go on with which session? Esc stays here"


async def _chosen(id: str) -> Outcome:
    return Switch(path=id)


LIST = Pick(
    fallback=Say.text("never shown"),
    title="Go on with which session? Esc stays here",
    choices=ROWS,
    choose=_chosen,
)


async def _resume(context: CommandContext) -> Outcome:
    assert context.front.switches
    return Switch(path=context.args) if context.args else LIST


def _session(id: str, model: str) -> FakeSession:
    session = FakeSession(model=model)
    session.id = id
    add_command(session.commands, "resume", _resume)
    return session


def _exchange(session: FakeSession, said: str, answered: str) -> None:
    session.publish(
        UserMessage(content=(TextContent(said),)),
        AssistantMessage(id="m", model="x", parts=(TextPart(answered),)),
    )


class Two:
    """The screen with a session on it, and the other one it can go over to."""

    def __init__(self) -> None:
        self.first = _session("0198-first", "first-1")
        self.other = _session("0198-other", "other-1")
        _exchange(self.first, "Repair the boat.", "The boat is repaired.")
        _exchange(self.other, "Paint the shed.", "The shed is red.")
        self.other.publish(TitleChanged(title="paint the shed"))
        self.asked: list[Switch] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def open(self, to: Switch) -> SessionClient:
        self.asked.append(to)
        await self.gate.wait()
        if to.path == "0198-gone":
            raise SessionError("another process works on this session")
        return (self.other if to.path == "0198-other" else self.first).facade()


@asynccontextmanager
async def two(size: tuple[int, int] = (80, 24)) -> AsyncGenerator[tuple[Stage, Two]]:
    made = Two()

    async def first() -> SessionClient:
        return made.first.facade()

    clock = Clock()
    app = AgentApp(first, monotonic=clock, now=lambda: made.first.now)
    app.switching.others = made.open
    async with driven(app, size=size) as pilot:
        stage = Stage(app, pilot, made.first, clock)
        await stage.see("The boat is repaired.", "first-1")
        yield stage, made


async def _say(stage: Stage, text: str) -> None:
    await stage.type(text)
    await stage.press("escape")  # the menu of commands
    await stage.press("enter")


async def test_picking_another_session() -> None:
    async with two() as (s, made):
        await _say(s, "/resume")
        await s.see("Go on with which session? Esc stays here", "paint the shed", "mend the lexer")
        await s.type("shed")
        await s.gone("mend the lexer")
        await s.press("enter")
        shown = await s.see("The shed is red.", "other-1")
        assert "boat" not in shown
        assert "first-1" not in shown
        await s.until(lambda: made.first.closed)
        assert not made.other.closed
        assert s.app.session is made.other.facade()
        assert s.app.repl.view.title == "paint the shed"
        assert s.app.repl.box.history_.of_session() == ["Paint the shed."]
        await _say(s, "And the door?")
        await s.until(lambda: made.other.sent == ["And the door?"])
        assert made.first.sent == []
        made.other.publish(AssistantMessage(id="n", model="x", parts=(TextPart("Blue."),)))
        await s.see("Blue.")


async def test_escape_stays_and_the_draft_is_kept() -> None:
    async with two() as (s, made):
        s.app.talk.send("/resume")
        await s.see("Esc stays here")
        s.app.repl.box.put("half a thought")
        await s.press("escape")
        await s.gone("Esc stays here")
        assert made.asked == []
        s.app.talk.send("/resume 0198-other")
        await s.see("The shed is red.", "half a thought")


async def test_one_that_cannot_be_opened_costs_nothing() -> None:
    async with two() as (s, made):
        made.gate.clear()
        await _say(s, "/resume 0198-gone")
        await s.until(lambda: bool(made.asked))
        await _say(s, "Meant for the other one.")
        made.gate.set()
        await s.see("another process works on this session", "The boat is repaired.")
        await s.until(lambda: s.app.repl.box.text == "Meant for the other one.")
        assert made.first.sent == []
        assert not made.first.closed
        await s.press("enter")
        await s.until(lambda: made.first.sent == ["Meant for the other one."])


async def test_what_is_typed_meanwhile_is_for_the_other_one() -> None:
    async with two() as (s, made):
        made.gate.clear()
        await _say(s, "/resume 0198-other")
        await s.until(lambda: bool(made.asked))
        await _say(s, "Early.")
        made.gate.set()
        await s.until(lambda: made.other.sent == ["Early."])
        assert made.first.sent == []


async def test_old_questions_are_gone() -> None:
    async with two() as (s, made):
        ask = Ask(kind="trust", title="Trust it?", body=(), options=(Option("y", "Yes", "y"),))
        made.first.publish(Asked(id=1, ask=ask))
        await s.see("Trust it?")
        s.app.talk.send("/resume 0198-other")
        await s.see("The shed is red.")
        assert "Trust it?" not in s.text()
        assert s.app.repl.view.asks == ()
        await _say(s, "Go on.")
        await s.until(lambda: made.other.sent == ["Go on."])


async def test_background_work_is_stopped_only_when_the_person_says_so() -> None:
    async with two() as (s, made):
        made.first.publish(TasksChanged(running=("serve", "watch")))
        await s.until(lambda: bool(s.app.repl.view.tasks))
        await _say(s, "/resume 0198-other")
        await s.see("2 background tasks run here and would be stopped", "Stay here")
        await s.press("enter")
        await s.gone("Stay here")
        assert made.asked == []
        await _say(s, "/resume 0198-other")
        await s.see("Stay here")
        await s.press("down", "enter")
        await s.see("The shed is red.")
        assert s.app.repl.view.tasks == ()


@pytest.mark.parametrize("way", ["/exit", "ctrl+d"])
async def test_leaving_says_what_is_stopped_by_it_and_stops_it_only_then(way: str) -> None:
    async def wish(s: Stage) -> None:
        await (s.press(way) if way == "ctrl+d" else _say(s, way))

    async with two() as (s, made):
        made.first.publish(TasksChanged(running=("shell_1: serve",)))
        made.first.busy = True
        await s.until(lambda: bool(s.app.repl.view.tasks))
        await wish(s)
        await s.see("Leaving stops the turn that runs and 1 background task", "serve")
        await s.press("enter")
        await s.gone("Stay here")
        assert not made.first.closed
        await wish(s)
        await s.see("Stay here")
        await s.press("escape")
        await s.gone("Stay here")
        assert not made.first.closed
        await wish(s)
        await s.see("Stay here")
        await s.press("down", "enter")
        await s.until(lambda: made.first.closed)


async def test_leaving_says_which_jobs_would_not_run() -> None:
    async with two() as (s, made):
        made.first.publish(JobChanged(job=ScheduledJob(id="j1", prompt="look", at=9e9)))
        await s.until(lambda: bool(s.app.repl.view.jobs))
        await _say(s, "/exit")
        await s.see("Leaving stops 1 job to come, until you resume")
        await s.press("enter")
        await s.gone("Stay here")
        assert not made.first.closed


async def test_there_and_back_and_leaving_closes_everything() -> None:
    async with two() as (s, made):
        await _say(s, "/resume 0198-other")
        await s.see("The shed is red.")
        made.first = _session("0198-first", "first-2")
        _exchange(made.first, "Repair the boat.", "It floats.")
        await _say(s, "/resume 0198-first")
        shown = await s.see("It floats.", "first-2")
        assert "shed" not in shown
        await s.until(lambda: made.other.closed)
        await s.app.leave()
        assert made.first.closed
        assert s.app.session is made.first.facade()


async def test_nothing_is_asked_where_what_is_left_goes_on_by_itself() -> None:
    async def over(context: CommandContext) -> Outcome:
        return Switch(path="0198-other")

    async with two() as (s, made):
        add_command(made.first.commands, "over", over)
        made.first.stays = "0198"
        made.first.publish(TasksChanged(running=("serve",)))
        await s.until(lambda: bool(s.app.repl.view.tasks))
        await _say(s, "/over")
        await s.see("The shed is red.")
        assert "would be stopped" not in s.text()
