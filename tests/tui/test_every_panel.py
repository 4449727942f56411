"""Whatever opens can be left: the key stands on it, and the key works.

Over the registry of a real session, every kind of offer there is, and what keys open: a new command
or kind of panel that says no way out fails here.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gatewright.agent.build import open_session
from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Offer
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.tui.app import AgentApp
from tests.fakes.examples import some
from tests.fakes.waiting import PATIENCE
from tests.tui.agent_scenes import AGENT_SCENES
from tests.tui.panel_samples import kinds
from tests.tui.scenes import SCENES
from tests.tui.stage import driven, screen_text, stage
from tests.tui.test_pictured import LISTS, PICTURED, UNSEEN

SIZES = some([(80, 24), (40, 12)], 2)
WAYS = re.compile(r"(?<![^\s(])(esc|q) (?:closes|goes back)\b")
LEAVES = {"exit", "trust"}  # the program; and a question, whose keys count once it was read


def opened(app: AgentApp) -> str:
    """What has the keys in place of the prompt; empty where nothing has."""
    repl = app.repl
    if app.screen is not repl:
        return "a screen"
    parts = {
        "a list": repl.picker.open,
        "a panel": repl.sheet.open,
        "a field": repl.secret.open,
        "a question": bool(repl.view.asks),
        "the agents": repl.agents.entered,
    }
    return next((name for name, there in parts.items() if there), "")


class Visitor:
    """Runs each command and tries the way out of what it opened."""

    def __init__(
        self, app: AgentApp, session: Session, pause: Callable[[], Awaitable[None]]
    ) -> None:
        self._app = app
        self._session = session
        self._pause = pause
        self.opened: dict[str, str] = {}
        self.wrong: list[str] = []

    async def visit(self, name: str) -> None:
        items = self._app.repl.transcript.records.items()
        self._app.talk.send(f"/{name}")
        await self._until(
            lambda: (
                bool(opened(self._app))
                or self._app.repl.transcript.records.items() != items
                or self._app.editor.running
            )
        )
        await self._until(lambda: not self._app.editor.running)
        await self._session.idle()
        what = opened(self._app)
        if not what:
            return
        self.opened[name] = what
        await self._painted()
        shown = " ".join(screen_text(self._app).split())
        if not WAYS.search(shown.replace(" \u258e ", " ")):
            self.wrong.append(f"/{name} opens {what} without a way out:\n{screen_text(self._app)}")
        await self._press_escape()
        if left := opened(self._app):
            self.wrong.append(f"/{name}: Esc leaves {left} open")
            await self._press_escape()

    async def _press_escape(self) -> None:
        await self._until(lambda: self._app.focused is not None)
        self._app.simulate_key("escape")
        await self._painted()

    async def _painted(self) -> None:
        for _ in range(3):
            await self._pause()

    async def _until(self, fact: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not fact():
                await self._pause()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "AGENTS.md").write_text("Use tabs.\n", encoding="utf-8")
    monkeypatch.setenv("VISUAL", "true")
    return root


@pytest.mark.parametrize("size", SIZES)
async def test_what_a_command_opens_is_left_by_the_key_on_it(
    project: Path, size: tuple[int, int]
) -> None:
    env = {"HOME": str(project.parent / "home"), "PATH": os.environ["PATH"]}
    options = LaunchOptions(model="demo", mode="bypassPermissions", cwd=str(project))
    made: list[Session] = []

    async def begin() -> SessionClient:
        made.append(await open_session(options, env, interactive=True))
        return made[0]

    app = AgentApp(begin)
    async with driven(app, size=size) as pilot:
        async with asyncio.timeout(PATIENCE):
            while app.session is None or not app.repl.view.mode:
                await pilot.pause(0.01)
        await made[0].opened()
        visitor = Visitor(app, made[0], pilot.pause)
        for command in list(made[0].commands):
            if command.name not in LEAVES:
                await visitor.visit(command.name)
        assert not visitor.wrong, "\n".join(visitor.wrong)
        pages = {"help", "keys", "status", "cost", "context", "permissions", "config", "doctor"}
        assert pages <= visitor.opened.keys(), visitor.opened
        assert {"model", "memory", "theme", "mode"} <= visitor.opened.keys(), visitor.opened
    await made[0].close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", sorted({*kinds()} - UNSEEN, key=str))
async def test_every_kind_of_offer_says_how_it_is_left(
    kind: type[Offer], size: tuple[int, int]
) -> None:
    name = PICTURED[kind]
    if name not in LISTS:
        pytest.skip("opened by its command above")
    async with stage(size=size) as s:
        assert s.app.repl.reach.open_panel(LISTS[name])
        await s.until(lambda: bool(opened(s.app)))
        await s.until(lambda: bool(WAYS.search(s.text())))
        await s.press("escape")
        await s.until(lambda: not opened(s.app))
        assert s.app.repl.box.has_focus


KEYED: dict[str, tuple[tuple[str, ...], str]] = {
    "keys": (("question_mark",), "a panel"),
    "reader": (("ctrl+t",), "a screen"),
    "history": (("ctrl+r",), "a list"),
    "agents": (("down",), "the agents"),
    "an agent": (("down", "enter"), ""),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", KEYED)
async def test_what_a_key_opens_says_how_it_is_left(name: str, size: tuple[int, int]) -> None:
    keys, what = KEYED[name]
    async with stage(size=size) as s:
        s.app.repl.box.history_.add("one")
        AGENT_SCENES["agent"](s.session)
        await s.settled()
        await s.press(*keys)
        await s.until(lambda: opened(s.app) == what)
        await s.until(lambda: bool(WAYS.search(s.text())))
        for _ in range(2):
            if way := WAYS.search(s.text()):
                await s.press({"esc": "escape"}.get(way[1], way[1]))
                await s.settled()
        await s.until(lambda: not opened(s.app) and not s.app.repl.watching.open)
        assert not WAYS.search(s.text())


QUESTIONS = {"permission": "n", "edit": "n", "plan": "n", "trust": "n"}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scene", QUESTIONS)
async def test_a_question_is_left_by_a_letter_on_it(scene: str, size: tuple[int, int]) -> None:
    async with stage(size=size) as s:
        SCENES[scene](s.session)
        await s.until(lambda: opened(s.app) == "a question")
        await s.until(lambda: re.search(r"[\u258e\u25b8] +n  (No|Go)", s.text()) is not None)
        await s.settled()  # from when it was seen whole, keys are meant for it
        s.clock.now += 10
        await s.press(QUESTIONS[scene])
        await s.until(lambda: bool(s.session.answers))


def test_a_panel_without_a_way_out_would_be_found() -> None:
    assert WAYS.search("type to search  enter chooses  esc closes")
    assert WAYS.search(" esc goes back")
    assert not WAYS.search("enter chooses   the rescue closes")
    assert not WAYS.search("esc empties the prompt")
