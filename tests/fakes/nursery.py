"""A process that has loaded the program and waits: each request makes a copy of it run `main`.

A copy is a process of its own with its own directory, environment, descriptors and, if asked for,
session and terminal; what it lacks is the 0.2 s in which every start reads the same modules. It is
started by `tests/fakes/warm.py` with one end of a socket pair as standard input. A request is one
message: JSON, and the descriptors that become 0, 1 and 2, and the one that hears of the end.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, cast

# What the product loads late: parsers, tables and pages of other packages.
LATE = ("ctypes", "markdown_it", "pygments", "tree_sitter_bash", "wcmatch.glob")
LARGEST = 1 << 20
MOST = 4096  # no descriptor has a larger number


class Nursery:
    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._hears: dict[int, int] = {}  # process id -> where its end is told

    def serve(self) -> list[str]:
        """Returns in each copy, with the arguments it is to run with; ends with the other side."""
        signal.signal(signal.SIGCHLD, self._ended)
        # One that comes just before a call that waits would be heard of with the next request.
        rings, bell = os.pipe()
        os.set_blocking(rings, False)
        os.set_blocking(bell, False)
        signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        asked = self._requests.fileno()
        while True:
            ready, _, _ = select.select([asked, rings], [], [])
            if rings in ready:
                os.read(rings, LARGEST)
            if asked not in ready:
                continue
            message, descriptors, _, _ = socket.recv_fds(self._requests, LARGEST, 4)
            if not message:
                os._exit(0)
            request = json.loads(message)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            assert threading.active_count() == 1, "a copy would lack the other threads"
            if not (pid := os.fork()):
                self._requests.detach()  # else it would close a number that means something else
                _settle(request, descriptors)
                argv: list[str] = request["argv"]
                return argv
            self._hears[pid] = descriptors.pop()
            for descriptor in descriptors:
                os.close(descriptor)
            self._requests.send(str(pid).encode())
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

    def _ended(self, *_: object) -> None:
        while self._hears:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return  # the round that this one came into has taken the last
            if not pid:
                return
            hears = self._hears.pop(pid)
            os.write(hears, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(hears)


def _settle(request: dict[str, Any], descriptors: list[int]) -> None:
    """Become what the program finds when it is started."""
    signal.set_wakeup_fd(-1)
    if request["terminal"]:
        os.setsid()
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.closerange(3, MOST)
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    out = cast("io.TextIOWrapper[Any]", sys.stdout)
    out.reconfigure(line_buffering=os.isatty(1))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def product() -> Iterator[str]:
    """Every module of ours; its folders are links."""
    for folder in Path(importlib.import_module("gatewright").__path__[0]).iterdir():
        for file in sorted(folder.resolve().rglob("*.py")):
            inner = file.relative_to(folder.resolve()).with_suffix("").parts
            yield ".".join(("gatewright", folder.name, *inner))


def rehearse() -> None:
    """Build what every run builds before it does anything: patterns, and what a setting may be."""
    for module in [sys.modules[name] for name in product()]:
        for value in vars(module).values():
            if type(value).__name__ == "_Later":
                assert value.pattern is not None
    with tempfile.TemporaryDirectory() as empty:
        options = sys.modules["gatewright.agent.launch.options"].LaunchOptions(cwd=empty)
        workspace = sys.modules["gatewright.agent.settings.workspace"]
        workspace.survey(options, {"HOME": empty, "PATH": os.defpath}, interactive=False)


def _end(code: int) -> NoReturn:
    """As the interpreter ends, but for taking every module apart: more work than most runs are."""
    vars(threading)["_shutdown"]()
    vars(atexit)["_run_exitfuncs"]()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120  # as it says then
    os._exit(code)


def main() -> NoReturn:
    sys.path.insert(0, str(Path(sys.executable).parent))  # where the script `agent` lies
    requests = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name in (*product(), *LATE):
        importlib.import_module(name)
    rehearse()
    gc.collect()
    gc.freeze()  # a copy that collects would write to every page of what is loaded
    sys.argv[:] = Nursery(requests).serve()
    code: int = importlib.import_module("gatewright.agent.launch.main").main()
    _end(code)


if __name__ == "__main__":
    main()
