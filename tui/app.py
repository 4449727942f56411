"""The interactive program: a usable prompt first, then the session, then what is slow."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from rich.console import RenderableType
from textual import events
from textual.app import App
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen

from gatewright.agent.commands.outcome import Switch
from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import Envelope, TurnEnded
from gatewright.tools.access import MAIN
from gatewright.tools.system.signals import ENDING, Hearing
from gatewright.tui.agents.shown import ended as agents_ended
from gatewright.tui.agents.shown import in_title
from gatewright.tui.early.prompt import Early
from gatewright.tui.event_pump import pump
from gatewright.tui.hooking import besides
from gatewright.tui.prompt.editor import Edited, Editor
from gatewright.tui.prompt.files import Files
from gatewright.tui.prompt.history import History
from gatewright.tui.prompt.menu import Choice
from gatewright.tui.prompt.vim.machine import Machine
from gatewright.tui.reduce import add, reduce, settle
from gatewright.tui.screens.repl import Repl
from gatewright.tui.session_calls import Talk
from gatewright.tui.sessions.farewell import goodbye
from gatewright.tui.sessions.resuming import OpenSession, Resuming, wanted
from gatewright.tui.sessions.switching import Switching
from gatewright.tui.state import Appended, Change, Emptied, Patched, View
from gatewright.tui.status.status_command import for_screen
from gatewright.tui.style.look import Colourless
from gatewright.tui.style.palette_file import OwnThemes
from gatewright.tui.style.theme import DEFAULT, Palette
from gatewright.tui.style.themed import AUTO, Themed
from gatewright.tui.terminal.clipboard import copy_locally
from gatewright.tui.terminal.notify import Attention, ways_in
from gatewright.tui.terminal.sized import Sized
from gatewright.tui.terminal.terminal import GroundTold, ScreenDriver, adopting, on_canvas, prepare
from gatewright.tui.transcript.items import Item, Prose, Said
from gatewright.tui.work import Work, start

if TYPE_CHECKING:
    from gatewright.agent.client.port import SessionClient  # the core comes behind the screen
    from gatewright.agent.record.hub import Subscription
    from gatewright.agent.settings.schema import Ui

log = logging.getLogger(__name__)

MAX_FAILURES = 3  # a screen that keeps failing is given up


class AgentApp(Sized, inherit_bindings=False):
    """Owns the session for as long as the screen lives."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "agent"

    def __init__(
        self,
        open_session: OpenSession,
        *,
        ui: Ui | None = None,
        own: Mapping[str, Palette] | None = None,
        driver: type[Driver] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(driver_class=driver)
        self._bare = (Colourless(),)
        self._open = open_session
        self.themed = Themed(self, ui.theme if ui is not None else DEFAULT, own)
        self.look = self.themed.look
        self.talk = Talk(self)
        self.switching = Switching(self, self.talk)
        self.repl = Repl(self.look, self.talk, self, monotonic=monotonic, now=now)
        self.attention = Attention(self.write, monotonic)
        self.own_line = for_screen(self.repl.status, self.talk, self)
        self.failed: GatewrightError | None = None  # why there is no session
        self.resuming: Resuming | None = None
        if ui is not None:
            self._configure(ui)
        self.failures: list[Exception] = []
        self._files: Files | None = None
        self.editor = Editor()
        self.taken = 0  # the last event on the screen
        self.problems: list[str] = []  # told once the screen is there
        self.themed.repaint, self.themed.ask = self.repl.repaint, self._ask_ground

    def _configure(self, ui: Ui) -> None:
        self.repl.spinner.still = ui.reduced_motion
        self.repl.transcript.records.open_thoughts = ui.show_thinking
        self.repl.box.vim = Machine() if ui.vim else None
        self.repl.box.keyword.wanted = ui.ultracode_keyword
        self.call_by(ui.notify)

    @property
    def session(self) -> SessionClient | None:
        """The one that is shown."""
        return self.switching.shown

    @property
    def switches(self) -> bool:
        """It can go over to other sessions, from one that ends with it."""
        stays = self.session.stays if self.session is not None else ""
        return self.switching.others is not None and not stays

    @property
    def over(self) -> bool:
        """The program is being left, or its screen has ended."""
        return self.return_code is not None or not self.is_running

    def switch(self, to: Switch) -> None:
        self.spawn(partial(self.switching.switch, to))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return self._bare if self.no_color else super().get_line_filters()

    def get_default_screen(self) -> Screen[None]:
        return self.repl

    def on_ready(self) -> None:
        if not self.is_headless:
            gc.freeze()  # what a start made stays: no collection looks through it again
        gc.enable()
        for problem in self.problems:
            self.talk.note(problem, "warning")
        if self.resuming is not None and self.resuming.opens:
            self.talk.send(self.resuming.opens)
        self.spawn(self._live)

    def spawn(self, work: Work) -> None:
        """Run something in the background; a defect in it is told like one of the screen."""
        start(self, work, self._handle_exception)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Only what is another cell than stands there is written."""
        super()._display(screen, on_canvas(self._driver, renderable))  # pyright: ignore[reportUnknownMemberType]

    def write(self, sequence: str) -> None:
        """To the terminal, beside the screen."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    # signals, focus, failures

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, self._painted_anew)  # pyright: ignore[reportUnknownMemberType]
        if not self.is_headless:  # else a test, whose signals are its own
            handlers = {number: partial(self._signalled, number) for number in ENDING}
            Hearing(asyncio.get_running_loop(), handlers)

    def _painted_anew(self, _app: App[Any]) -> None:
        """The program was stopped and goes on: the terminal shows what was there meanwhile."""
        self.repl.panel.seen()
        self.screen.refresh(repaint=True, layout=True)

    def _signalled(self, number: int) -> None:
        if number != signal.SIGINT or not self.editor.running:  # else it is a key of the editor
            self.spawn(partial(self.leave, 128 + number))

    def _handle_exception(self, error: Exception) -> None:
        """A defect of the screen is told and logged; the session and the draft live on."""
        self.failures.append(error)
        if self.is_headless or len(self.failures) > MAX_FAILURES or not self.repl.is_mounted:
            super()._handle_exception(error)
            return
        log.error("the screen failed", exc_info=error)
        told = f"The screen failed: {error!r}. The session goes on."
        self.call_later(self.talk.note, told, "error")

    async def _on_app_focus(self, event: events.AppFocus) -> None:
        event.prevent_default()  # the framework would restyle everything
        self.attention.focused = True
        self.repl.panel.seen()

    def on_ground_told(self, message: GroundTold) -> None:
        self.themed.told(light=message.light)

    def _ask_ground(self) -> None:
        if isinstance(self._driver, ScreenDriver):
            self._driver.ask_ground()

    async def _on_app_blur(self, event: events.AppBlur) -> None:
        event.prevent_default()
        self.attention.focused = False

    # the session and its events

    async def _live(self) -> None:
        """Open the session, then show its events, and those of others, until the last ends."""
        try:
            session = await (await wanted(self.resuming, self._open, self.repl.reach))()
        except GatewrightError as error:
            self.failed = error
            self.exit(1)
            return
        self.spawn(_load_markdown)
        await self.switching.live(session)

    def enter(self, session: SessionClient) -> Subscription:
        """Show a session: beside what was said before there was one, or in place of another."""
        events, anew = session.subscribe(streamed=True), self.taken > 0
        self.repl.watching.close()
        view = View(next_id=self.repl.view.next_id) if anew else self.repl.view
        self.taken = 0
        self.repl.transcript.clear_selection()
        spent = session.spent
        used = replace(view, usage=spent.usage, cost=spent.cost, context=spent.context)
        where = replace(used, window=spent.window, moved=session.moved)
        self.repl.show(replace(where, mode=session.mode, model=session.model), (Emptied(),) * anew)
        self.repl.join(session.commands)
        vim = self.repl.box.vim_mode
        self.own_line.begin(session.status, lambda: session.status_input(vim()))
        if anew:
            self.repl.box.history_.begin()
        if anew and (kept := events.waiting()):  # at once: the screen is never seen empty
            self._take(kept)
        return events

    async def follow(self, events: Subscription) -> None:
        """Show what happens until the subscription ends."""
        await pump(events, self._take)

    def _take(self, batch: list[Envelope]) -> None:
        """Show a batch; a defect in showing it must not end the showing of all others."""
        try:
            self._fold(batch)
        except Exception as error:  # noqa: BLE001  the front-end task: the session goes on
            self._handle_exception(error)

    def _fold(self, batch: list[Envelope]) -> None:
        before = view = self.repl.view
        changes: list[Change] = []
        for envelope in batch:
            view, more = reduce(view, envelope)
            changes += more
        if not self.taken and self.session is not None and not self.session.busy:
            # the stored end of a session that was killed, unless work of it still runs
            view, more = settle(view, all=not view.tasks)
            changes += more
        self.repl.show(view, changes)
        ended = self.taken and any(
            isinstance(e.event, TurnEnded) and e.agent == MAIN for e in batch
        )
        if self.taken:
            besides(batch, self.repl.reach.draft, self.repl.desk.put_back, self.attention.say)
        else:
            shown = (c.item for c in changes if isinstance(c, Appended))
            self.repl.box.history_.seed(i.text for i in shown if isinstance(i, Said))
        self.taken = max(self.taken, *(envelope.seq for envelope in batch))
        names = ("agent", in_title(view), view.title or Path(view.cwd).name)
        self.attention.name("  ".join(filter(None, names)))
        self.attention.asked(view.asks[0].id if view.asks else None)
        if self.taken and (said := agents_ended(view, batch)):
            self.attention.ended(said)
        if ended:
            items = [c.item for c in changes if isinstance(c, Appended | Patched)]
            prose = [item.text for item in items if isinstance(item, Prose)]
            self.attention.ended(prose[-1] if prose else "is done")
        if view.asks and before.asks != view.asks:
            self.set_timer(6.5, self._remind)

    def _remind(self) -> None:
        asks = self.repl.view.asks
        if asks and self.attention.check(asks[0].called):
            self.set_timer(1.0, self._remind)

    async def leave(self, code: int = 0) -> None:
        """Whatever fails here is told and logged; the program ends all the same."""
        try:
            await self.editor.stop()
            await self.own_line.close()
            await self.talk.close()
            await self.switching.close()
        finally:
            self.exit(code)

    # what `Talk` and the commands ask of the screen

    def add(self, item: Item) -> int:
        view, changes = add(self.repl.view, item)
        self.repl.show(view, changes)
        return view.next_id - 1

    def patch(self, item: Item) -> None:
        self.repl.show(self.repl.view, (Patched(item),))

    def show_queue(self, texts: Sequence[str]) -> None:
        self.repl.show(replace(self.repl.view, queue=tuple(texts)), ())

    def folder(self) -> Path:
        return Path(self.repl.view.cwd or Path.cwd())

    def files(self, query: str) -> tuple[Sequence[Choice], str]:
        """What fits, and what to say below it."""
        return self._files.offer(query) if self._files is not None else ((), "")

    def refresh_files(self) -> None:
        """Read the list again if it is old, or of another place; returns at once."""
        if self.repl.view.cwd and (self._files is None or self._files.root != self.folder()):
            self._files = Files(self.folder())
        if self._files is not None and self._files.stale:
            self.spawn(partial(self._list_files, self._files))

    async def _list_files(self, files: Files) -> None:
        await files.refresh(self.repl.desk.complete)
        self.repl.desk.complete()

    def copy(self, text: str) -> None:
        text = text.encode("utf-8", "replace").decode("utf-8")  # a model may send half a pair
        self.copy_to_clipboard(text)
        self.spawn(partial(copy_locally, text))

    def edit(self, text: str, done: Callable[[Edited], None]) -> None:
        """Let the person edit a text; returns at once."""
        self.spawn(partial(self._edit, text, done))

    async def _edit(self, text: str, done: Callable[[Edited], None]) -> None:
        if self.editor.running:
            return
        with contextlib.nullcontext() if self.is_headless else self.suspend():
            edited = await self.editor.run(text, os.environ)
        self.screen.refresh(repaint=True, layout=True)
        done(edited)

    def call_by(self, ways: bool | str) -> None:
        """How to call the person when a question waits, as the setting says it."""
        self.attention.muted = not ways
        self.attention.ways = ways_in(os.environ, ways)


