"""What a person's yes to a command opens in the sandbox, and what stays closed all the same.

Only whole words count that name one file, and only that very file: what was judged is what is
opened. What the person's rules and settings deny, our own home and a repository's own parts stay
closed, and the question says so before it is answered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from gatewright.permissions.decision import Named
from gatewright.permissions.paths import TIER_A_NAME, ancestors, components_meet, inside
from gatewright.permissions.sandbox.disk.guarded import (
    DEPENDENCIES,
    GIT,
    GIT_KEPT,
    GIT_UNWANTED,
    guarded,
)
from gatewright.permissions.sandbox.port import File, Offer, Opening
from gatewright.permissions.sandbox.profile import SandboxProfile

_PRIVATE: Final = ("/tmp", "/var/tmp", "/run", "/dev", "/proc")  # a command has its own
_NAMED: Final = 4
_OF_GIT: Final = frozenset((*GIT_KEPT, *GIT_UNWANTED))


class Judge(msgspec.Struct):
    """Goes through the words of one line; `firm` says what no yes opens."""

    profile: SandboxProfile
    firm: frozenset[str]  # protected and masked paths that stay so, there or not
    kept: Callable[[str], bool]  # whether a setting says that this name does not change
    _hides: dict[str, None] = msgspec.field(default_factory=dict[str, None])
    _keeps: dict[str, None] = msgspec.field(default_factory=dict[str, None])
    _aside: dict[str, None] = msgspec.field(default_factory=dict[str, None])
    _own: dict[str, None] = msgspec.field(default_factory=dict[str, None])  # where nothing stays
    _reads: dict[str, File] = msgspec.field(default_factory=dict[str, File])
    _writes: dict[str, File] = msgspec.field(default_factory=dict[str, File])

    def offer(self, names: Iterable[Named]) -> Offer:
        names = tuple(names)
        for one in names:
            if one.use == "read":
                self._read(one)
        for one in names:
            if one.use != "read":
                self._write(one)
        return Offer(Opening(self._reads, self._writes), self._said())

    def _read(self, one: Named) -> None:
        for mask in self.profile.masked:
            if not _means(one, mask.path):
                continue
            plain = mask.kind == "file" and mask.path not in self.firm
            if one.exact and plain and one.path == mask.path and (file := which(mask.path)):
                self._reads[mask.path] = file
            else:
                self._hides[one.text] = None
        shown = (*self.profile.writable, *self.profile.seen, *self.profile.windows)
        private = any(inside(one.path, place) for place in _PRIVATE[:3])
        if private and one.exact and not any(inside(one.path, place) for place in shown):
            self._hides[one.text] = None

    def _write(self, one: Named) -> None:
        if self._passing(one.path):
            self._own[one.text] = None
        else:
            self._stays(one)

    def _stays(self, one: Named) -> None:
        path = one.path
        if any(
            _means(one, mask.path) and mask.path not in self._reads for mask in self.profile.masked
        ):
            self._hides[one.text] = None
        elif any(_means(one, place) for place in self.profile.protected):
            self._change(one)
        elif one.whole and any(inside(place, path) for place in self.profile.protected):
            self._keeps[one.text] = None
        elif self._out(path):
            if one.use == "write":
                self._keeps[one.text] = None
        elif of_git(path) or self._forbidden(path):
            self._aside[one.text] = None
        elif _guarded(path, self.profile.writable):
            if one.exact and not _ours(path):
                self._writes[path] = which(path)
            else:
                self._aside[one.text] = None
        if path in self._reads and one.exact:
            self._writes[path] = self._reads[path]

    def _forbidden(self, path: str) -> bool:
        return any(each in self.firm or self.kept(each) for each in ancestors(path))

    def _out(self, path: str) -> bool:
        """Whether it lies where a command writes nothing, or nothing that stays."""
        if any(inside(path, place) for place in self.profile.writable):
            return False
        return os.path.dirname(path) not in _PRIVATE and not path.startswith(("/dev/", "/proc/"))

    def _passing(self, path: str) -> bool:
        """Whether it lies in a directory that is the command's own."""
        shared = any(inside(path, place) for place in self.profile.writable)
        return os.path.dirname(path) in _PRIVATE[:2] and not shared

    def _change(self, one: Named) -> None:
        """Something protected that exists; of a directory only the whole is one thing."""
        file = which(one.path) if one.exact and one.path in self.profile.protected else None
        whole = one.whole or not os.path.isdir(one.path)
        named = _guarded(one.path, self.profile.writable)  # and not only where a link leads
        if file and whole and named and one.path not in self.firm and not _ours(one.path):
            self._writes[one.path] = file
        else:
            self._keeps[one.text] = None

    def _said(self) -> str:
        said = [
            f"{verb} {_listed(names)}{tail}"
            for verb, names, tail in (
                ("hides", self._hides, ""),
                ("keeps", self._keeps, " as it is" if len(self._keeps) == 1 else " as they are"),
                ("puts aside", self._aside, ""),
            )
            if names
        ]
        texts = [f"Even with a yes the sandbox {' and '.join(said)}."] if said else []
        if self._own:
            names = _listed(self._own)
            texts.append(f"{names} will be in the command's own /tmp, which is gone with it.")
        return " ".join(texts)


def still(files: Mapping[str, File]) -> frozenset[str]:
    """Those that are the file now that was judged, with no link on the way."""
    return frozenset(path for path, file in files.items() if _same(path, file))


def _same(path: str, file: File) -> bool:
    if os.path.realpath(path) != path:
        return False
    return which(path) == file


def which(path: str) -> File:
    """What tells a file from another in its place; None where there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def of_git(path: str) -> bool:
    """Whether it is one of the parts of a repository by which programs run."""
    parts = path.casefold().split("/")
    return GIT in parts and not _OF_GIT.isdisjoint(parts[parts.index(GIT) + 1 :])


def _ours(path: str) -> bool:
    parts = path.casefold().split("/")
    return TIER_A_NAME in parts or GIT in parts


def _guarded(path: str, roots: Iterable[str]) -> bool:
    root = next((one for one in roots if inside(path, one)), "/")
    parts = path[len(root.rstrip("/")) :].split("/")
    if not DEPENDENCIES.isdisjoint(parts):
        return False
    return any(guarded(name, parts[at - 1]) for at, name in enumerate(parts) if at and name != GIT)


def _means(one: Named, place: str) -> bool:
    """Whether a word may mean this place or something below it."""
    if one.exact or not any(char in one.path for char in "*?["):
        return inside(one.path, place)
    globs, names = one.path.split("/"), place.split("/")
    return len(names) <= len(globs) and all(
        name == glob or components_meet(name, glob)
        for name, glob in zip(names, globs, strict=False)
    )


def _listed(names: Iterable[str]) -> str:
    texts = [f"{text[:60]}…" if len(text) > 60 else text for text in _printable(names)]
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return ", ".join(texts[:_NAMED]) + more


def _printable(names: Iterable[str]) -> Iterator[str]:
    for text in names:
        yield "".join(char if char.isprintable() else "?" for char in text)
