"""The log: one file for each process, only with --debug, never on the screen."""

from __future__ import annotations

import logging
import logging.handlers
import os
from pathlib import Path

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
MAX_BYTES = 8 * 1024 * 1024
KEEP = 10


def start(folder: Path, *, debug: bool) -> Path | None:
    """Log to a file in `folder`; without `debug` only warnings are kept, and only in memory.

    Returns the file, or None.
    """
    root = logging.getLogger()
    if not debug:
        root.addHandler(logging.NullHandler())
        return None
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("*.log"))[:-KEEP]:
        old.unlink(missing_ok=True)
    path = folder / f"{os.getpid():07d}.log"
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8"
    )
    handler.setFormatter(logging.Formatter(FORMAT))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    return path
