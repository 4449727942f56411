"""The one way a file reaches a model without a call of Read: it is judged as Read would be.

Instruction files, what a person points at with @, files put back after a summary: whoever reads on
the model's behalf takes this port. What was judged is what is opened, without following a link.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

import msgspec

from gatewright.tools.system.exact import open_directory, open_exact, real_path


class Verdict(msgspec.Struct, frozen=True):
    """`why` is for the person: what a question would say, or which rule forbids it."""

    word: Literal["yes", "asks", "denied"]
    why: str = ""


Judge: TypeAlias = Callable[[Path, Path], Verdict]  # as it is written, and where that leads


class Withheld(OSError):
    """The file is not for the model, or not without a yes; the text says why."""


class Readable:
    """`agreed` says that the person named this very file: their yes to what would be asked.

    It never outweighs a deny. Who reads many files resolves each once and passes what came of it.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def check(self, path: Path, *, agreed: bool = False, real: Path | None = None) -> Path:
        """Where the path leads. Withheld where that may not be read."""
        real = Path(real_path(path)) if real is None else real
        verdict = self._judge(path, real)
        if verdict.word == "denied" or (verdict.word == "asks" and not agreed):
            raise Withheld(verdict.why or "a rule forbids it")
        return real

    def open(self, path: Path, *, agreed: bool = False, real: Path | None = None) -> BinaryIO:
        """A regular file. Withheld, or any other OSError."""
        return open_exact(self.check(path, agreed=agreed, real=real))

    def head(
        self, path: Path, limit: int, *, agreed: bool = False, real: Path | None = None
    ) -> bytes:
        """The first bytes of a regular file. Withheld, or any other OSError."""
        with self.open(path, agreed=agreed, real=real) as file:
            return file.read(limit)

    def names(
        self, path: Path, most: int, *, agreed: bool = False, real: Path | None = None
    ) -> Sequence[str]:
        """What lies in a directory, directories first and with a slash; nothing that is denied."""
        real = self.check(path, agreed=agreed, real=real)
        with ExitStack() as held:
            here = open_directory(real)
            held.callback(os.close, here)
            fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
            held.callback(os.close, fd)
            entries = held.enter_context(os.scandir(fd))
            found = sorted(
                (not entry.is_dir(follow_symlinks=False), entry.name)
                for entry in itertools.islice(entries, most)
            )
        shown = [name if plain else f"{name}/" for plain, name in found]
        return [name for name in shown if self._known(real / name.rstrip("/"))]

    def _known(self, path: Path) -> bool:
        return self._judge(path, path).word != "denied"
