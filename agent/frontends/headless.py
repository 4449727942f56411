"""Print mode as a process: standard streams, signals and the exit code around one session."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import stat
import sys
from collections.abc import Awaitable, Callable, Generator

import msgspec

from gatewright.agent.commands.outcome import Submit
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.project.project_extension import Projects
from gatewright.agent.frontends import plain
from gatewright.agent.frontends.background import Background
from gatewright.agent.frontends.interruption import Interruption
from gatewright.agent.frontends.live import Live
from gatewright.agent.frontends.must_know import Told
from gatewright.agent.frontends.output import Output, went_away
from gatewright.agent.frontends.slash_text import command, no_command
from gatewright.agent.frontends.stdin import NOTHING, prompt_from
from gatewright.agent.frontends.turn import Follower, tell
from gatewright.agent.launch.exits import BadInput, Exit, UsageError, code_for
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.session.session import Session
from gatewright.agent.text.printable import visible

CLOSE_LIMIT = 8.0  # seconds from the result to the exit, whatever hangs

Opener = Callable[[], Awaitable[Session]]


def run(options: LaunchOptions, open_session: Opener) -> int:
    """Answer and return the exit code; every wait after the answer is bounded."""
    if options.input_format == "text" and not (options.no_stdin and options.prompt.strip()):
        prompt = prompt_from(options.prompt, tell=_tell, env=os.environ)
        goes_on = options.resume is not None or options.continue_session or options.auto_continue
        if not prompt and not goes_on:
            raise BadInput(NOTHING)
        typed = None if prompt == options.prompt else options.prompt
        options = msgspec.structs.replace(options, prompt=prompt, typed=typed)
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_Process(loop, options, open_session).run())
    except GatewrightError as error:
        sys.stderr.write(visible(f"agent: {error}\n"))
        return code_for(error)


def _tell(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


class _Process:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, options: LaunchOptions, open_session: Opener
    ) -> None:
        self._options = options
        self._open = open_session
        self._interruption = Interruption(loop)
        self._loop = loop
        self._out = Output(1, self._output_failed)

    async def run(self) -> int:
        work = asyncio.create_task(self._work())
        with self._interruption.of(work), self._watched_output():
            await asyncio.wait([work])
        done = self._out.close()
        if (error := self._out.error) is not None and not went_away(error):
            sys.stderr.write(f"agent: cannot write the answer: {error.strerror}\n")
            return Exit.ERROR
        if self._interruption.code or error is not None:
            return self._interruption.code or Exit.SIGPIPE
        return work.result() if done else Exit.ERROR

    @contextlib.contextmanager
    def _watched_output(self) -> Generator[None]:
        """Stop also while nothing is written, once the reader has left: perhaps it died."""
        if not is_pipe(1):
            yield
            return

        def left() -> None:  # a pipe's writing end is readable only in this sense
            self._loop.remove_reader(1)
            self._interruption.stop(Exit.SIGPIPE)

        self._loop.add_reader(1, left)
        try:
            yield
        finally:
            self._loop.remove_reader(1)

    async def _work(self) -> int:
        session = await self._open()
        gc.freeze()  # what a start made stays: no collection looks through it again
        gc.enable()
        self._interruption.session = session
        try:
            return await self._answer(session)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_LIMIT):
                    await session.close()
            if session.unsaved:
                sys.stderr.write(visible(f"agent: {session.unsaved}\n"))

    async def _answer(self, session: Session) -> int:
        options, err = self._options, sys.stderr
        chatty = options.verbose or err.isatty()
        if options.input_format == "text" and (wrong := no_command(session, options.prompt)):
            raise UsageError(wrong)
        going = session.part(Projects)
        if not options.prompt and going is not None and going.waits:
            options = msgspec.structs.replace(options, prompt="/project auto", typed="")
        asked = options.prompt or options.input_format != "text"
        if not asked and not await session.opened():
            raise BadInput(NOTHING)
        if options.output_format == "text":
            code = await self._text(session, options, chatty=chatty)
        else:
            from gatewright.agent.frontends.sdk import stream  # noqa: PLC0415  lazy: 3 ms

            code = await stream.run(session, options, self._out, err)
        going = session.part(Projects)
        return Exit.LIMIT if code == Exit.OK and going is not None and going.limit else code

    async def _text(self, session: Session, options: LaunchOptions, *, chatty: bool) -> int:
        said = await command(session, options.prompt)
        out, err = self._out, sys.stderr
        if isinstance(said, str) and not Background(session).working:
            out.write(said)
            tell(Follower(session).so_far(), Told(), err)
            return Exit.OK
        if isinstance(said, str):  # it began work that is waited for
            err.write(visible(said))
            said = Submit("")
        options = msgspec.structs.replace(options, prompt=said.text)
        shown = Live(out, out.settle) if os.isatty(1) else out
        return await plain.run(session, options, shown, err, chatty=chatty, scope=said.scope)

    def _output_failed(self, error: OSError) -> None:
        """Called from the output's thread."""
        code = Exit.SIGPIPE if went_away(error) else Exit.ERROR
        self._loop.call_soon_threadsafe(self._interruption.stop, code)


def is_pipe(fd: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False
