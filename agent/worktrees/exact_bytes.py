"""Files that git calls unchanged although their bytes are others than it would write: it converts
line ends, `$Id$` and encodings before it compares, where attributes or settings say so.
"""

from __future__ import annotations

import filecmp
import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from gatewright.agent.worktrees.record import Record
from gatewright.tools.system.git import Git
from gatewright.tools.system.regular import open_regular

TIME: Final = 120.0
ATTRIBUTES: Final = b".gitattributes"
_PIECE: Final = 1024 * 1024


def other_bytes(record: Record, tree: Path, git: Git, told: Collection[str]) -> list[str]:
    """Of the files in the index, less those of which something is `told` already."""
    entries = list(_entries(git))
    if not _converts(record, git, entries):
        return []
    odd = [
        name
        for name, blob in entries
        if os.fsdecode(name) not in told and _differs(tree / os.fsdecode(name), blob)
    ]
    if not odd:
        return []
    fresh = git.index.parent / "fresh"
    fresh.mkdir()
    names = b"".join(name + b"\0" for name in odd)
    git.run("checkout-index", "-z", "--stdin", f"--prefix={fresh}/", seconds=TIME, input=names)
    found = map(os.fsdecode, odd)
    return [name for name in found if not filecmp.cmp(tree / name, fresh / name, shallow=False)]


def _entries(git: Git) -> Iterator[tuple[bytes, str]]:
    """Regular files, each with what names its bytes."""
    for entry in git.run("ls-files", "-z", "--stage", seconds=TIME).split(b"\0"):
        about, _, name = entry.partition(b"\t")
        if name and about.startswith(b"100"):
            yield name, about.split()[1].decode()


def _converts(record: Record, git: Git, entries: list[tuple[bytes, str]]) -> bool:
    """Whether git may have written other bytes than it keeps."""
    names = (*(name for name, _ in entries), *(os.fsencode(each.path) for each in record.copied))
    if any(name.rpartition(b"/")[2].lower() == ATTRIBUTES for name in names):
        return True
    return "autocrlf" in (git.index.parent / "config").read_text(encoding="utf-8").lower()


def _differs(path: Path, blob: str) -> bool:
    """From what git keeps of it. One that is not there was told of, or never checked out."""
    try:
        with open_regular(path, follow=False) as file:
            digest = hashlib.new("sha256" if len(blob) == 64 else "sha1", usedforsecurity=False)
            digest.update(b"blob %d\0" % os.fstat(file.fileno()).st_size)
            while piece := file.read(_PIECE):
                digest.update(piece)
    except FileNotFoundError:
        return False
    return digest.hexdigest() != blob
