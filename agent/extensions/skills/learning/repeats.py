"""Whether a session did the same thing again and again: then a skill is worth suggesting, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gatewright.agent.record.events import AnyEvent, ToolFinished, ToolStarted

TIMES = 3
STEPS = (3, 6)  # calls of a procedure: from, to
CALLS = 400  # that are remembered
OPEN = 200
KINDS = 2  # different steps, at least
LOOKS = ("Read", "Grep", "Glob", "ToolSearch", "TodoWrite")  # alone they are no procedure
QUOTED = 3  # words of a command that say which it is


class Repeats:
    """Fed with the main agent's events."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._open: dict[str, str] = {}

    def saw(self, event: AnyEvent) -> None:
        match event:
            case ToolStarted() as started if len(self._open) < OPEN:
                self._open[started.call_id] = step(started)
            case ToolFinished(call_id=call_id, ok=ok):
                done = self._open.pop(call_id, "")
                if done and ok:
                    self._done = [*self._done[-CALLS + 1 :], done]
            case _:
                pass

    def procedure(self) -> Sequence[str]:
        """The longest run of steps that was done often enough; empty where there is none."""
        for length in range(STEPS[1], STEPS[0] - 1, -1):
            runs = Counter(tuple(self._done[n : n + length]) for n in range(len(self._done)))
            for run, _ in runs.most_common():
                if len(run) == length and _worth(run) and self._apart(run) >= TIMES:
                    return run
        return ()

    def _apart(self, run: tuple[str, ...]) -> int:
        """How often it was done, none overlapping another."""
        found, at = 0, 0
        while at + len(run) <= len(self._done):
            if tuple(self._done[at : at + len(run)]) == run:
                found += 1
                at += len(run)
            else:
                at += 1
        return found


def _worth(run: tuple[str, ...]) -> bool:
    return len(set(run)) >= KINDS and any(step.partition(" ")[0] not in LOOKS for step in run)


def step(started: ToolStarted) -> str:
    """Which tool, and of a command its first words: files and texts differ from time to time."""
    command = str(started.input.get("command") or "").split()
    words = [word for word in command if not word.startswith(("-", "/", ".", "'", '"', "$"))]
    return " ".join([started.name, *words[: QUOTED - 1]]) if command else started.name
