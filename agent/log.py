"""The log: one file for each process, only with --debug, never on the screen."""

from __future__ import annotations

import logging
import logging.handlers
import os
from collections.abc import Mapping
from pathlib import Path

from gatewright.agent.redact import RedactingFilter, Redactor

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
MAX_BYTES = 8 * 1024 * 1024
KEEP = 10


def start(folder: Path, *, debug: bool, env: Mapping[str, str]) -> Path | None:
    """Log to a file in `folder`, without the secrets in `env`; nothing is kept without `debug`.

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
    handler.addFilter(RedactingFilter(Redactor(env)))
    handler.setFormatter(logging.Formatter(FORMAT))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    return path
