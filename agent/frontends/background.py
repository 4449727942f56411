"""Work that goes on behind an answer of print mode: agents are waited for, commands hardly.

Each end wakes a turn; the answer that counts is the last one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from gatewright.agent.frontends.json_lines import Sink
from gatewright.agent.session.jobs import SessionJobs
from gatewright.agent.session.session import Session
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.text.printable import visible
from gatewright.tools.access import MAIN

OWN = "project"  # work with limits of its own, which goes on turn after turn
LONG = frozenset({"agent", "workflow", OWN})  # kinds of work whose results somebody waits for
SHORT = 5.0  # seconds for all other work
USUAL = 600.0
SDK_ENV = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS"  # by which the public clients wait, too


class Background:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._seconds = wait_seconds(session)
        self._stopped: Sequence[str] = ()

    @property
    def working(self) -> bool:
        """Somebody's work is not over, or its end is still to be told."""
        return bool(self._jobs.kinds_open(MAIN) & LONG)

    @property
    def goes_on(self) -> bool:
        """Turns follow by themselves."""
        return OWN in self._jobs.kinds_open(MAIN)

    async def over(self) -> None:
        """Until nothing runs that is worth waiting for; what takes too long is stopped."""
        while True:
            await self._session.idle()
            kinds = self._jobs.kinds_open(MAIN)
            if not kinds:
                return
            seconds, before = self._seconds if kinds & LONG else SHORT, self._moved()
            if await self._ended(seconds) or self._session.busy or self._moved() != before:
                continue
            if OWN in kinds:
                continue
            self._stopped = await self._jobs.stop_of(MAIN)
            return

    def tell(self, err: Sink) -> None:
        """What was not waited for any longer."""
        if self._stopped:
            listed = "".join(f"\n  {line}" for line in self._stopped)
            err.write(visible(f"agent: Stopped with the last answer:{listed}\n"))

    @property
    def _jobs(self) -> SessionJobs:
        return self._session.jobs_of(MAIN).all

    def _moved(self) -> Sequence[tuple[str, int, str]]:
        """What the runs of workflows have come to: one that goes on is waited for longer."""
        rows = self._jobs.rows()
        return [(row.id, row.tokens, row.last) for row in rows if row.kind == "workflow"]

    async def _ended(self, seconds: float) -> bool:
        """Whether something did within that time; zero is no limit."""
        end = self._jobs.end_of_any(MAIN)
        end.clear()
        try:
            async with asyncio.timeout(seconds or None):
                await end.wait()
        except TimeoutError:
            return False
        return True


def wait_seconds(session: Session) -> float:
    """How long work is waited for: the clients' variable says it, or the settings."""
    named = environment(session).get(SDK_ENV, "").strip()
    if named.isascii() and named.isdigit():
        return min(int(named[:12]), 2**31 - 1) / 1000
    book = session.part(SettingsBook)
    return float(book.around.settings.print_wait_seconds) if book is not None else USUAL


def environment(session: Session) -> Mapping[str, str]:
    """The person's own, without what a project sets."""
    book = session.part(SettingsBook)
    return book.around.own_env if book is not None else {}
