"""`agent mcp serve` as a process: its options, streams and signals, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence

from msgspec.structs import asdict, replace

from gatewright.agent.frontends.interruption import Interruption
from gatewright.agent.frontends.output import Output
from gatewright.agent.launch.argv import parse
from gatewright.agent.launch.cli import Starting
from gatewright.agent.launch.defect_log import keep_defects
from gatewright.agent.launch.exits import Exit, UsageError
from gatewright.agent.launch.flags import FLAGS
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import is_terminal, require_known_tools, settled
from gatewright.agent.settings.paths import own_home
from gatewright.agent.subcommands.serving.session_calls import SessionCalls
from gatewright.agent.text.printable import visible
from gatewright.agent.version import VERSION
from gatewright.permissions.modes import flag_mode
from gatewright.permissions.rulebook.known_tools import is_known, unknown
from gatewright.permissions.rulebook.rules import tool_of
from gatewright.tools.registry import PRESETS

OFFERED = ("core",)  # where nobody names tools
NONE = asdict(LaunchOptions())
TAKEN = frozenset(
    {"tools", "mode", "allow_bypass", "allowed_tools", "disallowed_tools", "add_dirs", "cwd"}
    | {"settings", "setting_sources", "trust", "bare", "no_session", "name", "model"}
)
BY_HAND = "A client starts this and speaks the Model Context Protocol with it; Ctrl+C ends it."
CLOSE_LIMIT = 8.0  # seconds from the client's leaving to ours
SAID_LIMIT = 1.0  # seconds for what is left to say to people


def options_of(words: Sequence[str]) -> LaunchOptions:
    """Flags of the agent itself, as far as they are about its tools. Raises UsageError."""
    given = parse(words, is_known)
    values = asdict(given)
    for flag in FLAGS:
        if flag.field not in TAKEN and values[flag.field] != NONE[flag.field]:
            raise UsageError(f"agent mcp serve has no {flag.names[0]}.")
    if given.prompt:
        raise UsageError("agent mcp serve takes no prompt: it answers calls of a client.")
    options = settled(given, flag_mode)
    require_known_tools(
        options,
        lambda rule: unknown(tool_of(rule)),
        lambda name: "" if name in PRESETS else unknown(tool_of(name)),
    )
    tools = OFFERED if options.tools is None else options.tools
    return replace(options, tools=tools, print_mode=True, served=True)


def run(options: LaunchOptions, starting: Starting) -> int:
    """Serve until the client leaves or we are told to end."""
    keep_defects(own_home(os.environ) / "logs")
    loop = asyncio.new_event_loop()
    return starting.leave(loop.run_until_complete(_Process(loop, options, starting).run()))


class _Process:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, options: LaunchOptions, starting: Starting
    ) -> None:
        self._options, self._starting = options, starting
        self._interruption = Interruption(loop)
        self._people = Output(2, lambda error: None)  # noqa: ARG005  nobody is left to be told

    async def run(self) -> int:
        work = asyncio.create_task(self._work())
        with self._interruption.of(work):
            await asyncio.wait([work])
        self._people.close(SAID_LIMIT)
        return self._interruption.code or (Exit.ERROR if work.cancelled() else work.result())

    async def _work(self) -> int:
        from gatewright.mcp.talk.opening import quiet  # noqa: PLC0415  1 s: the SDK
        from gatewright.mcp.talk.own_streams import own_streams, standard_streams  # noqa: PLC0415
        from gatewright.mcp.talk.serving import serve  # noqa: PLC0415  the SDK's server, 200 ms

        quiet()
        if is_terminal(0):
            self._say(BY_HAND)
        calls = SessionCalls(self._options, self._starting.opener, self._say)
        try:
            async with own_streams(*standard_streams()) as streams:
                await serve(calls, streams, VERSION)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_LIMIT):
                    await calls.close()
        return Exit.OK

    def _say(self, text: str) -> None:
        self._people.write(visible(f"agent: {text}\n"))
