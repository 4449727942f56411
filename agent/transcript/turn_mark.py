"""A file beside the transcript for as long as a turn runs: left behind, it says that one was cut.

The end of a turn is no record of the transcript, and whoever is killed writes nothing any more.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gatewright.agent.record.events import Envelope, TurnEnded, TurnStarted
from gatewright.tools.system import private

SUFFIX = ".turn"
CUT = (
    "The last answer was cut off when the session ended. Say how to go on, or ask again; "
    "/rewind takes the message back."
)


class TurnMark:
    """Owned by a stored session; `cut` is what was found before its first turn."""

    def __init__(self, transcript: Path, *, agent: str) -> None:
        self._path = transcript.with_suffix(SUFFIX)
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
