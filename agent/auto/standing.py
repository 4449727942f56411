"""When auto mode stands still: how often calls were refused, whether the judge can be reached."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

IN_A_ROW, IN_ALL = 3, 20  # refusals until a person is asked again
SILENT, OF_LAST, HALF = 3, 10, 5  # answers without a verdict until nobody is asked for a while
DOWN = 60.0  # seconds
AGENTS = 512


class Refusals:
    """Counted by agent in a row, and for the session in all."""

    def __init__(self) -> None:
        self._row: dict[str, int] = {}
        self._all = 0
        self.paused = False
        self.told: deque[str] = deque(maxlen=IN_A_ROW)  # the last ones, in a few words

    def denied(self, agent: str, what: str) -> bool:
        """Count one; True: that is enough."""
        if len(self._row) >= AGENTS:
            self._row.clear()
        self._row[agent] = self._row.get(agent, 0) + 1
        self._all += 1
        self.told.append(what)
        enough = self._row[agent] >= IN_A_ROW or self._all >= IN_ALL
        self.paused = self.paused or enough  # a first refusal of another agent ends no pause
        return enough

    def allowed(self, agent: str) -> None:
        self._row.pop(agent, None)

    def approved(self, agent: str) -> None:
        """The person said yes to something: it goes on."""
        self.allowed(agent)
        self.paused = False

    def clear(self) -> None:
        """The person chose the mode again."""
        self._row.clear()
        self._all, self.paused = 0, False
        self.told.clear()


class Breaker:
    """Open while too few answers are verdicts; then one is asked for as a trial."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last: deque[bool] = deque(maxlen=OF_LAST)
        self._until = 0.0
        self._trial = False

    @property
    def down(self) -> bool:
        return self._until > 0.0

    def may_ask(self) -> bool:
        """Whether a request is worth it now; the one that says so first is the trial."""
        if not self.down:
            return True
        if self._clock() < self._until or self._trial:
            return False
        self._trial = True
        return True

    def seconds(self) -> float:
        return max(0.0, self._until - self._clock())

    def heard(self, *, verdict: bool) -> bool:
        """How an answer ended; True where that changed whether anybody is asked."""
        was, trial = self.down, self._trial
        self._trial = False
        if verdict and trial:
            self._last.clear()
            self._until = 0.0
            return was
        self._last.append(verdict)
        last = list(self._last)
        failed = len(last) >= SILENT and not any(last[-SILENT:])
        failed = failed or (len(last) == OF_LAST and last.count(False) >= HALF)
        if (trial and not verdict) or (failed and not was):
            self._until = self._clock() + DOWN
            self._last.clear()
        return self.down != was

    def gave_up(self) -> None:
        """The one that was asked for as a trial came to no end: somebody went on without it."""
        self._trial = False
