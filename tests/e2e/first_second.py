"""Random first seconds of the program in a terminal: what was typed arrives exactly once.

`python -m tests.e2e.first_second [--runs 10000] [--seed N] [--cold]`. A copy of a loaded program
runs unless `--cold` starts each; both begin with a terminal that is not raw yet.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyte

from tests.e2e.program import Program
from tests.fakes.terminal import Terminal
from tests.fakes.warm import Nursery

MARK = "\u276f"
HINT = "Ask anything"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:-_#"
PACE = 0.012  # seconds
MOST = 28  # characters: they fit in the narrowest row
SETTLED = 20.0  # seconds until all of it has arrived
ENVIRONMENT = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}


@dataclass
class Line:
    """What the prompt should hold, by the keys that were typed."""

    text: str = ""
    at: int = 0
    leaving: bool = False
    left: bool = False  # the program has ended by a key

    def write(self, text: str) -> None:
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)
        self.leaving = False

    def key(self, name: str) -> None:
        match name:
            case "backspace" if self.at:
                self.text = self.text[: self.at - 1] + self.text[self.at :]
                self.at -= 1
                self.leaving = False
            case "left" | "right" | "ctrl+a" | "ctrl+e":
                moved = {"left": self.at - 1, "right": self.at + 1, "ctrl+a": 0}
                self.at = max(0, min(len(self.text), moved.get(name, len(self.text))))
            case "ctrl+u":
                self.text, self.at = self.text[self.at :], 0
            case "ctrl+d" if not self.text:
                self.left = True
            case "ctrl+d" if self.at < len(self.text):
                self.text = self.text[: self.at] + self.text[self.at + 1 :]
            case "ctrl+c" if self.text:
                self.text, self.at = "", 0
            case "ctrl+c":
                self.left = self.leaving
                self.leaving = True
            case _:
                pass


@dataclass
class Second:
    """One first second, and what was done in it."""

    chance: random.Random
    terminal: Terminal
    line: Line = field(default_factory=Line)
    told: list[str] = field(default_factory=list[str])
    ended: int | None = None  # by which signal
    cooked: list[str] = field(default_factory=list[str])  # what a line that is not raw yet holds

    def play(self) -> None:
        over = time.monotonic() + self.chance.uniform(0.1, 0.9)
        while time.monotonic() < over and not self.line.left and self.ended is None:
            if self.chance.random() < 0.8:
                time.sleep(self.chance.expovariate(30))
            self.step()

    def step(self) -> None:
        said = bytes(self.terminal.raw)
        pick = self.chance.random()
        if pick < 0.62:
            self.type("".join(self.chance.choices(LETTERS, k=self.chance.choice((1, 1, 1, 3)))))
        elif pick < 0.82:
            self.press(self.chance.choice(("backspace", "left", "right", "ctrl+a", "ctrl+e")))
        elif pick < 0.88:
            self.paste(said)
        elif pick < 0.92:
            self.resize()
        elif pick < 0.95 and b"\x1b[?1003h" in said:
            self.send(f"\x1b[<35;{self.chance.randrange(1, 40)};{self.chance.randrange(1, 18)}M")
        elif pick < 0.96 and b"\x1b[?1004h" in said:
            self.send(self.chance.choice(("\x1b[O", "\x1b[I")))
        elif pick < 0.975 and b"\x1b[?1049h" in said:  # before, it is a signal
            self.press(self.chance.choice(("ctrl+c", "ctrl+u")))
        elif pick < 0.98:
            self.signal()
        elif pick < 0.983 and b"\x1b[?1049h" in said:
            self.press("ctrl+d")

    def type(self, text: str) -> None:
        if len(self.line.text) + len(text) <= MOST:
            self.send(text)
            self.line.write(text)
            self.cooked += text

    def press(self, name: str) -> None:
        if name == "ctrl+c" and not self.line.text and self.line.leaving:
            return  # whether it leaves depends on what is painted meanwhile
        if b"\x1b[?1049h" not in self.terminal.raw:
            if name != "backspace":
                self.cooked.append(name)
            elif self.cooked and len(self.cooked[-1]) > 1:
                return  # the kernel takes back that key, or a part of it: no program hears of both
            elif self.cooked:
                self.cooked.pop()
        self.told.append(name)
        self.terminal.press(name)
        self.line.key(name)

    def paste(self, said: bytes) -> None:
        text = "".join(self.chance.choices(LETTERS, k=4))
        if len(self.line.text) + len(text) <= MOST:
            asked = b"\x1b[?2004h" in said
            self.send(f"\x1b[200~{text}\x1b[201~" if asked else text)
            self.line.write(text)
            self.cooked += text

    def resize(self) -> None:
        rows, columns = self.chance.randrange(18, 41), self.chance.randrange(40, 121)
        self.told.append(f"{columns}x{rows}")
        self.terminal.resize(rows, columns)

    def signal(self) -> None:
        number = self.chance.choice((signal.SIGCONT, signal.SIGWINCH, signal.SIGTERM))
        if number == signal.SIGTERM:
            if self.chance.random() > 0.2 or b"\x1b[?1049h" not in self.terminal.raw:
                return
            self.ended = number
        self.told.append(number.name)
        self.terminal.kill(number)

    def send(self, text: str) -> None:
        self.told.append(repr(text))
        self.terminal.send(text)

    def check(self) -> None:
        if self.line.left or self.ended is not None:
            self.terminal.wait_exit(SETTLED)
            assert self.terminal.raw.rfind(b"\x1b[?1049l") > self.terminal.raw.rfind(b"\x1b[?1049h")
            assert self.terminal.cooked(), "the terminal is not given back"
            return
        self.terminal.wait_until(self._there, SETTLED)

    def _there(self, screen: str) -> bool:
        row = [line for line in screen.splitlines() if line.startswith(f" {MARK}")]
        if "starting" in screen or len(row) != 1:
            return False
        text = row[0].removeprefix(f" {MARK} ")
        if not self.line.text:
            return text.startswith(HINT)
        return text == self.line.text and self.terminal.holds(self._marked)

    def _marked(self, screen: pyte.Screen) -> bool:
        """The cursor's cell looks another way than the blank before the text."""
        row = next(y for y, line in enumerate(screen.display) if line.startswith(f" {MARK}"))
        looks = [(c.bg, c.reverse) for c in (screen.buffer[row][x] for x in range(MOST + 4))]
        return [x for x, look in enumerate(looks) if look != looks[2]] == [3 + self.line.at]


