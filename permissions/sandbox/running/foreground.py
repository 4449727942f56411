"""Runs one command in the sandbox on our own terminal: same input, output and exit code."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import WATCH_SECONDS, Sandbox
from gatewright.permissions.sandbox.machine import Machine
from gatewright.permissions.sandbox.network.bridge import Bridge
from gatewright.permissions.sandbox.network.egress import Egress
from gatewright.permissions.sandbox.network.proxy import Proxy
from gatewright.permissions.sandbox.probe import Level
from gatewright.tools.protocol import SpawnRequest

_PASSED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def run(
    config: Config, machine: Machine, level: Level, argv: Sequence[str], env: Mapping[str, str]
) -> tuple[int, list[str]]:
    """The exit code, and what there is to tell afterwards. A signal to us ends the command."""
    told: list[str] = []
    with _proxied(config, told) as bridge:
        box = Sandbox(config, machine, bridge, level=level)
        try:
            request = box.confine(
                SpawnRequest(argv=tuple(argv), cwd=config.cwd, env=env), told.extend
            )
            return _wait(request, box.check), list(dict.fromkeys(told))
        finally:
            box.close()


def _wait(request: SpawnRequest, look: Callable[[], None]) -> int:
    assert request.ended is not None
    stopped: list[int] = []
    try:

        def begin() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                request.argv, cwd=request.cwd, env=request.env, pass_fds=request.fds
            )

        child = begin() if request.start is None else request.start(begin)

        def stop(number: int, _frame: object) -> None:
            stopped.append(number)
            child.kill()

        before = {number: signal.signal(number, stop) for number in _PASSED}
        try:
            code = _looking(child, look)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    finally:
        request.ended()
    if stopped:
        return 128 + stopped[0]
    return code if code >= 0 else 128 - code


def _looking(child: subprocess.Popen[bytes], look: Callable[[], None]) -> int:
    """Wait for the end, and look now and then what it made so far."""
    while True:
        try:
            return child.wait(timeout=WATCH_SECONDS)
        except subprocess.TimeoutExpired:
            look()


@contextmanager
def _proxied(config: Config, told: list[str]) -> Generator[Bridge | None, None, None]:
    """A proxy on a loop of its own thread, while the command runs."""
    if config.network.reach != "proxy":
        yield None
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="proxy", daemon=True)
    proxy = Proxy(Egress(config.network, refused=lambda _, why: told.append(why)))
    thread.start()
    try:
        yield Bridge(proxy, loop)
    finally:
        loop.call_soon_threadsafe(_finish, loop)
        thread.join(5)


def _finish(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.call_later(0.05, loop.stop)
