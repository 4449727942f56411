"""The list of background tasks: what it shows, what its keys do, and that it follows by itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from gatewright.agent.commands.outcome import Outcome, Page, Say
from gatewright.agent.commands.tasks import elapsed, listing
from gatewright.agent.session.jobs import SessionJobs
from gatewright.tools.access import MAIN
from tests.fakes.commands import told
from tests.fakes.fake_session import FakeSession
from tests.fakes.job import FakeJob
from tests.tui.stage import Stage, stage


def with_jobs(*jobs: FakeJob) -> FakeSession:
    session = FakeSession()
    session.know("tasks")
    session.jobs = SessionJobs(lambda _agent, _text: None, lambda event: session.publish(event))
    for job in jobs:
        session.jobs.of(MAIN).adopt(job)
    return session


@asynccontextmanager
async def listed(*jobs: FakeJob) -> AsyncGenerator[Stage]:
    session = with_jobs(*jobs)
    async with stage(session) as s:
        await s.type("/tasks")
        await s.press("escape", "enter")
        await s.see("Last line")
        yield s
    assert session.jobs is not None
    await session.jobs.close()


async def test_the_list_follows_what_happens() -> None:
    job = FakeJob("make all", "cc a.c\ncc b.c\n")
    async with listed(job) as s:
        await s.see("make all", "cc b.c", "running", "12 s", "x stops", "X stops all", "r resumes")
        job.said, job.seconds = "cc c.c\n", 75.0
        await s.see("cc c.c", "1 min 15 s")
        job.ended.set()
        await s.see("exit 0")
        await s.press("escape")
        await s.gone("Last line")


async def test_what_is_new_when_something_else_is_laid_out_is_painted() -> None:
    job = FakeJob("make all", "cc a.c\n")
    async with listed(job) as s:
        await s.see("cc a.c")
        job.said = "cc b.c\n"
        s.app.repl.sheet.refresh(layout=True)
        await s.see("cc b.c")


def chosen(s: Stage) -> str:
    """The row under the cursor."""
    return next((row for row in s.text().split("\n") if "▸" in row), "")


async def test_a_new_task_leaves_the_cursor_where_it_is() -> None:
    async with listed(FakeJob("make all"), FakeJob("serve")) as s:
        await s.press("down")
        assert "make all" in chosen(s)
        assert s.session.jobs is not None
        s.session.jobs.of(MAIN).adopt(FakeJob("watch"))
        await s.see("watch")
        assert "make all" in chosen(s)


async def test_what_a_task_prints_is_followed_while_it_is_read() -> None:
    job = FakeJob("make all", "cc a.c\n")
    async with listed(job) as s:
        s.clock.now += 1
        await s.press("enter")
        await s.see("cc a.c", "v opens an editor")
        job.said = "cc a.c\ncc b.c\n"
        await s.wait(1.1)
        await s.see("cc b.c", "v opens an editor")
        await s.press("escape")
        await s.see("Last line")


async def test_enter_shows_the_output_and_returns_to_the_list() -> None:
    async with listed(FakeJob("make all", "cc a.c\ncc b.c\n"), FakeJob("serve")) as s:
        s.clock.now += 1
        await s.press("down", "enter")
        await s.see("$ make all", "cc a.c", "shell_1: running, 12 s", "v opens an editor")
        await s.press("q")
        await s.see("Last line")
        assert "make all" in chosen(s)
        await s.press("escape")
        await s.gone("Last line")
        assert s.app.focused is s.app.repl.box


async def test_x_stops_what_is_chosen_and_only_what_runs() -> None:
    job = FakeJob("make all")
    async with listed(job, FakeJob("serve")) as s:
        await s.press("down", "x")
        await s.pilot.pause(0.05)
        await s.see("running")
        assert s.text().count("running") == 2, "the panel has not been seen yet"
        s.clock.now += 1
        await s.press("x")
        await s.see("shell_1: stopped")
        assert job.stopped
        await s.press("x")
        await s.settled()
        assert s.text().count("shell_1: stopped") == 1, "there is nothing to stop any more"


async def test_a_capital_x_stops_all_when_it_is_pressed_twice() -> None:
    jobs = FakeJob("make all"), FakeJob("serve")
    async with listed(*jobs) as s:
        s.clock.now += 1
        await s.press("X")
        await s.see("X again stops all")
        await s.press("down", "X")
        await s.pilot.pause(0.05)
        assert not any(job.stopped for job in jobs), "another key came between"
        await s.press("X")
        await s.see("Stopped: shell_2, shell_1.")
        assert all(job.stopped for job in jobs)


class FakeAgent(FakeJob):
    kind, tokens, cost = "agent", 10, 0.0

    @property
    def path(self) -> str:
        return f"main/{self.title}"


async def test_agents_that_were_stopped_are_named_as_the_list_names_them() -> None:
    jobs = with_jobs(*(FakeAgent(f"scout-{n}: Explore, Look: at {n}") for n in range(10))).jobs
    assert jobs is not None

    async def resumed(agent: str) -> Outcome:
        return Say.text(agent)

    x, all_of_them, _ = listing(jobs, resumed, Say(())).acts
    assert told(await x.run(jobs.rows()[0].id)) == "scout-9: stopped"
    named = ", ".join(f"scout-{n}" for n in range(8, 0, -1))
    assert told(await all_of_them.run("")) == f"Stopped: {named}, 1 more."
    await jobs.close()


async def test_rows_are_searched_and_sorted() -> None:
    slow = FakeJob("serve")
    slow.seconds = 900.0
    async with listed(slow, FakeJob("xargs wc")) as s:
        await s.press("slash", *"xarg")
        await s.gone("serve")
        await s.press("enter", "slash", "ctrl+u", "enter")
        await s.see("serve")
        assert "xargs" in chosen(s)
        await s.press("s", "t", "s")  # where t does nothing else, it sorts as well
        await s.see("For▾")
        rows = [row for row in s.text().split("\n") if "running" in row]
        assert "serve" in rows[0], "the longest first"


async def test_only_an_agent_that_ended_is_resumed() -> None:
    async with listed(FakeJob("make all")) as s:
        s.clock.now += 1
        await s.press("r")
        await s.see("Only an agent that has ended can go on.")


async def said(session: FakeSession, line: str) -> str:
    return told(await session.run_command(line))


async def test_without_a_screen_it_is_a_table() -> None:
    session = with_jobs(FakeJob("make all", "cc a.c\ncc b.c\n"))
    shown = await said(session, "/tasks")
    assert "shell_1  running  12 s  make all  cc b.c" in shown
    assert "cc a.c\ncc b.c\nshell_1: running, 12 s" in await said(session, "/tasks shell_1")
    assert await said(session, "/tasks stop shell_1") == "shell_1: stopped"
    assert "There is no task shell_9. Running: none." in await said(session, "/tasks stop shell_9")
    assert "There is no task shell_9" in await said(session, "/tasks shell_9")
    assert await said(with_jobs(), "/tasks") == "Nothing runs in the background."
    assert isinstance(await with_jobs().run_command("/tasks"), Page), "it leaves no row"
    assert session.jobs is not None
    await session.jobs.close()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.9, "0 s"), (59.9, "59 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text
