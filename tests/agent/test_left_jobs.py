"""Who goes on with a session is told once what of its background work has ended meanwhile."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatewright.agent.build import open_session
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Envelope, TasksChanged, UserMessage
from gatewright.agent.session.session import Session
from gatewright.agent.transcript.marks import JobsMark, left_by
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent
from tests.fakes.job import FakeJob


@asynccontextmanager
async def opened(
    folder: Path, *, fork: bool = False, first: bool = False
) -> AsyncGenerator[Session]:
    env = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "SHELL": "/bin/bash"}
    (folder / "project").mkdir(exist_ok=True)
    options = LaunchOptions(
        model="demo",
        cwd=str(folder / "project"),
        continue_session=not first,
        fork_session=fork,
    )
    session = await open_session(options, env, interactive=True)
    try:
        yield session
    finally:
        await session.close()


def told(session: Session) -> list[str]:
    """What only the model was told."""
    events = [envelope.event for envelope in session.subscribe().waiting()]
    hidden = [event for event in events if isinstance(event, UserMessage) and event.hidden]
    return [p.text for event in hidden for p in event.content if isinstance(p, TextContent)]


@pytest.mark.parametrize("fork", [False, True])
async def test_background_work_of_the_process_before_is_told_as_ended_once(
    tmp_path: Path, fork: bool
) -> None:
    async with opened(tmp_path, first=True) as session:
        session.submit("hello")
        await session.idle()
        session.jobs_of(MAIN).adopt(FakeJob("npm run\ndev"))
        done = FakeJob("make")
        session.jobs_of(MAIN).adopt(done)
        done.ended.set()
        await session.idle()
    async with opened(tmp_path, fork=fork) as session:
        (text,) = (each for each in told(session) if "background work" in each)
        assert "shell_1: npm run dev" in text
        assert "has ended with it" in text
        assert "make" not in text
    async with opened(tmp_path) as session:
        assert len([each for each in told(session) if "background work" in each]) == 1


def test_the_work_of_a_killed_process_is_still_known(tmp_path: Path) -> None:
    transcript = tmp_path / "s.jsonl"
    mark = JobsMark(transcript)

    def happens(*running: str) -> None:
        event = TasksChanged(running=running)
        mark.saw(Envelope(seq=1, uuid="", parent="", timestamp=0.0, agent=MAIN, event=event))

    happens("shell_1: serve", "shell_2: make")
    happens("shell_1: serve")
    assert left_by(transcript) == ("shell_1: serve",)
    happens()
    assert left_by(transcript) == ()
