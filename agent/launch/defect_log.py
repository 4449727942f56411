"""Keeps defects where the person can send them from: `logs/errors.log`, made by the first one."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from gatewright.tools.system import private

MAX_BYTES = 1024 * 1024
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class DefectFile(logging.Handler):
    """Writes errors only, never to the screen; a log that cannot be written is no second error."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.ERROR)
        self._path = path
        self.setFormatter(logging.Formatter(FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        from gatewright.agent.text.redact import Redactor  # noqa: PLC0415  lazy: only for a defect

        text = Redactor(os.environ).text(self.format(record))
        with contextlib.suppress(OSError):  # home is read-only or full
            private.folder(self._path.parent)
            if self._path.exists() and self._path.stat().st_size > MAX_BYTES:
                self._path.replace(self._path.with_suffix(".old.log"))
            with open(self._path, "a", encoding="utf-8", opener=private.opener) as file:
                file.write(text + "\n")


def keep_defects(folder: Path) -> None:
    logging.getLogger().addHandler(DefectFile(folder / "errors.log"))
