"""The real app on a test terminal, with a session whose events the test writes down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from textual import events
from textual.geometry import Size
from textual.pilot import Pilot

from gatewright.agent.client.port import SessionClient
from gatewright.agent.settings.schema import Ui
from gatewright.tui.app import AgentApp
from gatewright.tui.prompt.box import Box
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import PATIENCE
from tests.tui.idle import Skipping, wait_for_idle
from tests.tui.styles import shared

HINT = 600.0  # seconds that a word beside the mode stays: a busy machine may look at it late


class Clock:
    """Stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def screen_text(app: AgentApp) -> str:
    """What is on the screen, as plain rows."""
    width, height = app.size
    compositor = app.screen._compositor  # pyright: ignore[reportPrivateUsage]
    strips = compositor.render_strips()
    return "\n".join(strip.crop(0, width).text.rstrip() for strip in strips[:height])


@dataclass
class Stage:
    app: AgentApp
    pilot: Pilot[int]
    session: FakeSession
    clock: Clock
    skipping: Skipping = field(default_factory=Skipping)

    @property
    def failure(self) -> Exception | None:
        """What the screen raised."""
        return self.app._exception  # pyright: ignore[reportPrivateUsage]

    async def recover(self) -> None:
        """Close whatever is open, answer whatever is asked, empty the prompt."""
        size = Size(80, 24)
        self.app.post_message(events.Resize(size, size))
        for _ in range(100):
            self.clock.now += 1
            self.session.busy = False
            await self.pilot.press("escape")
            app, repl = self.app, self.app.repl
            listing = repl.picker.open or repl.sheet.open
            if app.screen is repl and not repl.view.asks and not listing:
                break
        self.app.repl.box.focus()
        self.app.repl.box.put("")
        await self.pilot.pause()

    def text(self) -> str:
        """What is on the screen, as plain rows."""
        return screen_text(self.app)

    async def until(self, fact: Callable[[], bool]) -> None:
        """Wait for a fact; fail with the screen when it does not come."""
        async with asyncio.timeout(PATIENCE):
            while not fact():
                await self.pilot.pause(0.01)
                if self.failure is not None:
                    raise self.failure

    async def see(self, *wanted: str) -> str:
        try:
            await self.until(lambda: all(word in self.text() for word in wanted))
        except TimeoutError:
            raise AssertionError(f"no {wanted} on the screen:\n{self.text()}") from None
        return self.text()

    async def gone(self, word: str) -> None:
        try:
            await self.until(lambda: word not in self.text())
        except TimeoutError:
            raise AssertionError(f"{word!r} stays on the screen:\n{self.text()}") from None

    async def settled(self) -> None:
        """Wait until every published event is on the screen and nothing is left to paint."""
        await self.until(lambda: self.app.taken >= self.session.published)
        await self.pilot.pause()

    async def wait(self, seconds: float) -> None:
        """What happens within so many seconds has happened; the guard's clock stands still."""
        await self.skipping.past(seconds)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def paste(self, text: str) -> None:
        """What a terminal sends for a bracketed paste."""
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()

    async def mouse(self, kind: type[events.MouseEvent], x: int, y: int) -> None:
        """A mouse event at a cell of the screen."""
        button = 0 if issubclass(kind, events.MouseScrollDown | events.MouseScrollUp) else 1
        self.app.post_message(kind(None, x, y, 0, 0, button, False, False, False, x, y))
        await self.pilot.pause()

    async def burst(self, text: str) -> None:
        """Keys that arrive in one read, as an unbracketed paste does."""
        for character in text:
            key = {"\r": "enter", " ": "space"}.get(character, character)
            self.app.post_message(events.Key(key, character))
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Type as a person does: no burst. Into the prompt at once, elsewhere key by key."""
        focused = self.app.focused
        if isinstance(focused, Box):
            focused.insert(text)
            await self.pilot.pause()
        else:
            await self.pilot.press(*["space" if c == " " else c for c in text])


@asynccontextmanager
async def stage(
    session: FakeSession | None = None, *, size: tuple[int, int] = (80, 24), theme: str = "dark"
) -> AsyncGenerator[Stage]:
    session = session or FakeSession()

    async def open_session() -> SessionClient:
        return session.facade()

    clock = Clock()
    app = AgentApp(open_session, ui=Ui(theme=theme), monotonic=clock, now=lambda: session.now)
    with (
        patch("gatewright.tui.event_pump.CALM", 0.0),  # nothing is seen later than it happened
        patch("gatewright.tui.screens.repl.TWICE", HINT),
    ):
        async with driven(app, size=size) as pilot:
            made = Stage(app, pilot, session, clock)
            await made.see(session.model[:8])
            try:
                yield made
            finally:
                await app.own_line.close()  # as leaving does


@asynccontextmanager
async def driven(app: AgentApp, *, size: tuple[int, int] = (80, 24)) -> AsyncGenerator[Pilot[int]]:
    """The app on a test terminal: nobody waits longer than there is something to do."""
    with (
        shared(),
        patch("textual.app.wait_for_idle", wait_for_idle),
        patch("textual.pilot.wait_for_idle", wait_for_idle),
    ):
        async with app.run_test(size=size) as pilot:
            yield pilot
