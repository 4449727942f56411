"""What is made ready while a message is being written, and that none of it counts too soon."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from gatewright.agent.build import open_session
from gatewright.agent.context.briefing import GOOD, Briefing
from gatewright.agent.context.readable import Readable, Verdict
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Asked, TurnEnded
from gatewright.agent.session.session import Session
from gatewright.agent.settings.trust_question import GO_ON
from gatewright.agent.settings.workspace import survey
from gatewright.tools.interact import Answer
from tests.fakes.model_server import ModelServer
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import eventually

OPEN = Readable(lambda path, real: Verdict("yes"))


@asynccontextmanager
async def opened(
    folder: Path, server: ModelServer, model: str = "anthropic/fake"
) -> AsyncGenerator[Session]:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    env = {
        "HOME": str(folder / "home"),
        "PATH": os.environ["PATH"],
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": server.url,
    }
    options = LaunchOptions(model=model, cwd=str(project))
    session = await open_session(options, env, interactive=True)
    try:
        yield session
    finally:
        await session.close()


async def test_the_connection_is_there_before_the_message(tmp_path: Path) -> None:
    async with ModelServer("say: Hi.", repeat=True) as server, opened(tmp_path, server) as session:
        await session.opened()
        assert server.connections == 0  # nobody has typed
        session.typing()
        await eventually(lambda: server.connections == 1)
        session.typing()
        assert server.requests == []
        session.submit("hello")
        await session.idle()
        assert [len(server.requests), server.connections] == [1, 1]


async def test_no_connection_before_the_project_is_trusted(tmp_path: Path) -> None:
    settings = tmp_path / "project" / ".gatewright" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"env": {"MARK": "1"}}), encoding="utf-8")
    async with (
        ModelServer("say: Hi.") as server,
        opened(tmp_path, server) as session,
        Recorder(session) as seen,
    ):
        session.typing()
        asked = await seen.until(Asked)
        for _ in range(50):
            await asyncio.sleep(0)
        assert server.connections == 0
        session.answer(asked.id, Answer((GO_ON,)))
        await eventually(lambda: server.connections == 1)


async def test_the_demo_connects_nowhere(tmp_path: Path) -> None:
    async with ModelServer("say: Hi.") as server, opened(tmp_path, server, "demo") as session:
        await session.opened()
        async with Recorder(session) as seen:
            session.typing()
            session.submit("what can you do?")
            await seen.until(TurnEnded)
        assert server.connections == 0


async def test_a_line_to_remember_counts_though_the_prompt_was_read_before(tmp_path: Path) -> None:
    async with ModelServer("say: Hi.", repeat=True) as server, opened(tmp_path, server) as session:
        await session.opened()
        session.typing()
        await eventually(lambda: server.connections == 1)
        await session.remember("Prefer tabs.")
        session.submit("hello")
        await session.idle()
        assert "Prefer tabs." in json.dumps(server.bodies[0]["system"])


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_was_read_ahead_counts_for_a_while_only(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    env = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    around = survey(LaunchOptions(cwd=str(tmp_path / "project")), env, interactive=True)
    clock, rules = Clock(), around.where.root / "AGENTS.md"
    briefing = Briefing(lambda: around, OPEN, clock=clock)
    rules.write_text("Use tabs.", encoding="utf-8")
    briefing.ahead()
    rules.write_text("Use spaces.", encoding="utf-8")
    clock.now += GOOD - 1
    briefing.ahead()
    assert "Use tabs." in str(briefing.blocks())
    clock.now += 2
    briefing.begins()
    assert "Use spaces." in str(briefing.blocks())
    rules.write_text("Use both.", encoding="utf-8")
    clock.now += 10 * GOOD
    briefing.ahead()
    briefing.forget()
    assert "Use spaces." in str(briefing.blocks())  # the first message went out with it
