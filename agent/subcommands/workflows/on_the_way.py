"""What is told of a run before it has ended: its phases, its own words, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from gatewright.agent.record.events import WorkflowProgressed

EVERY = 10.0  # seconds between two words about the same phase


class OnTheWay:
    """`log` gives what the script has said so far; more than it keeps is not told."""

    def __init__(
        self,
        say: Callable[[str], object],
        log: Callable[[str], Sequence[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._log, self._clock = say, log, clock
        self._phase, self._done, self._asked = "", -1, 0
        self._said = 0  # lines of its log
        self._at = 0.0

    def heard(self, event: WorkflowProgressed) -> None:
        self.words(event.run)
        later = self._clock() - self._at >= EVERY
        if event.phase == self._phase and not (later and self._changed(event)):
            return
        self._phase, self._done, self._asked = event.phase, event.done, event.total
        self._at = self._clock()
        live = f", {event.live} at work" if event.live else ""
        self._say(f"{event.phase}  {event.done}/{event.total}{live}".strip())

    def words(self, run: str) -> None:
        lines = self._log(run)
        for line in lines[self._said :]:
            self._say(f"  {line}")
        self._said = max(self._said, len(lines))

    def _changed(self, event: WorkflowProgressed) -> bool:
        return (event.done, event.total) != (self._done, self._asked)
