"""Converse line by line: no cursor movement, no colours, questions answered by typing.

For screen readers, dumb terminals and pipes; the same events as the screen, in reading order.
Nothing is printed that could move a cursor, whoever wrote it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TextIO

from gatewright.agent.client.port import SessionClient
from gatewright.agent.commands.outcome import Outcome, Quit, Switch, said
from gatewright.agent.commands.registry import Front
from gatewright.agent.errors import GatewrightError
from gatewright.agent.frontends.reader import LineReader
from gatewright.agent.frontends.sentences import Spoken, answer_from, recalled
from gatewright.agent.frontends.turn import from_start
from gatewright.agent.frontends.typed_messages import Drafts
from gatewright.agent.launch.exits import Exit, code_for
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import (
    Answered,
    Asked,
    Envelope,
    SessionStarted,
    TasksChanged,
    UserMessage,
)
from gatewright.agent.record.hub import Subscription
from gatewright.agent.text.printable import visible
from gatewright.tools.blocks import plain
from gatewright.tools.interact import Answer, leaves
from gatewright.tools.protocol import TextContent, ToolFailure
from gatewright.tools.system.signals import hearing

Opener = Callable[[], Awaitable[SessionClient]]
Others = Callable[[Switch], Awaitable[SessionClient]]
DRAIN = 2.0
GREETING = "Type what you want done; /help lists commands, Ctrl+D ends.\n"
DUMB = "This terminal (TERM=dumb) cannot show the screen: this is the conversation line by line.\n"
STOPS = "In the background run {count}, which would be stopped. Type the same again to {do}.\n"
EARLY = "(Typed before the question, so it is no answer to it.)\n"
PAUSE = 0.4  # seconds after a question was printed in which nobody has read it
LARGE = 15  # lines of a message that are worth telling


class Ran(Protocol):
    """What a command of the person's own left behind."""

    @property
    def ended(self) -> str: ...
    def shown(self) -> str: ...
    def for_model(self) -> str: ...


class Shell(Protocol):
    """Runs the person's own commands, one at a time."""

    async def run(self, command: str, cwd: Path) -> Ran: ...
    def stop(self) -> bool:
        """End the running command; False when none runs."""
        ...


@dataclass(frozen=True)
class Ports:
    """What conversing shares with the screen.

    `output` makes readable what a command printed, `remembered` gives the line that `#line` keeps
    and nothing for a message, `others` opens sessions to go over to.
    """

    output: Callable[[str], str]
    remembered: Callable[[str], str]
    shell: Shell
    others: Others | None = None


