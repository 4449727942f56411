"""`agent mcp serve` as a process: its options, streams and signals, and its end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from gatewright.agent.frontends.interruption import Interruption
from gatewright.agent.frontends.output import Output
from gatewright.agent.launch.cli import Starting
from gatewright.agent.launch.defect_log import keep_defects
from gatewright.agent.launch.exits import Exit
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import is_terminal
from gatewright.agent.settings.paths import own_home
from gatewright.agent.subcommands.serving.door import Http, entry, token_of
from gatewright.agent.subcommands.serving.session_calls import SessionCalls
from gatewright.agent.subcommands.serving.session_flags import session_options
from gatewright.agent.text.printable import visible
from gatewright.agent.version import VERSION

OFFERED = ("core",)  # where nobody names tools
TAKEN = frozenset(
    {"tools", "mode", "allow_bypass", "allowed_tools", "disallowed_tools", "add_dirs", "cwd"}
    | {"settings", "setting_sources", "trust", "bare", "no_session", "name", "model"}
)
BY_HAND = "A client starts this and speaks the Model Context Protocol with it; Ctrl+C ends it."
BY_HTTP = "Clients of this machine may come with the entry above; Ctrl+C ends it."
SAID_LIMIT = 1.0  # seconds for what is left to say to people


def options_of(words: Sequence[str]) -> LaunchOptions:
    """Flags of the agent itself, as far as they are about its tools. Raises UsageError."""
    options = session_options(words, "mcp serve", TAKEN, prompts="it answers calls of a client")
    tools = OFFERED if options.tools is None else options.tools
    return replace(options, tools=tools, print_mode=True, served=True)


def run(options: LaunchOptions, starting: Starting, http: Http | None = None) -> int:
    """Serve until the client leaves or we are told to end. Raises UsageError."""
    token = token_of(os.environ) if http is not None else None
    keep_defects(own_home(os.environ) / "logs")
    loop = asyncio.new_event_loop()
    process = _Process(loop, options, starting)
    work = (
        process.over_streams
        if http is None or token is None
        else partial(process.over_http, http, *token)
    )
    return starting.leave(loop.run_until_complete(process.run(work)))


class _Process:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, options: LaunchOptions, starting: Starting
    ) -> None:
        self._options, self._starting = options, starting
        self._interruption = Interruption(loop)
        self._people = Output(2, lambda error: None)  # noqa: ARG005  nobody is left to be told

    async def run(self, work: Callable[[], Coroutine[Any, Any, int]]) -> int:
        task = asyncio.create_task(work())
        with self._interruption.of(task):
            await asyncio.wait([task])
        self._people.close(SAID_LIMIT)
        return self._interruption.code or (Exit.ERROR if task.cancelled() else task.result())

    async def over_streams(self) -> int:
        from gatewright.mcp.talk.opening import quiet  # noqa: PLC0415  1 s: the SDK
        from gatewright.mcp.talk.own_streams import own_streams, standard_streams  # noqa: PLC0415
        from gatewright.mcp.talk.serving import serve  # noqa: PLC0415  the SDK's server, 200 ms

        quiet()
        if is_terminal(0):
            self._say(BY_HAND)
        async with own_streams(*standard_streams()) as streams:
            await serve(self._calls(), streams, VERSION)
        return Exit.OK

    async def over_http(self, http: Http, token: str, shown: str) -> int:
        """Until we are told to end: clients come and go."""
        from gatewright.mcp.talk.opening import quiet  # noqa: PLC0415  1 s: the SDK
        from gatewright.mcp.talk.serving_http import Served, address, listening, serve_http  # noqa: PLC0415

        quiet()
        try:
            listens = listening(http.port)
        except OSError as error:
            self._say(f"Port {http.port} cannot be listened on: {error.strerror}.")
            return Exit.ERROR
        with listens:
            told = Output(1, lambda error: None)  # noqa: ARG005  nobody is left to be told
            told.write(entry("agent", address(listens), shown) + "\n")
            told.close(SAID_LIMIT)
            self._say(BY_HTTP)
            await serve_http(Served(calls=self._calls, version=VERSION, token=token), listens)
        return Exit.OK

    def _calls(self) -> SessionCalls:
        return SessionCalls(self._options, self._starting.opener, self._say)

    def _say(self, text: str) -> None:
        self._people.write(visible(f"agent: {text}\n"))
