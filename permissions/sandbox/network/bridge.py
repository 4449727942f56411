"""Brings the proxy into a sandbox: its listening sockets are made inside and handed out.

A socket stays in the network it was made in, so no process of ours has to run inside.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping

import msgspec

from gatewright.permissions.sandbox.linux.inside import LISTEN, PORTS
from gatewright.permissions.sandbox.network.domains import named
from gatewright.permissions.sandbox.network.proxy import Proxy
from gatewright.permissions.sandbox.profile import Network
from gatewright.permissions.sandbox.running.runs import Run

TAKEOVER_SECONDS = 30.0
_HTTP = f"http://{LISTEN[0]}:{PORTS[0]}"
_ENV = {
    "HTTP_PROXY": _HTTP,
    "HTTPS_PROXY": _HTTP,
    "ALL_PROXY": _HTTP,
    "YARN_HTTP_PROXY": _HTTP,
    "YARN_HTTPS_PROXY": _HTTP,
    "NODE_USE_ENV_PROXY": "1",
    "GATEWRIGHT_SOCKS": f"{LISTEN[1]}:{PORTS[1]}",
}
_LOCAL = ("localhost", "127.0.0.1", "::1")


def proxy_env(network: Network) -> Mapping[str, str]:
    """How tools find the proxy. What the rules name of this machine is reached through it, too."""
    direct = ",".join(host for host in _LOCAL if not named(network.allowed, host))
    env = {**_ENV, "NO_PROXY": direct}
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        env[name.lower()] = env[name]
    return env


class Bridge(msgspec.Struct):
    """Called for each run that has a proxy; `loop` is the one the proxy runs on."""

    proxy: Proxy
    loop: asyncio.AbstractEventLoop
    _tasks: set[asyncio.Task[None]] = msgspec.field(default_factory=set[asyncio.Task[None]])

    @property
    def env(self) -> Mapping[str, str]:
        return proxy_env(self.proxy.egress.network)

    def __call__(self, run: Run) -> int:
        """A descriptor for the inside: what listens there is sent over it and served here."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.setblocking(False)
        run.extra_fds.append(theirs.detach())
        stop = asyncio.Event()
        run.closers.append(lambda: self.loop.call_soon_threadsafe(stop.set))
        self.loop.call_soon_threadsafe(self._start, ours, stop)
        return run.extra_fds[-1]

    def _start(self, ours: socket.socket, stop: asyncio.Event) -> None:
        task = self.loop.create_task(self._serve(ours, stop))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, ours: socket.socket, stop: asyncio.Event) -> None:
        servers: list[asyncio.Server] = []
        try:
            async with asyncio.timeout(TAKEOVER_SECONDS):
                await _readable(ours)
            _, fds, _, _ = socket.recv_fds(ours, 16, 2)
            if len(fds) == 2:
                http, socks = (socket.socket(fileno=fd) for fd in fds)
                servers = await self.proxy.serve(http, socks)
                ours.send(b"T")
        except (OSError, TimeoutError):
            stop.set()
        finally:
            ours.close()
        try:
            await stop.wait()
        finally:
            for server in servers:
                server.close()


async def _readable(channel: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(channel, ready.set)
    try:
        await ready.wait()
    finally:
        with contextlib.suppress(OSError):
            loop.remove_reader(channel)
