"""How long work stood still while a person was asked: what waits at once counts once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence


class Standstill:
    """Of one agent."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._reasons, self._since, self._before = 0, 0.0, 0.0

    def begin(self) -> None:
        if not self._reasons:
            self._since = self._clock()
        self._reasons += 1

    def end(self) -> None:
        self._reasons -= 1
        if not self._reasons:
            self._before += self._clock() - self._since

    @property
    def now(self) -> bool:
        return self._reasons > 0

    @property
    def seconds(self) -> float:
        return self._before + (self._clock() - self._since if self._reasons else 0.0)


class Standstills:
    """Of all agents, by path. Whoever began with a reason ends with it, or once it is parted."""

    def __init__(
        self, clock: Callable[[], float], moved: Callable[[str], object] | None = None
    ) -> None:
        self._clock, self._moved = clock, moved
        self._of: dict[str, Standstill] = {}
        self._reasons: dict[Hashable, list[str]] = {}

    def of(self, path: str) -> Standstill:
        return self._of.setdefault(path, Standstill(self._clock))

    def begin(self, reason: Hashable, paths: Sequence[str]) -> None:
        """`paths` are who asks and then whoever waits for it, from below."""
        if reason in self._reasons:
            return
        self._reasons[reason] = list(paths)
        for path in paths:
            self.of(path).begin()
            self._tell(path)

    def end(self, reason: Hashable) -> None:
        self._ended(self._reasons.pop(reason, ()))

    def part(self, path: str) -> None:
        """Nobody waits for that one any more."""
        self._cut(path, 1)

    def forget(self, path: str) -> None:
        """It has ended: it waits no more, nor does anybody for it."""
        self._cut(path, 0)
        self._of.pop(path, None)

    def _cut(self, path: str, kept: int) -> None:
        for reason, paths in tuple(self._reasons.items()):
            if path in paths:
                below = paths.index(path) + kept
                self._reasons[reason] = paths[:below]
                self._ended(paths[below:])

    def _ended(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.of(path).end()
            self._tell(path)

    def _tell(self, path: str) -> None:
        if self._moved is not None:
            self._moved(path)
