"""Cleans up after this process when it is killed: a small process that outlives it.

It is told what exists and what is gone; when its input ends it removes what is left. It runs as a
script without site-packages, so that it starts in milliseconds and imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

_TRIES = 40
_PAUSE = 0.05
_DYING = 1_000_000_000  # ns: what runs is killed with its parent, but goes on until it is


class Janitor:
    """Started with the first thing there is to clean."""

    def __init__(self, python: str = sys.executable) -> None:
        self.python = python
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, paths: Iterable[str]) -> None:
        """Remove these when we are gone: trees are named with a slash at their end."""
        self._tell(b"+", paths)

    def forget(self, paths: Iterable[str]) -> None:
        self._tell(b"-", paths)

    def stamp(self, path: str) -> None:
        """Say in this file's time when we were gone, and all that we ran."""
        self._tell(b"=", (path,))

    def close(self) -> None:
        """Everything is clean or to be cleaned now; waits for the end."""
        if self._process is None:
            return
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_TRIES * _PAUSE + 1)
        self._process = None

    def _tell(self, sign: bytes, paths: Iterable[str]) -> None:
        lines = b"".join(sign + os.fsencode(path) + b"\0" for path in paths)
        if not lines:
            return
        if self._process is None:
            self._process = subprocess.Popen(
                (self.python, "-I", "-S", str(Path(__file__).resolve())),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={},
                bufsize=0,
            )
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(lines)


def _main() -> None:
    left, stamped = _heard()
    gone = time.time_ns() + _DYING
    for path in stamped:
        with contextlib.suppress(OSError):
            os.utime(path, ns=(gone, gone))
    for _ in range(_TRIES):  # what still runs dies with its parent, a moment later
        if not left:
            return
        for path in reversed(tuple(left)):
            if _gone(path):
                del left[path]
        if left:
            time.sleep(_PAUSE)


def _heard() -> tuple[dict[bytes, None], set[bytes]]:
    """What is left when the one who told us is gone: to remove, and to stamp."""
    left: dict[bytes, None] = {}
    stamped: set[bytes] = set()
    rest = b""
    while chunk := os.read(0, 65536):
        *lines, rest = (rest + chunk).split(b"\0")
        for line in lines:
            if line[:1] == b"+":
                left[line[1:]] = None
            elif line[:1] == b"=":
                stamped.add(line[1:])
            else:
                left.pop(line[1:], None)
    return left, stamped


def _gone(path: bytes) -> bool:
    tree = path.endswith(b"/")
    try:
        if tree:
            _remove_tree(path.rstrip(b"/"))
        else:
            os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError as error:
        return not tree and error.errno in (20, 39)  # ENOTDIR, ENOTEMPTY: somebody's own by now
    return True


def _remove_tree(path: bytes) -> None:
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
        return
    with contextlib.suppress(OSError):
        os.chmod(path, 0o700)
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _remove_tree(entry.path)
            else:
                os.unlink(entry.path)
    os.rmdir(path)


if __name__ == "__main__":
    _main()
    os._exit(0)  # who waits for this would wait for the interpreter's end, too
