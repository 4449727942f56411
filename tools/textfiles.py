"""Where the text of files is held: on the disk, or by an editor with buffers nobody has saved."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Protocol


class FileMoved(Exception):
    """The file is not what it was when the change to it was worked out."""


class TextFiles(Protocol):
    """Called from threads, with the path that a judged one really leads to; no link is followed.

    What a holder has no text of (images, documents, very large files) it gives as the disk does.
    """

    def opened(self, real: Path) -> BinaryIO:
        """The content, to be closed by the caller. FileNotFoundError, or ToolFailure."""
        ...

    def writable(self, real: Path) -> None:
        """ToolFailure for a file that says it must not be changed."""
        ...

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        """Put `data` in place of exactly `expected` (None: there is no file), all or none.

        FileMoved where something else is there by now, OSError or ToolFailure where it cannot be.
        """
        ...
