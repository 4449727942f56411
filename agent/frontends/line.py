"""Converse line by line: no cursor movement, no colours, questions answered by typing.

For screen readers, dumb terminals and pipes; the same events as the screen, in reading order.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TextIO

from gatewright.agent.commands.outcome import Panel, Quit, Say
from gatewright.agent.errors import GatewrightError
from gatewright.agent.events import Asked, Envelope
from gatewright.agent.exits import Exit, code_for
from gatewright.agent.frontends.reader import LineReader
from gatewright.agent.frontends.spoken import Spoken, answer_from
from gatewright.agent.frontends.turn import from_start
from gatewright.agent.options import LaunchOptions
from gatewright.agent.session import Session
from gatewright.tools.blocks import plain
from gatewright.tools.interact import Answer, leaves

Opener = Callable[[], Awaitable[Session]]
DRAIN = 2.0
GREETING = "Type what you want done; /help lists commands, Ctrl+D ends.\n"


def run(options: LaunchOptions, open_session: Opener) -> int:
    """Converse until the input ends; returns the exit code."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_start(options, open_session))
    except GatewrightError as error:
        sys.stderr.write(f"agent: {error}\n")
        return code_for(error)


async def _start(options: LaunchOptions, open_session: Opener) -> int:
    session = await open_session()
    talk = Conversation(session, sys.stdout, LineReader(0))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, talk.interrupt)
    loop.add_signal_handler(signal.SIGTERM, talk.leave, Exit.SIGTERM)
    loop.add_signal_handler(signal.SIGHUP, talk.leave, Exit.SIGHUP)
    try:
        return await talk.run(options.prompt)
    finally:
        await session.close()


class Conversation:
    """Prints what happens and takes lines; `reader` yields None at the end of input."""

    def __init__(self, session: Session, out: TextIO, reader: LineReader) -> None:
        self._session = session
        self._out = out
        self._reader = reader
        self._asked: list[Asked] = []
        self._ended = False  # nobody types any more
        self._spoken = Spoken()
        self._subscription = session.subscribe()
        self._leaving: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def run(self, prompt: str) -> int:
        self._say(GREETING)
        await asyncio.sleep(0)  # the session's own question, if any, stands before the first line
        self._show(from_start(self._subscription.waiting()))
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
            return self._leaving.result() if self._leaving.done() else Exit.OK
        finally:
            printing.cancel()
            listening.cancel()
            await asyncio.gather(printing, listening, return_exceptions=True)

    def interrupt(self) -> None:
        """Ctrl+C: stop the turn, or leave when none runs."""
        if not self._session.interrupt():
            self.leave(Exit.OK)

    def leave(self, code: int) -> None:
        if not self._leaving.done():
            self._leaving.set_result(code)

    async def _print(self) -> None:
        while batch := await self._subscription.batch():
            self._show(batch)

    def _show(self, batch: list[Envelope]) -> None:
        for envelope in batch:
            if isinstance(envelope.event, Asked):
                self._take(envelope.event)
            self._asked = self._spoken.still_open(self._asked, envelope.event)
            self._say(self._spoken.text(envelope))

    def _take(self, asked: Asked) -> None:
        """A question waits for its line; at the end of input nobody will answer it."""
        if self._ended:
            self._session.answer(asked.id, Answer(cancelled=True))
        else:
            self._asked.append(asked)

    async def _listen(self) -> None:
        while (line := await self._reader.next()) is not None:
            if self._asked:
                self._answer(line)
            elif line.startswith("/"):
                await self._command(line)
            elif line.strip():
                self._session.submit(line)
        self._ended = True
        for asked in tuple(self._asked):
            self._session.answer(asked.id, Answer(cancelled=True))
        await self._session.idle()
        self.leave(Exit.OK)

    def _answer(self, line: str) -> None:
        asked = self._asked[0]
        answer = answer_from(asked.ask, line)
        if answer is None:
            self._say("Please type one of the letters or numbers.\n")
        else:
            self._session.answer(asked.id, answer)
            if leaves(asked.ask, answer):
                self.leave(Exit.OK)

    async def _command(self, line: str) -> None:
        match await self._session.run_command(line):
            case Say(blocks=blocks) | Panel(fallback=Say(blocks=blocks)):
                self._say("".join(f"{plain(block)}\n" for block in blocks))
            case Quit():
                self.leave(Exit.OK)
            case _:
                pass

    def _say(self, text: str) -> None:
        if not text:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            self.leave(Exit.SIGPIPE)