async def _load_markdown() -> None:
    """While nobody waits for it: else it takes 20 ms right behind the first Enter."""
    await asyncio.to_thread(import_module, "markdown_it")


def run(
    open_session: OpenSession,
    *,
    ui: Ui | None = None,
    themes: OwnThemes | None = None,
    history: Path | None = None,
    resuming: Resuming | None = None,
    early: Early | None = None,
) -> int:
    """Run the program in this terminal; returns the exit code.

    Raises the GatewrightError that kept the session from being opened, once the screen is gone.
    `history` is the file with what was sent before,
    `early` the prompt that has the terminal until now.
    """
    prepare()
    chosen = ui.theme if ui is not None else ""
    own, problems = themes.read(chosen) if themes is not None else ({}, [])
    driver = adopting(early, asking=chosen == AUTO)
    app = AgentApp(open_session, ui=ui, own=own, driver=driver)
    if early is not None and early.ground.light:
        app.themed.told(light=True)
    app.problems, app.resuming, app.themed.own = problems, resuming, themes
    if history is not None:
        app.repl.box.history_ = History(history)
    app.switching.others = resuming.others if resuming is not None else None
    if resuming is not None and resuming.prompt:
        app.talk.first(resuming.prompt)
    code = app.run()
    if app.failed is not None:
        raise app.failed
    if code is None and app.failures:  # the framework ends where its own loop fails
        code = 1
        sys.stderr.write(f"agent: The screen failed: {app.failures[-1]!r}.\n")
    if app.session is not None:
        sys.stdout.write(goodbye(app.repl.transcript.records.all(), app.session))
        sys.stdout.flush()
    return code or 0
