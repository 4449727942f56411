"""From one file to what it says: leniently, and with a diagnostic for whatever was wrong.

The file is opened without following a link that leaves its place, and nothing of it is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from gatewright.skills.fields import BY_FOLDED, FIELDS, LISTED, SHOWN, Fields, folded
from gatewright.skills.frontmatter import FILE_LIMIT, Front, FrontError, decoded, read_front
from gatewright.skills.model import Diagnostic, Form, Said
from gatewright.tools.system.exact import open_exact, real_path

KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
NAME = 64
_USABLE = re.compile(r"[^\W_](?:[\w.-]*\w)?")
_SPELLINGS = dict.fromkeys(  # every spelling that counts, the usual one first
    (
        *FIELDS,
        *SHOWN,
        *(key.capitalize() for key in FIELDS),
        *(key.replace("-", "_") for key in FIELDS),
        *(key.replace("_", "-") for key in FIELDS),
        *(re.sub("[-_]([a-z])", lambda found: found[1].upper(), key) for key in FIELDS),
    )
)


class Read(msgspec.Struct, frozen=True):
    """`said` is None where the file cannot be used, and the last diagnostic says why."""

    name: str
    said: Said | None
    body: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    size: int = 0


def read_file(
    file: Path, name: str, form: Form, within: Callable[[], Iterable[str]] | None = None
) -> Read:
    """`name` is what the place says; `within` are real directories that a link may not leave."""
    try:
        data = data_of(file, within)
    except FrontError as error:
        return _unusable(file, name, error)
    return read_data(data, file, name, form)


def data_of(file: Path, within: Callable[[], Iterable[str]] | None) -> bytes:
    """Raises FrontError."""
    real = real_path(file)
    if within is not None and not any(real.startswith(f"{at.rstrip('/')}/") for at in within()):
        raise FrontError(f"it is a link to {real}, which is somewhere else")
    try:
        with open_exact(real) as opened:
            data = opened.read(FILE_LIMIT + 1)
    except OSError as error:
        raise FrontError(f"it cannot be read: {error.strerror or error}") from None
    if len(data) > FILE_LIMIT:
        raise FrontError("it is larger than 1 MiB")
    return data


def read_data(data: bytes, file: Path, name: str, form: Form) -> Read:
    text = decoded(data)
    try:
        front = read_front(text, _SPELLINGS)
    except FrontError as error:
        return _unusable(file, name, error)
    reading = _Reading(file, name, form)
    return reading.done(front, text, len(data))


class _Reading:
    def __init__(self, file: Path, name: str, form: Form) -> None:
        self._file, self._name, self._form = file, name, form
        self._found: list[Diagnostic] = []
        self._fatal = False

    def done(self, front: Front | None, text: str, size: int) -> Read:
        if front is None:
            front = Front({}, text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n"))
            if self._form == "skill":
                told = "it has no front matter, so its first paragraph describes it"
                self._say(1, told, "Begin it with a line ---, name, description, and a line ---.")
        for note in front.notes:
            self._say(note.line, note.text, note.fix)

        def say(key: str, text: str, fix: str) -> None:
            self._say(front.line(key), text, fix)

        def refuse(key: str, text: str, fix: str) -> None:
            self._say(front.line(key), text, fix, fatal=True)

        fields = Fields(front, say, refuse)
        said = fields.said(command=self._form == "command")
        self._twice(front)
        if self._form == "skill":
            self._named(fields.name(), front.line("name"))
        elif not all(map(usable, self._name.split(":"))):
            told = f"{self._name[:80]!r} cannot be typed as a name"
            self._say(0, told, "Rename it with letters, digits and hyphens.", fatal=True)
        self._length(said, front)
        if not said.description and not front.body.strip():
            told = "it has neither a description nor a text"
            self._say(0, told, "Write what it does, and how.", fatal=True)
        counts = None if self._fatal else said
        return Read(self._name, counts, front.body, tuple(self._found), size)

    def _named(self, own: str, line: int) -> None:
        """The directory's name counts; its own where that cannot be typed."""
        if not usable(self._name):
            if not usable(own):
                told = f"neither {self._name[:80]!r} nor {own[:80]!r} can be typed as a name"
                self._say(line, told, "Name the directory with a-z, 0-9 and hyphens.", fatal=True)
                return
            told = f"its directory {self._name[:80]!r} cannot be typed as a name: {own} counts"
            self._say(line, told, f"Rename the directory to {own}.")
            self._name = own
        elif own and own != self._name:
            told = f"it calls itself {own[:80]!r}, and its directory {self._name}, which counts"
            self._say(line, told, "Give both the same name.")
        if not (KEBAB.fullmatch(self._name) and len(self._name) <= NAME):
            told = f"the name {self._name} has other characters than a-z, 0-9 and hyphens"
            self._say(line, told, "Other programs may not take it: rename the directory.")

    def _length(self, said: Said, front: Front) -> None:
        count = len(said.description) + len(said.when_to_use)
        if said.described and count > LISTED:
            told = f"description and when_to_use have {count:,} characters: {LISTED:,} are listed"
            self._say(front.line("description"), told, "Shorten them: say what, and when.")

    def _twice(self, front: Front) -> None:
        """One field in two spellings: the first counts."""
        first: dict[str, str] = {}
        for key in front.values:
            field = BY_FOLDED.get(folded(key), "")
            if field and first.setdefault(field, key) != key:
                told = f"{key} is {first[field]} in another spelling: ignored"
                self._say(front.line(key), told, "Write it once.")

    def _say(self, line: int, text: str, fix: str = "", *, fatal: bool = False) -> None:
        self._fatal = self._fatal or fatal
        self._found.append(Diagnostic(self._file, line, text, fix, fatal))


def usable(name: str) -> bool:
    """Whether somebody can type it as a command, and read it as one word."""
    return len(name) <= NAME and _USABLE.fullmatch(name) is not None and name.isprintable()


def _unusable(file: Path, name: str, error: FrontError) -> Read:
    fix = "End its front matter with a line ---." if "---" in str(error) else ""
    return Read(name, None, "", (Diagnostic(file, error.line, str(error), fix, fatal=True),))
