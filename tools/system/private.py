"""The one way to make files and folders of our own home: only the person can look into them.

What a person names a place for (an export, a file of the project) keeps their umask. Standard
library only.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILE, FOLDER = 0o600, 0o700


def folder(path: Path) -> None:
    """The directory with all above it; those that are new are private, not only the last."""
    missing: list[Path] = []
    at = path
    while not at.is_dir():
        missing.append(at)
        at = at.parent
    for each in reversed(missing):
        each.mkdir(mode=FOLDER, exist_ok=True)


def opener(path: str, flags: int) -> int:
    """For `open(..., opener=opener)`; a file that others could read is closed to them.

    A pipe that somebody put there is an error, and nothing to wait for.
    """
    fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, FILE)
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            os.fchmod(fd, FILE)
    except BaseException:
        os.close(fd)
        raise
    return fd


def write(path: Path, data: bytes) -> None:
    """The whole file, in a folder that is made where there is none."""
    folder(path.parent)
    with open(path, "wb", opener=opener) as file:
        file.write(data)
