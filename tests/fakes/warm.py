"""Runs of the program without its start: copies of a process that has loaded it already.

One such process (`tests/fakes/nursery.py`) serves all tests of a worker. What a run does is the
same; that and when modules are loaded is not seen, so a test whose subject is a start, its signals
or its descriptors starts the program itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.fakes.waiting import PATIENCE

NURSERY = Path(__file__).with_name("nursery.py")
# Read when Python starts, or when a package is loaded: with these only a real start will do.
EARLY = ("PYTHON", "LC_", "LANG", "LD_", "TEXTUAL", "TZ", "ESCDELAY", "COLUMNS", "LINES")
LARGEST = 1 << 20
ALWAYS = {"LANG": "C.UTF-8"}


@dataclass(frozen=True)
class Place:
    """Where a copy runs, and whether it leads a session whose terminal is at its descriptors."""

    cwd: str
    env: Mapping[str, str]
    terminal: bool = False


def fits(env: Mapping[str, str]) -> bool:
    """Whether a copy would be the same as a start with this environment."""
    return {name: env[name] for name in env if name.startswith(EARLY)} == ALWAYS


class Warm:
    """One copy that runs; the same as a `Popen` as far as tests ask."""

    def __init__(self, pid: int, ending: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ending = ending

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        if (code := self._look(timeout)) is None:
            raise subprocess.TimeoutExpired(["agent"], timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ending], [], [], timeout)[0]:
            told = os.read(self._ending, 16)
            os.close(self._ending)
            assert told, "the process that starts copies is gone"
            self.returncode = int(told)
        return self.returncode


class Nursery:
    """Starts copies; begins with the first one and ends with whoever made it."""

    def __init__(self) -> None:
        self._requests: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def close(self) -> None:
        if self._requests and self._process:
            self._requests.close()
            self._process.wait(PATIENCE)

    def start(self, argv: Sequence[str], place: Place, streams: Sequence[int]) -> Warm:
        """`streams` become its 0, 1 and 2, and stay open here."""
        request = {"argv": list(argv), **asdict(place)}
        ending, theirs = os.pipe()
        with self._one_at_a_time:
            requests = self._requests or self._begin()
            message = json.dumps(request).encode()
            socket.send_fds(requests, [message], [*streams, theirs])
            os.close(theirs)
            pid = int(requests.recv(32))
        return Warm(pid, ending)

    def run(
        self, argv: Sequence[str], place: Place, input: str, within: float
    ) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run` with pipes and text."""
        stdin, typed = os.pipe()
        out, stdout = os.pipe()
        err, stderr = os.pipe()
        process = self.start(argv, place, (stdin, stdout, stderr))
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        read = {out: b"", err: b""}
        try:
            _talk(typed, input.encode(), read, time.monotonic() + within)
            code = process.wait(within)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(argv, code, _text(read[out]), _text(read[err]))

    def _begin(self) -> socket.socket:
        requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        argv = [sys.executable, "-P", str(NURSERY)]
        with theirs:
            self._process = subprocess.Popen(
                argv, stdin=theirs.fileno(), env={"PATH": path, **ALWAYS}
            )
        self._requests = requests
        return requests


def _talk(stdin: int, unsent: bytes, read: dict[int, bytes], deadline: float) -> None:
    """Write all of one and read the others to their ends, which closes them."""
    os.set_blocking(stdin, False)
    with selectors.DefaultSelector() as open_:
        open_.register(stdin, selectors.EVENT_WRITE)
        for descriptor in read:
            open_.register(descriptor, selectors.EVENT_READ)
        while open_.get_map():
            ready = open_.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired(["agent"], PATIENCE, *read.values())
            for key, _ in ready:
                if key.fd == stdin:
                    unsent = _written(stdin, unsent)
                    over = not unsent
                else:
                    piece = os.read(key.fd, LARGEST)
                    read[key.fd] += piece
                    over = not piece
                if over:
                    open_.unregister(key.fd)
                    os.close(key.fd)


def _written(stdin: int, unsent: bytes) -> bytes:
    """What is left to write; a program that does not read the rest need not."""
    try:
        return unsent[os.write(stdin, unsent) :]
    except BrokenPipeError:
        return b""


def _text(output: bytes) -> str:
    return output.decode().replace("\r\n", "\n").replace("\r", "\n")
