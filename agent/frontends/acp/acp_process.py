"""`agent acp` as a process: standard streams, signals, and the end when the client leaves."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable

from gatewright.agent.frontends.acp.editor_agent import EditorAgent, Ports
from gatewright.agent.frontends.acp.intake import Intake
from gatewright.agent.frontends.acp.jsonrpc import Peer
from gatewright.agent.frontends.acp.protocol_log import ProtocolLog
from gatewright.agent.frontends.interruption import Interruption
from gatewright.agent.frontends.output import Output
from gatewright.agent.launch.exits import Exit
from gatewright.agent.launch.options import LaunchOptions

SETTLES = 5.0  # seconds for what was asked before the input ended
CLOSE_LIMIT = 9.0  # seconds for all sessions to end, once nobody is there
BY_HAND = (
    "agent: An editor starts this and speaks the Agent Client Protocol with it; Ctrl+C ends it.\n"
)


def run(options: LaunchOptions, ports: Callable[[], Ports], log: ProtocolLog | None = None) -> int:
    """Until the client closes its end, or we are told to."""
    out = own_output()
    loop = asyncio.new_event_loop()
    return loop.run_until_complete(_run(loop, options, ports, (out, log)))


def own_output() -> int:
    """The protocol's own descriptor; whatever else is printed goes to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    if os.isatty(0):
        sys.stderr.write(BY_HAND)
    return out


async def _run(
    loop: asyncio.AbstractEventLoop,
    options: LaunchOptions,
    ports: Callable[[], Ports],
    streams: tuple[int, ProtocolLog | None],
) -> int:
    fd, log = streams
    interruption = Interruption(loop)
    gone = asyncio.Event()
    out = Output(fd, lambda error: _leave(loop, gone))  # noqa: ARG005  the client is gone, however
    peer = Peer(out, log.write) if log is not None else Peer(out)
    agent = EditorAgent(peer, options, ports())

    async def serve() -> int:
        talking = asyncio.create_task(peer.run(Intake(0)), name="the client")
        left = asyncio.create_task(gone.wait(), name="the client's end")
        try:
            await asyncio.wait({talking, left}, return_when=asyncio.FIRST_COMPLETED)
            if not gone.is_set():
                agent.stop()
                await peer.settle(SETTLES)
        finally:
            for task in (talking, left):
                task.cancel()
            await _closed(peer, agent)
        return Exit.OK

    work = asyncio.create_task(serve(), name="an editor's agent")
    with interruption.of(work):
        await asyncio.wait([work])
    out.close(1.0)
    if log is not None:
        log.close()
    return interruption.code or Exit.OK


async def _closed(peer: Peer, agent: EditorAgent) -> None:
    """Questions are answered by nobody, and everything that runs is stopped with its session."""
    peer.leave()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_LIMIT):
            await agent.close()
    await peer.close()


def _leave(loop: asyncio.AbstractEventLoop, gone: asyncio.Event) -> None:
    """Called from the output's thread."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(gone.set)
