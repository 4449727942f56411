"""What a call of Read read, as it was: another program wants that, and not what models see."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

from gatewright.tools.textfiles import TextFiles

LARGEST = 8 * 1024 * 1024  # bytes of one file


class KeptText(TextFiles):
    """Implements `TextFiles` over another one: exactly what was judged and read is kept."""

    def __init__(self, files: TextFiles) -> None:
        self._files = files
        self.data: bytes | None = None  # of the file that was opened last
        self.missing = False
        self.large = False

    def opened(self, real: Path) -> BinaryIO:
        try:
            file = self._files.opened(real)
        except FileNotFoundError:
            self.missing = True
            raise
        with file:
            data = file.read(LARGEST + 1)
            self.large = len(data) > LARGEST
            self.data = None if self.large else data
        return io.BytesIO(data) if not self.large else self._files.opened(real)

    def writable(self, real: Path) -> None:
        self._files.writable(real)

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        self._files.swap(real, expected, data)
