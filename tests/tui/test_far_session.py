"""The real screen with a session in a process of its own, behind the lines of stream-json."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from gatewright.agent.client.child_line import ChildLine, start
from gatewright.agent.client.port import SessionClient
from gatewright.agent.client.remote import join
from gatewright.agent.settings.schema import Ui
from gatewright.tools.system.processes import spawn
from gatewright.tui.app import AgentApp
from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served
from tests.fakes.model_server import ModelServer, ServerThread
from tests.fakes.waiting import PATIENCE
from tests.tui.stage import Clock, driven, screen_text

pytestmark = pytest.mark.e2e


class Far:
    """The screen here, the session there."""

    def __init__(self, program: Program, server: ModelServer) -> None:
        self._program = program
        self._server = server
        self.clock = Clock()
        self.app = AgentApp(self._open, ui=Ui(), monotonic=self.clock)
        self.pilot: Pilot[int]
        self.line: ChildLine

    async def _open(self) -> SessionClient:
        argv = (*self._program.argv, "--model", MODEL)
        env = self._program.env(**served(self._server))
        self.line = await start(argv, self._program.project, env, spawn)
        return await join(self.line, within=PATIENCE)

    async def see(self, *wanted: str) -> str:
        await self.until(lambda: all(word in screen_text(self.app) for word in wanted), *wanted)
        return screen_text(self.app)

    async def until(self, fact: Callable[[], bool], *wanted: str) -> None:
        end = time.monotonic() + PATIENCE
        while not fact():
            if time.monotonic() > end:
                raise AssertionError(f"no {wanted} on the screen:\n{screen_text(self.app)}")
            await self.pilot.pause(0.02)

    async def say(self, text: str) -> None:
        self.app.repl.box.insert(text)
        await self.pilot.press("end", "enter")  # an Enter alone may be meant for a question
        await self.until(lambda: not self.app.repl.box.text)

    async def choose(self, key: str) -> None:
        """A key that comes at once is a draft: the person has read the question."""
        await self.pilot.pause()
        self.app.repl.panel.seen()
        self.clock.now += 5
        await self.pilot.press(key)
        await self.until(lambda: not self.app.repl.view.asks)
        self.clock.now += 5


@asynccontextmanager
async def far(program: Program, script: str) -> AsyncGenerator[Far]:
    with ServerThread(script) as server:
        made = Far(program, server)
        async with driven(made.app, size=(90, 34)) as pilot:
            made.pilot = pilot
            try:
                await made.see(MODEL)
                yield made
            finally:  # else what failed leaves a process to the tests after it
                await made.app.leave()


async def test_ask_consent_tool_answer(program: Program) -> None:
    script = (
        'call: Bash {"command": "touch made", "description": "Makes it"}\n---\nsay: It is made.\n'
    )
    async with far(program, script) as f:
        await f.say("Make it.")
        await f.see("touch made", "Yes, once")
        assert not (program.project / "made").exists()
        await f.choose("y")
        await f.see("It is made.")
        assert (program.project / "made").exists()
        assert "Yes, once" not in screen_text(f.app)


async def test_interrupt_and_what_waits_comes_back(program: Program) -> None:
    async with far(program, 'call: Bash {"command": "sleep 60"}\n---\nsay: Never.\n') as f:
        await f.say("Wait.")
        await f.see("sleep 60", "Yes, once")
        await f.choose("y")
        await f.see("sleep 60")
        await f.say("And then this.")
        await f.see("And then this.")
        await f.pilot.press("up")
        await f.until(lambda: f.app.repl.box.text == "And then this.")
        await f.pilot.press("escape")
        await f.see("nterrupted")
        assert f.app.session is not None
        assert not f.app.repl.view.busy


async def test_mode_commands_and_panels(program: Program) -> None:
    async with far(program, "say: Hello.\n") as f:
        await f.pilot.press("shift+tab")
        await f.see("acceptEdits")
        await f.say("/mode plan")
        await f.see("Mode: plan")
        await f.say("/permissions")
        await f.see("must run where the session does", "/permissions allow, ask, deny or remove")
        await f.say("/model")
        await f.see("enter chooses")  # a list is chosen from over the line
        await f.pilot.press("escape")
        await f.say("/statusx")
        await f.see("There is no command /statusx")
        await f.say("Good day.")
        await f.see("Hello.")


async def test_a_question_about_trust_is_asked_here(program: Program) -> None:
    (program.project / "AGENTS.md").write_text("Be brief.", encoding="utf-8")
    (program.project / ".gatewright").mkdir()
    (program.project / ".gatewright" / "settings.json").write_text(
        '{"permissions": {"allow": ["Bash(make)"]}}', encoding="utf-8"
    )
    async with far(program, "say: Hello.\n") as f:
        await f.see("Do you trust")
        await f.choose("enter")  # to go on without
        await f.say("Good day.")
        await f.see("Hello.")


async def test_the_screen_says_when_the_process_was_killed(program: Program) -> None:
    async with far(program, 'call: Bash {"command": "sleep 60"}\n') as f:
        await f.say("Wait.")
        await f.see("Yes, once")
        await f.pilot.pause()
        os.kill(f.line.pid, signal.SIGKILL)
        await f.see("The process of the session has ended", "137")
        assert "Yes, once" not in screen_text(f.app)
        f.app.repl.box.insert("Are you there?")
        await f.pilot.press("end", "enter")
        await f.see("Not sent", "Are you there?")
        await f.until(lambda: f.app.repl.box.text == "Are you there?")  # back, and not lost
        f.app.repl.box.text = ""
        await f.say("/status")
        await f.see("/status", "has ended")


async def test_a_rule_is_changed_where_the_session_is_not(program: Program) -> None:
    """What the rule would do is asked over the line, and what was shown is what is kept there."""
    one, two = (f'call: Bash {{"command": "make {name}"}}\n---\n' for name in ("one", "two"))
    async with far(program, f"{one}{two}say: Made.\n") as f:
        await f.say("Make it.")
        await f.see("$ make one", "Yes, once")
        await f.pilot.pause()
        f.app.repl.panel.seen()
        f.clock.now += 5
        await f.pilot.press("e")
        await f.see("Bash(make one:*)", "It covers this call.")
        await f.pilot.press("ctrl+u", *"Bash(make t*)")
        await f.see("Bash(make t*)", "It would not cover this call.")
        await f.pilot.press("left", "left", "backspace")
        await f.see("Bash(make ▏*)", "It covers this call.", "can run any code")
        f.clock.now += 5
        await f.pilot.press("enter")
        await f.see("Enter once more")
        f.clock.now += 5
        await f.pilot.press("enter")
        await f.see("Made.")
        assert "Yes, once" not in screen_text(f.app)
