"""/workflows: runs, phases, agents and one agent; what each key does, and that it follows."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace

from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.registry import Command, CommandContext, always
from gatewright.agent.record import events as ev
from gatewright.agent.record.events_of_workflows import CallNow
from gatewright.tools.interact import Answer, Ask, Option
from tests.fakes.run_book import ENDED, RUN, FakeRuns
from tests.tui.stage import Stage, stage

SETTLED = 1.0  # seconds after which a key is meant for the panel


@asynccontextmanager
async def opened(*, first: str = "") -> AsyncGenerator[tuple[Stage, FakeRuns]]:
    runs = FakeRuns()
    async with stage(size=(110, 30)) as s:
        assert s.app.repl.reach.open_panel(runs.panel(first))
        await s.see("esc ")
        s.clock.now += SETTLED
        yield s, runs


async def go(s: Stage, *keys: str) -> None:
    """Each after the moment in which it might have been meant for the draft."""
    for key in keys:
        await s.press(key)
        await s.pilot.pause()
        s.clock.now += SETTLED


def chosen(s: Stage) -> str:
    return next((row for row in s.text().split("\n") if "▸" in row), "")


def listening(s: Stage) -> list[str]:
    """What is said to the command from now on."""
    said: list[str] = []

    async def run(context: CommandContext) -> Outcome:
        said.append(context.args)
        return Say(())

    s.session.commands.add(always(Command(name="workflows", summary="Runs", run=run)))
    return said


async def test_runs_of_this_session_then_of_others() -> None:
    async with opened() as (s, _):
        text = await s.see("review-diff", "which lease", "migrate-call", "12/21", "$1.33", "423k")
        rows = [row for row in text.split("\n") if "running" in row or "interrupted" in row]
        assert "Refute" in rows[0] and "interrupted" in rows[-1]
        assert "review-diff" in chosen(s)
        await go(s, "j")
        assert "which lease" in chosen(s)
        await go(s, "k")
        assert "review-diff" in chosen(s)


async def test_from_a_run_to_its_phases_to_its_agents_to_one_and_back() -> None:
    async with opened() as (s, _):
        await go(s, "enter")
        await s.see("running · 12 of 21 agents · 4 live · 1 waits for you", "$1.33 of $5", "5/5")
        await go(s, "down", "right")
        await s.see("Refute", "app/lease.py:41", "Bash pytest -q", "timeout: 60 minutes are over")
        await go(s, "enter")
        await s.see("Asked", "loses a renewal", "Did last", "Bash pytest tests/test_lease.py")
        await go(s, "left")
        await s.see("app/store.py:7")
        await go(s, "escape", "left")
        await s.see("migrate-call")
        await go(s, "escape")
        await s.gone("migrate-call")


async def test_it_follows_what_happens_and_lets_go_when_it_is_closed() -> None:
    async with opened() as (s, runs):
        assert len(runs.changed) == 1
        runs.move(done=20, phase="Write")
        await s.see("20/21", "Write")
        runs.move(status="done", done=21)
        await s.see("21/21")
        await go(s, "escape")
        await s.wait(1.5)
        await s.until(lambda: not runs.changed)


async def test_keys_of_a_run() -> None:
    async with opened() as (s, runs):
        await go(s, "p", "x")
        assert runs.did == [("pause", RUN.id), ("stop", RUN.id)]
        runs.move(status="paused")
        await go(s, "p")
        assert runs.did[-1] == ("unpause", RUN.id)
        await go(s, "l")
        await s.see("9 findings of 5 reviewers")
        await go(s, "escape", "v")
        await s.see("export const meta")
        await go(s, "escape", "down", "o")
        await s.see("fencing tokens")
        await go(s, "escape")
        await s.see("migrate-call")


async def test_one_that_ended_goes_on_by_the_command() -> None:
    async with opened() as (s, runs):
        lines = listening(s)
        await go(s, "down", "p")
        await s.gone("migrate-call")
        assert runs.did == []
        await s.until(lambda: lines == [f"resume {ENDED.id}"])


async def test_keys_say_what_they_do_to_a_run_and_an_agent_as_they_stand() -> None:
    async with opened() as (s, runs):
        await go(s, "enter")
        await s.see("p pauses", "x stops")
        runs.move(status="paused")
        await s.see("p goes on", "x stops")
        runs.move(status="done")
        shown = await s.see("p resumes", "o result")
        assert "x stops" not in shown
        await go(s, "down", "enter", "end", "enter")
        shown = await s.see("Did last", "esc goes back")
        assert "restarts" not in shown and "message" not in shown


async def test_keys_of_an_agent() -> None:
    async with opened() as (s, runs):
        await go(s, "enter", "down", "enter", "x", "r", "m")
        await s.see("To app/lease.py:41")
        await s.type("look at x p")
        await go(s, "enter")
        assert runs.did == [
            ("stop_call", RUN.id, "6"),
            ("restart_call", RUN.id, "6"),
            ("message", RUN.id, "6", "look at x p"),
        ]
        await s.see("message wf_4k2m9x: done.")


async def test_a_key_that_comes_at_once_was_meant_for_the_draft() -> None:
    runs = FakeRuns()
    async with stage(size=(110, 30)) as s:
        assert s.app.repl.reach.open_panel(runs.panel())
        await s.press("x", "p", "s")
        await s.pilot.pause()
        assert runs.did == []


async def test_saving_asks_where_and_before_it_replaces() -> None:
    async with opened() as (s, runs):
        await go(s, "s")
        await s.see("/project/.gatewright/workflows/review-diff.js", "tab user")
        await go(s, "tab", "enter")
        assert runs.kept == {"user": RUN.id}
        await go(s, "s", "tab", "enter")
        await s.see("enter again replaces it", "enter replaces it")
        assert len(runs.did) == 1
        await go(s, "enter")
        assert len(runs.did) == 2
        await go(s, "s", "tab", "enter")
        await s.see("enter replaces it")
        await go(s, "tab")
        await s.see("enter saves")


async def test_f_keeps_to_one_state() -> None:
    async with opened() as (s, _):
        await go(s, "enter", "down", "enter", "f")
        await s.see("running")
        assert "not refuted" not in s.text()
        await go(s, *["f"] * 4)
        await s.see("not refuted")


async def test_a_thousand_agents_are_made_as_they_are_seen() -> None:
    async with opened() as (s, runs):
        one = runs.many[0]
        runs.many = [replace(one, index=n, label=f"agent-{n}") for n in range(1, 1001)]
        await go(s, "enter", "down", "enter")
        await s.see("agent-1 ")
        await go(s, "end")
        await s.see("agent-1000")
        await go(s, "pageup", "k")
        assert "agent-991" in chosen(s)
        runs.many.insert(0, replace(one, index=5000, label="new"))
        await s.wait(1.5)
        assert "agent-991" in chosen(s), "the cursor stays on its row"


async def test_one_run_is_opened_at_once() -> None:
    async with opened(first=RUN.id) as (s, _):
        await s.see("running · 12 of 21 agents")
        await go(s, "escape")
        await s.see("migrate-call")


def progressed(*calls: CallNow, **more: Any) -> ev.WorkflowProgressed:
    return ev.WorkflowProgressed(run="wf_1", name="review", calls=calls, **more)


async def test_a_run_has_a_row_in_the_strip() -> None:
    async with stage(size=(110, 30)) as s:
        lines = listening(s)
        s.session.publish(
            ev.WorkflowStarted(run="wf_1", name="review", description="Look at all of it"),
        )
        await s.see("review", "Look at all of it")
        s.session.publish(progressed(phase="Refute", done=412, total=500, live=12, cost=1.5))
        await s.see("Refute 412/500", "12 live", "$1.50")
        s.session.publish(progressed(phase="Refute", done=412, total=500, live=1, asks=1))
        await s.see("waits for you")
        await s.press("down")
        await s.see("enter opens")
        await s.press("enter")
        await s.until(lambda: lines == ["wf_1"])
        s.session.publish(
            ev.WorkflowEnded(run="wf_1", name="review", status="failed", why="Line 3")
        )
        await s.see("failed: Line 3")


async def test_a_question_names_the_agent_as_its_run_does() -> None:
    call = CallNow(index=1, label="app/lease.py:41", phase="Refute", state="running", agent="a1")
    ask = Ask("permission", "Run this?", (), (Option("once", "Yes", "y"), Option("no", "No", "n")))
    async with stage(size=(110, 30)) as s:
        s.session.publish(ev.WorkflowStarted(run="wf_1", name="review"), progressed(call))
        s.session.publish(ev.Asked(id=1, ask=ask), agent="main/a1")
        await s.see("app/lease.py:41 asks", "review · Refute")
        s.session.publish(progressed(replace(call, state="done")))
        await s.settled()
        assert s.app.repl.view.workers == {}


async def test_who_asks_is_counted_also_before_its_question_is_put() -> None:
    def asking(n: int) -> CallNow:
        return CallNow(index=n, label=f"call {n}", phase="Refute", state="asks", agent=f"a{n}")

    ask = Ask("permission", "Run this?", (), (Option("once", "Yes", "y"), Option("no", "No", "n")))
    waits = progressed(*map(asking, (1, 2, 3)), status="paused", live=3, asks=3)
    async with stage(size=(110, 30)) as s:
        s.session.publish(ev.WorkflowStarted(run="wf_1", name="review"), waits)
        s.session.publish(ev.Asked(id=1, ask=ask), agent="main/a1")
        text = await s.see("call 1 asks", "1 of 3", "waits for you: 3 asking")
        assert "paused" not in text, "nobody paused it"
        s.session.now += 20
        s.session.publish(ev.Answered(id=1, answer=Answer(("once",))), agent="main/a1")
        s.session.publish(progressed(replace(asking(1), state="running")))
        s.session.publish(ev.Asked(id=2, ask=ask), agent="main/a2")
        await s.see("call 2 asks", "1 of 2", "waits 2")
        s.session.publish(ev.Answered(id=2, answer=Answer(("once",))), agent="main/a2")
        s.session.publish(ev.WorkflowEnded(run="wf_1", name="review", status="stopped"))
        await s.settled()
        assert s.app.repl.view.workers == {}


async def test_nothing_is_offered_for_agents_that_have_ended() -> None:
    async with opened() as (s, runs):
        await go(s, "enter", "down", "enter")
        await s.see("x stops", "m message")
        runs.many = [replace(each, state="done") for each in runs.many]
        runs.move(done=21)
        await s.gone("m message")
        await go(s, "m")
        await s.see("It has ended. /workflows resume wf_4k2m9x app/lease.py:41 has it done again.")


async def test_words_for_an_agent_that_ended_meanwhile_are_in_the_prompt() -> None:
    async with opened() as (s, runs):
        await go(s, "enter", "down", "enter", "m")
        await s.see("To app/lease.py:41")
        await s.type("be quick")
        runs.many = [replace(each, state="done") for each in runs.many]
        await go(s, "enter")
        await s.see("It has ended: your words are in the prompt")
        assert s.app.repl.box.text == "be quick"
        assert runs.did == []


async def test_lines_of_a_result_stay_lines() -> None:
    async with opened() as (s, runs):
        runs.runs[0] = replace(runs.runs[0], status="done", result="a.py: yes\nb.py: no")
        await go(s, "o")
        rows = (await s.see("a.py: yes")).split("\n")
        assert any(row.strip() == "b.py: no" for row in rows)


async def test_a_run_whose_agents_all_ask_is_not_said_to_be_paused() -> None:
    async with opened() as (s, runs):
        runs.move(status="paused", running=2, asks=2)
        await go(s, "enter")
        assert "paused" not in await s.see("asks · 12 of 21 agents", "2 wait for you")


async def test_why_a_run_failed_is_told_whole() -> None:
    why = "Say what to look for: /deep-research QUESTION, in a sentence of your own (line 22)"
    async with stage(size=(110, 30)) as s:
        s.session.publish(
            ev.WorkflowStarted(run="wf_1", name="deep-research", description="Research a question"),
            progressed(),
        )
        assert "0/0" not in await s.see("Research a question")
        s.session.publish(
            ev.WorkflowEnded(run="wf_1", name="deep-research", status="failed", why=why),
            ev.TasksChanged(running=(), ended="wf_1", status="failed", title="deep-research: x"),
        )
        await s.see("deep-research has ended, failed: Say what to look for", "own (line 22)")
