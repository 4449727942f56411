"""Drafts of skills: kept apart from what can be invoked, until the person approves or forgets them.

At most fifty, for thirty days, one MiB together: the oldest go first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.skills.model import Diagnostic
from gatewright.skills.places import SKILL
from gatewright.skills.reading import KEBAB, NAME, read_data
from gatewright.tools.system import private
from gatewright.tools.system.regular import read_regular

FOLDER = "skill-drafts"
MOST = 50
DAYS = 30
BYTES = 1024 * 1024
LARGEST = 256 * 1024  # of one
DAY = 86_400.0


class Draft(msgspec.Struct, frozen=True):
    """`made` is in seconds; `wrong` says what a check of it finds."""

    name: str
    path: Path
    text: str
    made: float
    description: str = ""
    wrong: tuple[Diagnostic, ...] = ()


class DraftError(GatewrightError):
    """Why a draft cannot be kept, read or approved, for the person."""


class Drafts:
    """`home` is our own directory."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = home / FOLDER
        self._clock = clock

    def all(self) -> Sequence[Draft]:
        """The newest first; what is too old is gone."""
        drafts = sorted(self._found(), key=lambda draft: -draft.made)
        kept: list[Draft] = []
        size = 0
        for draft in drafts:
            size += len(draft.text.encode())
            old = self._clock() - draft.made > DAYS * DAY
            if old or len(kept) >= MOST or size > BYTES:
                self._remove(draft.name)
            else:
                kept.append(draft)
        return kept

    def find(self, name: str) -> Draft:
        """Raises DraftError."""
        found = next((draft for draft in self.all() if draft.name == name), None)
        if found is None:
            names = ", ".join(draft.name for draft in self.all()) or "none"
            raise DraftError(f"There is no draft {name[:80]!r}. Drafts: {names}.")
        return found

    def save(self, name: str, text: str) -> Draft:
        """In place of one of that name. Raises DraftError."""
        if not (KEBAB.fullmatch(name) and len(name) <= NAME):
            raise DraftError(f"{name[:80]!r} is no name: a-z, 0-9 and hyphens, at most {NAME}.")
        data = text.encode()
        if len(data) > LARGEST:
            raise DraftError(f"A draft has at most {LARGEST // 1024} kB.")
        path = self.folder / name / SKILL
        try:
            private.folder(path.parent)
            written_whole(path, data)
        except OSError as error:
            raise DraftError(f"{path} cannot be written: {error.strerror or error}.") from error
        self.all()
        return self.find(name)

    def discard(self, name: str) -> None:
        """Raises DraftError."""
        self._remove(self.find(name).name)

    def approve(self, name: str, skills: Path, *, inside: Path | None, replace: bool) -> Path:
        """Make it a skill among those in a directory, and no draft any more. Raises DraftError.

        `inside` is what the directory may not lead out of.
        """
        draft = self.find(name)
        if fatal := [each.text for each in draft.wrong if each.fatal]:
            raise DraftError(f"{name} is no skill yet: {fatal[0]}. Edit it first.")
        target = skills / name / SKILL
        try:
            if inside is None:
                private.folder(target.parent)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
            if inside is not None and not _within(target.parent, inside):
                raise DraftError(f"{target.parent} leads out of the project: nothing is put there.")
            if target.exists() and not replace:
                raise DraftError(
                    f"There is {target} already: say replace to put this in its place."
                )
            written_whole(target, draft.text.encode())
        except OSError as error:
            raise DraftError(f"{target} cannot be written: {error.strerror or error}.") from error
        self._remove(name)
        return target

    def _found(self) -> Sequence[Draft]:
        try:
            with os.scandir(self.folder) as entries:
                names = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
        except OSError:
            return []
        return [draft for name in names if (draft := self._read(name)) is not None]

    def _read(self, name: str) -> Draft | None:
        path = self.folder / name / SKILL
        try:
            data = read_regular(path, LARGEST)
            made = path.stat().st_mtime
        except (OSError, ValueError):
            return None
        read = read_data(data, path, name, "skill")
        about = read.said.description if read.said is not None else ""
        text = data.decode("utf-8", errors="replace")
        return Draft(name, path, text, made, about, read.diagnostics)

    def _remove(self, name: str) -> None:
        folder = self.folder / name
        (folder / SKILL).unlink(missing_ok=True)
        try:
            folder.rmdir()
        except OSError:  # the person keeps something of their own in it
            return


def written_whole(path: Path, data: bytes) -> None:
    """The new text or the old one, whatever happens between. Raises OSError."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with aside.open("xb") as file:
            file.write(data)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _within(path: Path, inside: Path) -> bool:
    real, top = os.path.realpath(path), os.path.realpath(inside)
    return real == top or real.startswith(f"{top}/")
