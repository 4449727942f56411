"""Instruction files: the person's own, then each directory's from the project root down to cwd.

They tell the model how to work here. Nothing in them changes permissions or settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.agent.compact.estimate import text_tokens

INSTRUCTIONS = "# Instructions from files"
NAMES = ("AGENTS.md", "CLAUDE.md")
LOCAL_NAMES = ("AGENTS.local.md", "CLAUDE.local.md")
SIZE_LIMIT = 40_000
DEPTH = 4
FILES = 100
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)")
_CODE = re.compile(r"`[^`\n]*`")
_IMPORT = re.compile(r"(?:(?<=\s)|^)@((?:~/|\.{0,2}/)?[\w./~-]*\w)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class MemoryFile(msgspec.Struct, frozen=True):
    """`kind` is user, shared, local or import; `by` names the file that imports it."""

    path: Path
    text: str
    cut: bool
    kind: str = "shared"
    by: Path | None = None

    @property
    def tokens(self) -> int:
        return text_tokens(self.text)


class Memory(msgspec.Struct, frozen=True):
    """In the order the model reads them: the nearest comes last.

    `waiting` are imports from outside the project that the person did not approve.
    """

    files: tuple[MemoryFile, ...] = ()
    waiting: tuple[Path, ...] = ()


class MemoryPlaces(msgspec.Struct, frozen=True):
    """`approved` says whether a file outside the project may be imported by one inside."""

    own_home: Path
    root: Path
    cwd: Path
    home: Path
    approved: Callable[[Path], bool]


def memory_files(places: MemoryPlaces) -> Memory:
    """Everything that holds for the working directory."""
    reading = _Reading(places)
    reading.folder(places.own_home, user=True)
    for folder in _from_root(places.root, places.cwd):
        reading.folder(folder, user=False)
    return reading.done()


def nested_files(places: MemoryPlaces, touched: Path, known: Sequence[Path]) -> Memory:
    """What the directories between cwd and a file below it add to the files known so far."""
    reading = _Reading(places, known)
    if touched.is_relative_to(places.cwd):
        for folder in list(_from_root(places.cwd, touched.parent))[1:]:
            reading.folder(folder, user=False)
    return reading.done()


def section(files: Sequence[MemoryFile]) -> str:
    """The files for the system prompt; an empty string where there are none."""
    if not files:
        return ""
    parts = [INSTRUCTIONS, ""]
    for file in files:
        note = f" (cut after {SIZE_LIMIT} characters)" if file.cut else ""
        by = f", imported by {file.by}" if file.by else ""
        parts.append(f"## {file.path}{by}{note}\n\n{file.text.strip()}\n")
    return "\n".join(parts)


class _Reading:
    def __init__(self, places: MemoryPlaces, known: Sequence[Path] = ()) -> None:
        self._places = places
        self._seen = {os.path.realpath(path) for path in known}
        self._found: list[MemoryFile] = []
        self._texts: set[str] = set()
        self._waiting: dict[Path, None] = {}

    def done(self) -> Memory:
        return Memory(tuple(self._found), tuple(self._waiting))

    def folder(self, folder: Path, *, user: bool) -> None:
        imported = self._imports_of(folder)
        for name in NAMES:
            # Where one imports the other, the importing one is read: it brings the other along.
            if os.path.realpath(folder / name) not in imported:
                self._read(folder / name, "user" if user else "shared", None, DEPTH)
        for name in LOCAL_NAMES:
            self._read(folder / name, "local", None, DEPTH)

    def _imports_of(self, folder: Path) -> set[str]:
        """What the shared files of a folder import of each other, the first one winning."""
        texts = {name: _text(folder / name)[0] for name in NAMES}
        found: set[str] = set()
        for name, text in texts.items():
            real = os.path.realpath(folder / name)
            if real not in found:
                names = {os.path.realpath(p) for p in self._named(text, folder)}
                found |= names & {os.path.realpath(folder / n) for n in NAMES} - {real}
        return found

    def _read(self, path: Path, kind: str, by: Path | None, depth: int) -> None:
        real = os.path.realpath(path)
        if real in self._seen or len(self._found) >= FILES:
            return
        if by is None and not self._may(Path(real), kind):
            return  # a link that leads out of the project imports like any other
        text, cut = _text(path)
        if not text.strip() or text in self._texts:
            return
        self._seen.add(real)
        self._texts.add(text)
        if depth:
            for target in self._named(text, path.parent):
                if self._may(Path(os.path.realpath(target)), kind):
                    self._read(target, kind if kind == "user" else "import", path, depth - 1)
        self._found.append(MemoryFile(path, text, cut, kind if by is None else "import", by))

    def _may(self, target: Path, kind: str) -> bool:
        """The person's own file may import anything; a project's what lies in the project."""
        places = self._places
        if kind == "user" or target.is_relative_to(os.path.realpath(places.root)):
            return True
        if places.approved(target):
            return True
        with suppress(OSError):  # too long a name, a directory we may not enter
            if target.is_file():
                self._waiting[target] = None
        return False

    def _named(self, text: str, folder: Path) -> Iterator[Path]:
        for line in _outside_code(text):
            for match in _IMPORT.finditer(_CODE.sub("", line)):
                name = match[1]
                yield self._places.home / name[2:] if name.startswith("~/") else folder / name


def _outside_code(text: str) -> Iterator[str]:
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence):
                fence = ""
        elif match:
            fence = match[1]
        else:
            yield line


def _without_comments(text: str) -> str:
    """HTML comments are notes between people. Those inside code stay."""
    if "<!--" not in text:
        return text
    parts = re.split(
        r"(^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z))", text, flags=re.M | re.S
    )
    return "".join(
        part if index % 2 else _COMMENT.sub("", part) for index, part in enumerate(parts)
    )


def _from_root(root: Path, cwd: Path) -> Iterator[Path]:
    if not cwd.is_relative_to(root):
        yield cwd
        return
    yield root
    step = root
    for part in cwd.relative_to(root).parts:
        step = step / part
        yield step


def _text(path: Path) -> tuple[str, bool]:
    """What the file says to the model, and whether it was cut."""
    try:
        if not path.is_file():
            return "", False
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT * 4)
    except OSError:
        return "", False
    text = _without_comments(data.decode("utf-8-sig", errors="replace"))
    return text[:SIZE_LIMIT], len(text) > SIZE_LIMIT
