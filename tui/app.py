"""The interactive program: a usable prompt first, then the session, then what is slow.

Everything typed before the session is there is kept and sent in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import assert_never

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.screen import Screen

from gatewright.agent.commands.outcome import Change, Panel, Quit, Say, Submit
from gatewright.agent.commands.registry import Commands
from gatewright.agent.errors import GatewrightError
from gatewright.agent.events import Envelope
from gatewright.agent.session import Session
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Answer
from gatewright.tui import state
from gatewright.tui.farewell import farewell
from gatewright.tui.look import Look
from gatewright.tui.pump import pump
from gatewright.tui.screens.repl import Repl
from gatewright.tui.terminal import ScreenDriver, teach_keys
from gatewright.tui.theme import DEFAULT, PALETTES, textual_theme
from gatewright.tui.transcript.items import Note, Said, Shown

log = logging.getLogger(__name__)

MAX_FAILURES = 3  # a screen that keeps failing is given up
OpenSession = Callable[[], Awaitable[Session]]


class AgentApp(App[int], inherit_bindings=False):
    """Owns the session for as long as the screen lives."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "agent"

    def __init__(
        self,
        open_session: OpenSession,
        *,
        theme: str = DEFAULT,
        first: str = "",
        driver: type[Driver] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(driver_class=driver)
        self._open = open_session
        self.look = Look(theme)
        self.session: Session | None = None
        self.repl = Repl(self.look, self, monotonic=monotonic, now=now)
        self._early: list[str] = [first] if first else []
        self._failures = 0
        self.taken = 0  # the last event on the screen
        self._no_commands = Commands()
        for palette in PALETTES.values():
            self.register_theme(textual_theme(palette))
        self.theme = f"gatewright-{theme}"

    def get_default_screen(self) -> Screen[None]:
        return self.repl

    def on_ready(self) -> None:
        self.run_worker(self._live(), name="session", exit_on_error=False)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: a test
                loop.add_signal_handler(number, self._signalled, number)

    def _signalled(self, number: int) -> None:
        self.run_worker(self._leave(128 + number), name="leave", exit_on_error=False)

    def _handle_exception(self, error: Exception) -> None:
        """A defect of the screen is told and logged; the session and the draft live on."""
        self._failures += 1
        if self.is_headless or self._failures > MAX_FAILURES or not self.repl.is_mounted:
            super()._handle_exception(error)
            return
        log.error("the screen failed", exc_info=error)
        self.call_later(self.note, f"The screen failed: {error!r}. The session goes on.", "error")

    async def _on_app_focus(self, event: events.AppFocus) -> None:
        event.prevent_default()  # the framework would restyle everything

    async def _on_app_blur(self, event: events.AppBlur) -> None:
        event.prevent_default()

    async def _live(self) -> None:
        """Open the session, then show its events until it ends."""
        try:
            session = self.session = await self._open()
        except GatewrightError as error:
            self.note(str(error), "error")
            self.note("Ctrl+D leaves.", "dim")
            return
        view = self.repl.view
        self._show(replace(view, mode=session.mode, model=session.model), ())
        early, self._early = self._early, []
        for text in early:
            self.send(text)
        await pump(session.subscribe(), self._guarded)

    def _guarded(self, batch: list[Envelope]) -> None:
        """A defect in showing one batch must not end the showing of all others."""
        try:
            self._take(batch)
        except Exception as error:  # noqa: BLE001  the front-end task: the session goes on
            self._handle_exception(error)

    def _take(self, batch: list[Envelope]) -> None:
        view = self.repl.view
        changes: list[state.Change] = []
        for envelope in batch:
            view, more = state.reduce(view, envelope)
            changes += more
        if not self.taken and self.session is not None and not self.session.busy:
            view, more = state.settle(view)  # the stored end of a session that was killed
            changes += more
        self._show(view, changes)
        self.taken = batch[-1].seq

    def _show(self, view: state.View, changes: Sequence[state.Change]) -> None:
        self.repl.show(view, changes)

    # what the screen asks for

    def commands(self) -> Commands:
        return self.session.commands if self.session is not None else self._no_commands

    def send(self, text: str) -> None:
        """A message or a command; kept until there is a session."""
        if self.session is None:
            self._early.append(text)
            view = self.repl.view
            self._show(replace(view, queue=tuple(self._early)), ())
        elif text.startswith("/") and not text.startswith("//"):
            self.run_worker(self._command(text.strip()), name="command", exit_on_error=False)
        else:
            self.session.submit(text)

    def answer(self, ask: int, answer: Answer) -> None:
        if self.session is not None:
            self.session.answer(ask, answer)

    def stop(self) -> bool:
        return self.session.interrupt() if self.session is not None else False

    def recall(self) -> Sequence[str]:
        if self.session is None:
            early, self._early = self._early, []
            self._show(replace(self.repl.view, queue=()), ())
            return early
        return self.session.recall()

    def cycle_mode(self) -> None:
        if self.session is not None:
            self.session.cycle_mode()

    def leave(self) -> None:
        self.run_worker(self._leave(), name="leave", exit_on_error=False)

    async def _leave(self, code: int = 0) -> None:
        if self.session is not None:
            await self.session.close()
        self.exit(code)

    async def _command(self, line: str) -> None:
        assert self.session is not None
        outcome = await self.session.run_command(line)
        match outcome:
            case Say(blocks=blocks):
                self.say(line, blocks)
            case Panel(fallback=fallback):
                self.say(line, fallback.blocks)
            case Quit():
                await self._leave()
            case Change() | Submit():
                pass
            case _:
                assert_never(outcome)

    def say(self, title: str, blocks: Sequence[Block]) -> None:
        """Show the answer of a command."""
        self._add(Said(0, title))
        self._add(Shown(0, "", tuple(blocks) or (Text("Nothing to show.", "dim"),)))

    def note(self, text: str, tone: str = "normal") -> None:
        self._add(Note(0, text, tone))  # type: ignore[arg-type]

    def _add(self, item: Note | Said | Shown) -> None:
        view, changes = state.add(self.repl.view, item)
        self._show(view, changes)


def run(open_session: OpenSession, *, first: str = "", theme: str = DEFAULT) -> int:
    """Run the program in this terminal, sending `first` at once; returns the exit code."""
    teach_keys()
    app = AgentApp(open_session, first=first, theme=theme, driver=ScreenDriver)
    code = app.run()
    if app.session is not None:
        sys.stdout.write(farewell(app.repl.transcript.records.all(), app.session.id))
        sys.stdout.flush()
    return code if code is not None else (app.return_code or 0)
