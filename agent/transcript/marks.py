"""Files beside the transcript while something runs: left behind, they say what was cut off.

The end of a turn is no record of the transcript, and whoever is killed writes nothing any more.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gatewright.agent.record.events import Envelope, TasksChanged, TurnEnded, TurnStarted
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

TURN, JOBS = ".turn", ".jobs"
CUT = (
    "The last answer was cut off when the session ended. Say how to go on, or ask again; "
    "/rewind takes the message back."
)
MAX_BYTES = 64 * 1024
SHOWN = 20
WIDTH = 200


class TurnMark:
    """Owned by a stored session; `cut` is what was found before its first turn."""

    def __init__(self, transcript: Path, *, agent: str) -> None:
        self._path = transcript.with_suffix(TURN)
        self._agent = agent
        self.cut = self._path.exists()

    def saw(self, envelope: Envelope) -> None:
        if envelope.agent != self._agent:
            return
        with contextlib.suppress(OSError):  # then a cut answer goes untold, and nothing else
            match envelope.event:
                case TurnStarted():
                    private.folder(self._path.parent)
                    os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
                case TurnEnded():
                    self._path.unlink(missing_ok=True)
                case _:
                    pass


class JobsMark:
    """Holds the background work; that of a session that was killed is still in it."""

    def __init__(self, transcript: Path) -> None:
        self._path = transcript.with_suffix(JOBS)

    def saw(self, envelope: Envelope) -> None:
        if not isinstance(envelope.event, TasksChanged):
            return
        running = [" ".join(line.split())[:WIDTH] for line in envelope.event.running[:SHOWN]]
        with contextlib.suppress(OSError):  # then the end goes untold, and nothing else
            if not running:
                self._path.unlink(missing_ok=True)
                return
            private.folder(self._path.parent)
            flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            with os.fdopen(os.open(self._path, flags, 0o600), "w", encoding="utf-8") as file:
                file.write("\n".join(running))


def left_by(transcript: Path) -> tuple[str, ...]:
    """What ran when the process before ended, one line each, its id first."""
    try:
        text = read_regular(transcript.with_suffix(JOBS), MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(filter(None, text.split("\n")))[:SHOWN]