def run(options: LaunchOptions, open_session: Opener, ports: Ports) -> int:
    """Converse until the input ends; returns the exit code."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_start(options, open_session, ports))
    except GatewrightError as error:
        sys.stderr.write(visible(f"agent: {error}\n"))
        return code_for(error)


async def _start(options: LaunchOptions, open_session: Opener, ports: Ports) -> int:
    if not options.plain:
        sys.stdout.write(DUMB)
    session = await open_session()
    reader = LineReader(0)
    talk = Conversation(session, sys.stdout, reader, ports, hand=os.isatty(0))
    handlers: dict[int, Callable[[], object]] = {
        signal.SIGINT: talk.interrupt,
        signal.SIGTERM: partial(talk.leave, Exit.SIGTERM),
        signal.SIGHUP: partial(talk.leave, Exit.SIGHUP),
    }
    with hearing(asyncio.get_running_loop(), handlers):
        try:
            return await talk.run(options.prompt)
        finally:
            await talk.close()


class Conversation:
    """Prints what happens and takes lines; `reader` yields None at the end of input."""

    def __init__(
        self,
        session: SessionClient,
        out: TextIO,
        reader: LineReader,
        ports: Ports,
        *,
        hand: bool = False,
    ) -> None:
        self._session = session
        self._open = [session]  # those that are still to be closed
        self._tasks = 0
        self._warned = ""  # the line that would stop background tasks
        self._out = out
        self._ports = ports
        self._drafts = Drafts(reader, lambda: hand and not self._asked)
        self._told: list[str] = []  # output of own commands, for the next message
        self._cwd = Path()
        self._talked = False
        self._asked: list[tuple[Asked, Envelope]] = []  # oldest first; only that one is printed
        self._posed: Envelope | None = None
        self._posed_at = 0.0
        self._given: Envelope | None = None  # answered, though it may not have been told yet
        self._hand = hand
        self._pause = PAUSE if hand else 0.0
        self._ended = False  # nobody types any more
        self._spoken = Spoken(ports.output)
        self._subscription = session.subscribe()
        self._leaving: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run(self, prompt: str) -> int:
        self._say(GREETING)
        await asyncio.sleep(0)  # the session's own question, if any, stands before the first line
        backlog = self._subscription.waiting()
        fresh = from_start(backlog)
        self._say(recalled(backlog[: len(backlog) - len(fresh)]))
        self._show(fresh)
        if prompt:
            self._session.submit(prompt)
        printing = asyncio.create_task(self._print())
        listening = asyncio.create_task(self._listen())
        try:
            waiting: list[asyncio.Future[Any]] = [printing, listening, self._leaving]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            self._subscription.close()
            await asyncio.wait([printing], timeout=DRAIN)  # what happened last is still said
            for task in (printing, listening):
                if task.done() and (error := task.exception()) is not None:
                    raise error
            self._say(self._farewell())
            return self._leaving.result() if self._leaving.done() else Exit.OK
        finally:
            printing.cancel()
            listening.cancel()
            await asyncio.gather(printing, listening, return_exceptions=True)

    def _farewell(self) -> str:
        """How to go on, where something was said, and what will be missing then."""
        on = f"Go on with: agent --plain --resume {self._session.id}\n" if self._talked else ""
        return f"{on}{self._session.unsaved}\n" if self._session.unsaved else on

    def interrupt(self) -> None:
        """Ctrl+C: stop the own command or the turn, or leave when nothing runs."""
        if not self._ports.shell.stop() and not self._session.interrupt():
            self.leave(Exit.OK)

    def leave(self, code: int) -> None:
        if not self._leaving.done():
            self._leaving.set_result(code)

    async def close(self) -> None:
        """End the session at hand, and one that was left and has not ended yet."""
        for session in tuple(self._open):
            await session.close()

    async def _print(self) -> None:
        shown: Subscription | None = None
        while shown is not self._subscription:  # after a switch there is another one
            shown = self._subscription
            while batch := await shown.batch():
                self._show(batch)

    def _show(self, batch: list[Envelope]) -> None:
        for envelope in batch:
            match envelope.event:
                case Asked() as asked:
                    self._take(asked, envelope)
                    continue
                case Answered(id=id):
                    self._asked = [each for each in self._asked if each[0].id != id]
                case SessionStarted(cwd=cwd):
                    self._cwd = Path(cwd)
                case UserMessage(hidden=False):
                    self._talked = True
                case TasksChanged(running=running):
                    self._tasks = len(running)
                case _:
                    pass
            self._say(self._spoken.text(envelope))
            self._pose()

    def _take(self, asked: Asked, envelope: Envelope) -> None:
        """A question waits for its line; at the end of input nobody will answer it."""
        if self._ended:
            self._say(self._spoken.text(envelope))
            self._session.answer(asked.id, Answer(cancelled=True))
        else:
            self._asked.append((asked, envelope))
            self._pose()

    def _pose(self) -> None:
        """Print the oldest question; the next one only when that is answered."""
        if self._asked and self._asked[0][1] is not self._posed:
            self._posed = self._asked[0][1]
            asked = self._spoken.text(self._posed)
            self._say(asked[:-1])
            self._posed_at = time.monotonic()  # before its end: a program may answer that at once
            self._say(asked[-1:])

    def _meant(self) -> bool:
        """Whether the line was typed by somebody who had the question before them."""
        if not self._asked:
            return False
        seen = self._drafts.at > self._posed_at + self._pause
        if seen and self._asked[0][1] is not self._given:
            return True
        self._say(EARLY)
        return False

    async def _listen(self) -> None:
        while (line := await self._drafts.next()) is not None:
            if self._meant():
                self._answer(line)
            elif line.startswith("/") and not line.startswith("//"):
                await self._command(line.strip())
            elif line.startswith("!") and line[1:].strip():
                await self._own(line[1:].strip())
            elif kept := self._ports.remembered(line):
                await self._show_outcome(await self._session.remember(kept), line)
            elif line.strip():
                self._send(line)
        await self._finish()

    async def _finish(self) -> None:
        """No more is typed: what was asked for is done, and then it is over."""
        self._ended = True
        for asked, _ in tuple(self._asked):
            self._session.answer(asked.id, Answer(cancelled=True))
        await self._session.idle()
        self.leave(Exit.OK)

    def _send(self, text: str) -> None:
        if (lines := text.count("\n") + 1) > LARGE:
            self._say(f"(One message of {lines:,} lines.)\n")
        told = tuple(map(TextContent, self._told))
        self._told.clear()
        foreign = not self._hand or lines > LARGE  # a pipe, or a paste that nobody reads
        self._session.submit(text, told, typed="" if foreign else None)

    async def _own(self, command: str) -> None:
        """What is typed meanwhile waits: it may be about the output."""
        try:
            ran = await self._ports.shell.run(command, self._cwd)
        except ToolFailure as error:
            self._say(f"  failed: {error}\n")
            return
        self._told.append(ran.for_model())
        output = self._ports.output(ran.shown()).rstrip("\n")
        self._say((f"{output}\n" if output else "") + f"  {ran.ended}\n")

    def _answer(self, line: str) -> None:
        asked, envelope = self._asked[0]
        answer = answer_from(asked.ask, line)
        if answer is None:
            self._say("Please type one of the letters or numbers.\n")
        else:
            self._given = envelope
            self._session.answer(asked.id, answer)
            if leaves(asked.ask, answer):
                self.leave(Exit.OK)

    async def _command(self, line: str) -> None:
        front = Front(switches=self._ports.others is not None)
        await self._show_outcome(await self._session.run_command(line, front), line)

    async def _show_outcome(self, outcome: Outcome, line: str) -> None:
        others = self._ports.others
        match outcome:
            case Quit() if self._hand:
                if self._sure(line, "leave"):
                    self.leave(Exit.OK)
            case Quit():  # written ahead, by who wants what stands before it
                await self._finish()
            case Switch() as to if others is not None and self._sure(line, "switch"):
                await self._go(to, others)
            case _:
                self._say("".join(f"{plain(block)}\n" for block in said(outcome)))

    def _sure(self, line: str, do: str) -> bool:
        """Whether nothing would be stopped, or the person typed it again."""
        if not self._tasks or self._warned == line:
            self._warned = ""
            return True
        self._warned = line
        self._say(STOPS.format(count=self._tasks, do=do))
        return False

    async def _go(self, to: Switch, others: Others) -> None:
        """Go over to another session; one that cannot be opened changes nothing."""
        left = self._session
        try:
            self._session = await others(to)
        except GatewrightError as error:
            self._say(f"{error}\n")
            return
        self._open.append(self._session)
        self._show(self._subscription.waiting())  # of the one that is left: before it is
        self._asked.clear()
        self._tasks = 0
        if not to.copy:
            self._told.clear()
        self._subscription.close()
        self._subscription = self._session.subscribe()
        backlog = self._subscription.waiting()
        fresh = from_start(backlog)
        past = recalled(backlog[: len(backlog) - len(fresh)])
        self._talked = bool(past)
        self._say("" if to.copy else past)
        self._show(fresh)
        await left.close()
        self._open.remove(left)

    def _say(self, text: str) -> None:
        if not text:
            return
        try:
            self._out.write(visible(text))
            self._out.flush()
        except BrokenPipeError:
            self.leave(Exit.SIGPIPE)
