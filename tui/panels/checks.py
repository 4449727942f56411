"""`/doctor`: the checks of this machine, each shown as soon as it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

from gatewright.agent.commands.panels import Check, Finding
from gatewright.tui import cells
from gatewright.tui.line import BLANK, Line, Span, line, wrap
from gatewright.tui.panels.listing import STEPS
from gatewright.tui.panels.page import hidden
from gatewright.tui.panels.sheet import LOW, Press, Sheet
from gatewright.tui.sanitize import one_line

MARKS = {"ok": ("\u2713", "good"), "!!": ("!", "warning"), "XX": ("\u2717", "error")}
RUNS = ("\u2026", "faint")
LIMIT = 30.0  # seconds one check may take
NAME = 10


class ChecksView:
    def __init__(
        self, sheet: Sheet, checks: Sequence[Check], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sheet = sheet
        self._checks = checks
        self._clock = clock
        self._at = 0
        self._round = 0
        self._found: dict[str, Sequence[Finding] | str] = {}
        self._began = 0.0
        self._more = False  # than the rows that are seen
        self._start()

    @property
    def keys(self) -> Sequence[str]:
        return ("r repeats", *(("up down scroll",) if self._more else ()))

    def press(self, press: Press) -> bool:
        if press.key in STEPS:
            self._at = max(0, self._at + STEPS[press.key])
        elif press.character in ("r", "R"):
            if press.settled and not self._running:
                self._start()
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Nothing is typed here."""

    @property
    def _running(self) -> int:
        return len(self._checks) - len(self._found)

    def _start(self) -> None:
        self._found, self._began, self._at = {}, self._clock(), 0
        self._round += 1
        for check in self._checks:
            self._sheet.work(partial(self._run, check, self._round))

    async def _run(self, check: Check, round: int) -> None:
        found: Sequence[Finding] | str
        try:
            async with asyncio.timeout(LIMIT):
                found = await asyncio.to_thread(lambda: list(check.run()))
        except TimeoutError:
            found = f"no answer within {LIMIT:.0f} s"
        except OSError as error:
            found = f"could not be checked: {error}"
        if round == self._round:
            self._found[check.name] = found

    def lines(self, width: int, height: int) -> list[Line]:
        rows = [row for check in self._checks for row in self._rows(check, width)]
        gap = [] if height < LOW - 2 else [BLANK]
        room = max(1, height - 1 - len(gap))
        self._at = min(self._at, max(0, len(rows) - room))
        self._more = len(rows) > room
        more = Span(f"   {hidden(self._at, len(rows) - room - self._at)}", "faint")
        head = line(Span("Doctor", "text:b"), Span("   "), self._summary(), more)
        return [head, *gap, *rows[self._at : self._at + room]]

    def _summary(self) -> Span:
        if self._running:
            return Span(f"{len(self._found)} of {len(self._checks)} done", "dim")
        every = [f for found in self._found.values() if not isinstance(found, str) for f in found]
        lost = sum(isinstance(found, str) for found in self._found.values())
        todo = lost + sum(finding.health != "ok" for finding in every)
        return Span(f"{todo} to look at", "warning") if todo else Span("all is well", "good")

    def _rows(self, check: Check, width: int) -> list[Line]:
        found = self._found.get(check.name)
        if found is None:
            return [_row(RUNS, check.name, Span("checking", "faint"))]
        if isinstance(found, str):
            return [_row(MARKS["!!"], check.name, Span(found, "warning"))]
        rows: list[Line] = []
        for finding in found:
            fact = wrap((Span(one_line(finding.fact)),), max(8, width - NAME - 4))
            rows.append(_row(MARKS[finding.health], finding.name, *fact[0].spans))
            rows += (_beside(*part.spans) for part in fact[1:])
            if finding.advice:
                advice = Span(one_line(finding.advice), "dim")
                rows += (_beside(*p.spans) for p in wrap((advice,), max(8, width - NAME - 4)))
        return rows


def _row(mark: tuple[str, str], name: str, *fact: Span) -> Line:
    sign, role = mark
    return line(Span(f"{sign} ", role), Span(cells.pad(name, NAME) + "  ", "text"), *fact)


def _beside(*fact: Span) -> Line:
    return line(Span(" " * (NAME + 4)), *fact)
