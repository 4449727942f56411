"""A file beside the transcript with the background work that runs: left behind, it ended untold."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gatewright.agent.record.events import Envelope, TasksChanged
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

SUFFIX = ".jobs"
MAX_BYTES = 64 * 1024
SHOWN = 20
WIDTH = 200


class JobsMark:
    """Owned by a stored session; the work of a killed one is still in it."""

    def __init__(self, transcript: Path) -> None:
        self._path = transcript.with_suffix(SUFFIX)

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
        text = read_regular(transcript.with_suffix(SUFFIX), MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(filter(None, text.split("\n")))[:SHOWN]
