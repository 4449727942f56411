"""How often each skill was used, kept between sessions: what is used most is described first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.skills.shown.usage import NEVER, Use, kept, rank, read_uses, used


class Uses:
    """`path` is a file of the program's state, `clock` gives seconds."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path, self._clock = path, clock
        self._known: Mapping[str, Use] | None = None

    def rank(self, qualified: str) -> float:
        return rank(self.of(qualified), self._clock())

    def of(self, qualified: str) -> Use:
        if self._known is None:
            self._known = read_uses(self._path)
        return self._known.get(qualified, NEVER)

    def note(self, qualified: str) -> None:
        """One more use. Raises GatewrightError where it cannot be kept."""
        from gatewright.agent.settings.edit import edit  # noqa: PLC0415  lazy: 9 ms, on a use only

        now = self._clock()

        def change(values: dict[str, Any]) -> None:
            before = _of(values)
            after = {**before, qualified: used(before.get(qualified, NEVER), now)}
            self._known = kept(after, now)
            values.clear()
            values.update(msgspec.to_builtins(self._known))

        edit(self._path, change)


def _of(values: Mapping[str, Any]) -> Mapping[str, Use]:
    try:
        return msgspec.convert(values, dict[str, Use])
    except msgspec.ValidationError:
        return {}
