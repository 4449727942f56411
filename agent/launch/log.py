"""The log: one file for each process, only with --debug, never on the screen."""

from __future__ import annotations

import logging
import logging.handlers
import os
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import cast

from gatewright.agent.text.redact import RedactingFilter, Redactor
from gatewright.tools.system import private

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
MAX_BYTES = 8 * 1024 * 1024
KEEP = 10
MEANT = {"api": "providers", "!api": "!providers"}  # as others call it


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """What is debugged may be anything that was said."""

    def _open(self) -> TextIOWrapper:
        name, mode, coding = self.baseFilename, self.mode, self.encoding
        file = open(name, mode, encoding=coding, opener=private.opener)  # noqa: SIM115
        return cast("TextIOWrapper", file)


class Areas(logging.Filter):
    """Lets through what comes from one of the areas, or from none that is named with a `!`.

    An area is a part of a logger's name: providers, tools, asyncio.
    """

    def __init__(self, areas: str) -> None:
        super().__init__()
        names = [MEANT.get(name, name) for name in areas.replace(",", " ").split()]
        self._wanted = frozenset(name for name in names if not name.startswith("!"))
        self._unwanted = frozenset(name[1:] for name in names if name.startswith("!"))

    def filter(self, record: logging.LogRecord) -> bool:
        parts = set(record.name.split("."))
        return not parts & self._unwanted and (not self._wanted or bool(parts & self._wanted))


def start(folder: Path, areas: str, *, env: Mapping[str, str]) -> Path:
    """Log to a file in `folder`, without the secrets in `env`; returns the file."""
    root = logging.getLogger()
    private.folder(folder)
    for old in sorted(folder.glob("*.log"))[:-KEEP]:
        old.unlink(missing_ok=True)
    path = folder / f"{os.getpid():07d}.log"
    handler = _PrivateFile(path, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8")
    handler.addFilter(RedactingFilter(Redactor(env)))
    handler.addFilter(Areas(areas))
    handler.setFormatter(logging.Formatter(FORMAT))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    return path