def type_fast(terminal: Terminal, text: str) -> None:
    """Key by key, at the pace of a burst of a fast hand."""
    for letter in text:
        terminal.send(letter)
        time.sleep(PACE)


def one(program: Program, seed: int) -> str:
    """Empty where all is well."""
    chance = random.Random(seed)
    rows, columns = chance.choice(((24, 80), (30, 100), (18, 40), (12, 60), (50, 200)))
    env = program.env(**ENVIRONMENT)
    if chance.random() < 0.2:
        env["NO_COLOR"] = "1"  # nothing is painted before the framework
    terminal = Terminal(
        program.argv,
        cwd=program.project,
        env=env,
        rows=rows,
        columns=columns,
        nursery=program.nursery,
    )
    with terminal:
        second = Second(chance, terminal)
        try:
            second.play()
            second.check()
        except (AssertionError, OSError, termios.error) as error:
            wanted = f"wanted {second.line.text!r} at {second.line.at}, left {second.line.left}"
            return f"seed {seed}: {wanted}\n{' '.join(second.told)}\n{error}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    nursery, wrong, began = Nursery(), 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.at_once) as pool:
        program = Program.prepare(Path(folder), None if options.cold else nursery)
        seeds = range(options.seed, options.seed + options.runs)
        for count, told in enumerate(pool.map(partial(one, program), seeds), 1):
            wrong += bool(told)
            if told or count % 500 == 0:
                seconds = time.monotonic() - began
                sys.stdout.write(f"{count} in {seconds:.0f} s, {wrong} wrong\n{told}\n")
                sys.stdout.flush()
    nursery.close()
    sys.stdout.write(f"{options.runs} first seconds, {wrong} wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
