"""Raw bytes into the real program in a pty: broken sequences, halves of characters, replies.

`python -m tests.e2e.fuzz [--rounds 20] [--seed N]` runs longer than the tests do.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path

from gatewright.agent.transcript.reader import read_transcript
from tests.e2e.program import AGENT, Program
from tests.fakes.waiting import PATIENCE

READY = b"demo"
QUIET = 0.25  # seconds without output after which the screen is taken to be painted
LATE = 2.0  # seconds after which a word that is not seen was typed into something else
RESTORED = (  # what was switched on, and what has to come after it
    (b"\x1b[?1049h", b"\x1b[?1049l"),
    (b"\x1b[?25l", b"\x1b[?25h"),
    (b"\x1b[?1000h", b"\x1b[?1000l"),
    (b"\x1b[?1003h", b"\x1b[?1003l"),
    (b"\x1b[?2004h", b"\x1b[?2004l"),
    (b"\x1b[?1004h", b"\x1b[?1004l"),
)
REPLIES = (  # what terminals answer, also when nobody asked
    *(b"\x1b[1;1R", b"\x1b[99;999R", b"\x1b[?1;2c", b"\x1b[>41;354;0c", b"\x1b[?2026;2$y"),
    *(b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", b"\x1b]10;rgb:ff/ff/ff\x07", b"\x1b]52;c;aGk=\x07"),
    *(b"\x1bP>|xterm(370)\x1b\\", b"\x1bP1+r524742=38\x1b\\", b"\x1b_Gi=1;OK\x1b\\", b"\x1b[?0u"),
    *(b"\x1b[4;600;800t", b"\x1b[8;24;80t", b"\x1b[48;24;80;600;800t", b"\x1b[I", b"\x1b[O"),
)
KEYS = (  # also as kitty's protocol and modifyOtherKeys write them
    *(b"\x1b[13;2u", b"\x1b[97;5u", b"\x1b[27;1:3u", b"\x1b[57399u", b"\x1b[127;5:1;8u"),
    *(b"\x1b[1114112u", b"\x1b[0u", b"\x1b[97:65:99;2:2;65:66u", b"\x1b[27;5;99~", b"\x1b[9u"),
    *(b"\x1b[A", b"\x1bOA", b"\x1b[1;2B", b"\x1b[5~", b"\x1b[6~", b"\x1b[Z", b"\x1b[3~", b"\x1bOM"),
    *(b"\x1b[200;1~", b"\x1b[15;9~", b"\x1b[999~", b"\x1b[[A", b"\x1b\x1b[A", b"\x1b\r", b"\x1bb"),
)
MOUSE = (
    *(b"\x1b[<0;10;10M", b"\x1b[<0;10;10m", b"\x1b[<64;5;5M", b"\x1b[<35;900;900M"),
    *(b"\x1b[<0;-1;0M", b"\x1b[<;;M", b"\x1b[<99999999999;1;1M", b"\x1b[M !!"),
    *(b"\x1b[<32;12;3M", b"\x1b[<0;1;1m", b"\x1b[<65;5;5M", b"\x1b[M\xff\xff\xff"),
)
BROKEN = (
    *(b"\x1b", b"\x1b[", b"\x1b[1;", b"\x1bO", b"\x1b]0;", b"\x1bP", b"\x1b[200~", b"\x1b[201~"),
    *(b"\xe6\xbc", b"\xf0\x9f", b"\xff\xfe", b"\xc3", b"\x80", b"\xed\xa0\x80", b"\x9b31m"),
    *(
        b"\x1b[200~half a paste",
        b"rest\x1b[201~",
        b"\x1b[200~\x1b[201~\x1b[201~",
        b"\x1b" * 7,
        b"\x00",
    ),
    *(b"\x1b[" + b"9" * 300, b"\x1b[" + b";" * 100 + b"m", b"\x1b]" + b"x" * 3000),
)
TEXTS = (b"hello", b"/help\r", b"/mode\r", b"/theme\r", b"\r", b"\n", b"@no", b"?", b"y", b"n")
CONTROLS = tuple(bytes([n]) for n in range(1, 32) if n not in (3, 4, 26, 28))  # none that leaves
PASTES = (b"\x1b[200~" + b"row\n" * 50 + b"\x1b[201~", b"\x1b[200~\xff\x1b[31m\x1b[201~")
SIZES = ((24, 80), (10, 40), (60, 200), (1, 1), (40, 120), (5, 300))


class Broken(AssertionError):
    """The program, the terminal or the session did not survive."""


class Line:
    """A pty with the program in it; everything it writes is kept."""

    def __init__(self, program: Program) -> None:
        self.raw = bytearray()
        self._master, self._slave = pty.openpty()
        self.resize(24, 80)
        self.before = termios.tcgetattr(self._slave)
        env = program.env(TERM="xterm-256color", SHELL="/bin/echo", VISUAL="true")
        self._process = subprocess.Popen(
            [AGENT, "--model", "demo"],
            cwd=program.project,
            env=env,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
        )

    def resize(self, rows: int, columns: int) -> None:
        ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal_resize(self, rows: int, columns: int) -> None:
        self.resize(rows, columns)
        if self.running:
            self._process.send_signal(signal.SIGWINCH)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def read(self, seconds: float) -> bool:
        """Whether something was written within that time."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        self.raw += os.read(self._master, 65536)
        return True

    def wait_for(self, wanted: bytes, within: float = PATIENCE) -> None:
        end, start = time.monotonic() + within, len(self.raw)
        while wanted not in self.raw[max(0, start - len(wanted)) :]:
            if time.monotonic() > end or not self.running:
                raise Broken(f"no {wanted!r}, running: {self.running}; {bytes(self.raw[-600:])!r}")
            self.read(0.05)

    def send(self, data: bytes) -> None:
        while data and self.running:
            self.read(0)
            if select.select([], [self._master], [], 1.0)[1]:
                data = data[os.write(self._master, data[:512]) :]

    def settle(self, within: float = 3.0) -> None:
        end = time.monotonic() + within
        while self.read(QUIET) and time.monotonic() < end:
            pass

    def end(self) -> int:
        """Ask it to leave; returns the exit code once everything written was read."""
        self._process.send_signal(signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        while self.running:
            self.read(0.05)
            if time.monotonic() > end:
                self._process.kill()
                raise Broken("it does not leave when it is asked to")
        while self.read(0.1):
            pass
        return self._process.wait()

    def after(self) -> object:
        return termios.tcgetattr(self._slave)

    def close(self) -> None:
        if self.running:
            self._process.kill()
        self._process.wait()
        os.close(self._master)
        os.close(self._slave)


def noise(chance: random.Random, count: int) -> list[bytes]:
    """Pieces as they may arrive; some are cut, and what follows comes with the next read."""
    kinds: Sequence[Sequence[bytes]] = (REPLIES, KEYS, MOUSE, BROKEN, TEXTS, CONTROLS, PASTES)
    pieces: list[bytes] = []
    for _ in range(count):
        piece = chance.choice(chance.choices(kinds, (3, 4, 3, 3, 4, 3, 1))[0])
        if chance.random() < 0.1:
            piece = bytes(chance.choices([b for b in range(256) if b not in (3, 4)], k=8))
        if chance.random() < 0.15:
            cut = chance.randrange(len(piece) + 1)
            pieces += [piece[:cut], piece[cut:]]
        else:
            pieces.append(piece)
    return pieces


def round_of(seed: int, count: int, folder: Path) -> None:
    """Start it, send noise, see that it still works, leave: nothing may be left behind."""
    chance = random.Random(seed)
    program = Program.prepare(folder)
    line = Line(program)
    try:
        line.wait_for(READY)
        for piece in noise(chance, count):
            line.send(piece)
            if chance.random() < 0.05:
                line.signal_resize(*chance.choice(SIZES))
            if chance.random() < 0.3:
                line.read(0.02)
            if not line.running:
                raise Broken(f"seed {seed}: it ended by {piece!r}: {bytes(line.raw[-900:])!r}")
        recovered(line, seed)
        code = line.end()
        if code != 128 + signal.SIGTERM:
            raise Broken(f"seed {seed}: exit code {code}: {bytes(line.raw[-900:])!r}")
        given_back(line, seed)
        stored(program, seed)
    finally:
        line.close()


def recovered(line: Line, seed: int) -> None:
    """Whatever is open closes, and what is typed then is seen."""
    line.signal_resize(24, 80)
    line.send(b"\x1b[201~\x1b\\")  # the end of whatever was begun
    line.settle(within=45.0)  # thousands of keys may wait to be painted
    for attempt in range(25):
        # No letter where the last word had it: cells that are there already are not painted again.
        word = bytes(ord("a") + (3 * place + attempt) % 26 for place in range(8))
        line.send(b"\x1b")
        line.settle()
        mark = len(line.raw)
        line.send(b"\x15" + word)
        end = time.monotonic() + LATE
        while word not in line.raw[mark:] and time.monotonic() < end:
            line.read(0.05)
        if word in line.raw[mark:] and b"The screen failed" not in line.raw:
            return
    raise Broken(f"seed {seed}: the prompt does not work any more: {bytes(line.raw[-1500:])!r}")


def given_back(line: Line, seed: int) -> None:
    if line.after() != line.before:
        raise Broken(f"seed {seed}: the line is not as it was: {line.after()}")
    for on, off in RESTORED:
        if on in line.raw and line.raw.rindex(off) < line.raw.rindex(on):
            raise Broken(f"seed {seed}: {on!r} stays")


def stored(program: Program, seed: int) -> None:
    for path in program.transcripts():
        for row in path.read_text(encoding="utf-8").splitlines():
            json.loads(row)
        if read_transcript(path).header.id not in path.name:
            raise Broken(f"seed {seed}: {path.name} is not the session it names")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--pieces", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    broken = 0
    for seed in range(options.seed, options.seed + options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                round_of(seed, options.pieces, Path(folder))
                print(f"seed {seed}: fine", flush=True)
            except Broken as problem:
                broken += 1
                print(problem, flush=True)
    return broken


if __name__ == "__main__":
    sys.exit(main())
