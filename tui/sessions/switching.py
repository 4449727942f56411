"""One session on the screen after another: opened, shown until it is left, closed.

Another one is open before the one at hand is left, so a session that cannot be opened costs
nothing; whatever was opened is closed before the program ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Switch
from gatewright.agent.errors import GatewrightError
from gatewright.tui.picker import Picking
from gatewright.tui.prompt.menu import Choice
from gatewright.tui.sanitize import one_line
from gatewright.tui.session_calls import Talk
from gatewright.tui.sessions.resuming import Others

if TYPE_CHECKING:
    from gatewright.agent.client.port import SessionClient  # the screen is there before the core
    from gatewright.agent.record.hub import Subscription
    from gatewright.tui.app import AgentApp  # it makes this

OWN_COMMAND = "Your own command still runs. Esc stops it; then switch again."
TASKS = 5  # named when the person is to leave


class Switching:
    def __init__(self, screen: AgentApp, talk: Talk) -> None:
        self._screen = screen
        self._talk = talk
        self._events: Subscription | None = None
        self._next: SessionClient | None = None
        self._going = False
        self._ended = False
        self._asking = False  # whether the person wants to leave
        self._closing: set[asyncio.Task[None]] = set()
        self.shown: SessionClient | None = None
        self.others: Others | None = None

    async def live(self, first: SessionClient) -> None:
        """Until the last session has ended."""
        session: SessionClient | None = first
        while session is not None:
            self.shown = session
            self._events = self._screen.enter(session)
            self._talk.begin(session)
            self._screen.repl.desk.begin()
            await self._screen.follow(self._events)
            if self._ended:
                return
            if self._next is not None:
                self._close_soon(session)
            session, self._next = self._next, None

    async def switch(self, to: Switch) -> None:
        """Go over, once nothing is lost by it or the person wants it so."""
        if self._talk.busy_shell:
            self._talk.note(OWN_COMMAND, "warning")
        elif (tasks := self._screen.repl.view.tasks) and not self._stays:
            self._screen.repl.sheet.close()  # else what was chosen from looks as if it took keys
            self._screen.repl.reach.pick(self._sure(to, len(tasks)))
        else:
            await self.go(to)

    def _sure(self, to: Switch, count: int) -> Picking:
        what = "A background task runs" if count == 1 else f"{count} background tasks run"
        choices = [Choice("", "Stay here"), Choice("go", "Switch and stop what runs")]

        def pick(choice: Choice) -> None:
            if choice.insert:
                self._screen.spawn(partial(self.go, to))

        return Picking(f"{what} here and would be stopped", choices, pick)

    def leave(self) -> None:
        """The program is to end, at once where nothing runs; asked for twice, it does."""
        running = self._running()
        if not running or self._asking:
            self._screen.spawn(self._screen.leave)
            return
        choices = [Choice("", "Stay here"), Choice("go", "Leave and stop what runs")]

        def pick(choice: Choice) -> None:
            self._asking = False
            if choice.insert:
                self._screen.spawn(self._screen.leave)

        def stay() -> None:
            self._asking = False

        title = "Leaving stops " + " and ".join(running)
        tasks = [one_line(each) for each in self._screen.repl.view.tasks[:TASKS]]
        self._screen.repl.reach.pick(Picking(title, choices, pick, cancel=stay, about=tasks))
        self._asking = True  # after what stood there before was cancelled

    def _running(self) -> Sequence[str]:
        """What would be stopped, in a few words: nothing of a session that goes on by itself."""
        view = self._screen.repl.view
        turn, count, jobs = (
            self.shown is not None and self.shown.busy,
            len(view.tasks),
            len(view.jobs),
        )
        if self._stays:
            turn, count, jobs = False, 0, 0
        tasks = f"{count} background task{'' if count == 1 else 's'}" if count else ""
        own = "your own command" if self._talk.busy_shell else ""
        to_come = f"{jobs} job{'' if jobs == 1 else 's'} to come, until you resume" if jobs else ""
        told = ("the turn that runs" if turn else "", own, tasks, to_come)
        return [each for each in told if each]

    @property
    def _stays(self) -> bool:
        """Whether it goes on by itself, whoever looks: leaving it stops nothing."""
        return self.shown is not None and bool(self.shown.stays)

    async def go(self, to: Switch) -> None:
        here, others = self.shown, self.others
        if here is None or others is None or self._going or self._ended:
            return
        self._going = True
        self._talk.hold()
        other: SessionClient | None = None
        try:
            await self._closed()
            other = await others(to)
        except GatewrightError as error:
            self._talk.note(str(error), "warning")
        finally:
            self._going = False
            if other is None:
                self._screen.repl.desk.take_back()
                self._talk.begin(here)
        if other is not None:
            await self._leave_for(other, keep=to.copy and not to.other)

    async def _leave_for(self, other: SessionClient, *, keep: bool) -> None:
        if self._ended or self._events is None:
            await other.close()
            return
        if not keep:
            self._talk.forget()
        self._next = other
        self._screen.repl.sheet.close()  # it shows what belongs to the one that is left
        self._events.close()

    def _close_soon(self, session: SessionClient) -> None:
        task = asyncio.create_task(session.close(), name="closing a session")
        self._closing.add(task)

    async def _closed(self) -> None:
        """Wait for sessions that are being closed: each has a limit of its own."""
        if self._closing:
            await asyncio.wait(self._closing)
            done, self._closing = self._closing, set()
            for task in done:
                task.result()

    async def close(self) -> None:
        """The program ends."""
        self._ended = True
        for session in (self._next, self.shown):
            if session is not None:
                await session.close()
        await self._closed()
