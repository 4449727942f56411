"""A settings file as it is once nobody is writing it: editors truncate it first, or remove it."""

from __future__ import annotations

import time
from pathlib import Path

from gatewright.tools.system.regular import read_regular

MAX_BYTES = 4 * 1024 * 1024
MOMENT = 0.1  # seconds that a file may be gone or empty while it is written
STEP = 0.005
FRESH = 2.0  # an empty file that is older is nobody's work in progress
BOM = b"\xef\xbb\xbf"


def read_settled(path: Path, *, known: bool) -> bytes:
    """The bytes of a regular file. A file that was `known` before is missed for a moment.

    Raises OSError; FileNotFoundError only for a file that stays away.
    """
    until = 0.0
    while True:
        data: bytes | None = None
        try:
            data = read_regular(path, MAX_BYTES).removeprefix(BOM)
        except (FileNotFoundError, NotADirectoryError):
            if not known:
                raise
        if data is not None and (data.strip() or not (known or _fresh(path))):
            return data
        now = time.monotonic()
        until = until or now + MOMENT
        if now >= until:
            if data is None:
                raise FileNotFoundError(path)
            return data
        time.sleep(STEP)


def _fresh(path: Path) -> bool:
    try:
        return abs(time.time() - path.stat().st_mtime) < FRESH
    except OSError:
        return False
