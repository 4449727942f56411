"""Which mounts a sandbox must have, and by which other mounts the same files are there.

They are told as /proc/self/mountinfo shows them.

Looked at before the command when something else ran meanwhile: a directory that was swapped for a
link between our look and bubblewrap's would otherwise be mounted as what the link leads to.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.profile import Masked, SandboxProfile

TABLE = "/proc/self/mountinfo"


def expected(profile: SandboxProfile) -> dict[str, str]:
    """Mount point to "device root"."""
    paths = (*profile.writable, *profile.anchors, *profile.protected)
    made = {mask.path for mask in profile.masked}  # anew, over what is protected
    return origins((path for path in paths if path not in made), mounts(table_of(TABLE)))


def elsewhere(masked: Iterable[Masked]) -> tuple[Masked, ...]:
    """The same places where a part of the disk they lie on is mounted a second time."""
    try:
        table = mounts(table_of(TABLE))
    except OSError:
        return ()
    counts = Counter(each.device for each in table)
    shared = [each for each in table if counts[each.device] > 1]
    if not shared:
        return ()
    known = tuple(masked)
    paths = {mask.path for mask in known}
    found: dict[str, Masked] = {}
    for mask in known:
        for path in _aliases(mask.path, table, shared):
            if path not in paths:
                found[path] = Masked(path, "dir" if os.path.isdir(path) else "file")
    return tuple(found.values())


def _aliases(path: str, table: Sequence[Mount], shared: Sequence[Mount]) -> Iterator[str]:
    """Other paths of this, or of what lies below it; whatever is mounted over them is not it."""
    device, _, origin = _origin(path, table).partition(" ")
    for each in shared:
        point, root = each.point, each.root
        if each.device != device:
            continue
        if inside(origin, root):
            there, same = f"{point.rstrip('/')}/{origin[len(root) :].strip('/')}", path
        elif inside(root, origin):
            there, same = point, f"{path}/{root[len(origin) :].strip('/')}"
        else:
            continue
        there = there.rstrip("/")
        if there and not inside(there, path) and _same(there, same):
            yield there


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def table_of(path: str) -> bytes:
    """All of it, which the kernel gives a page at a time."""
    with open(path, "rb", buffering=0) as table:
        return b"".join(iter(lambda: table.read(1 << 16), b""))


class Mount(NamedTuple):
    """One line of such a table."""

    point: str
    device: str
    root: str
    writes: bool
    kind: str


@lru_cache(maxsize=4)
def mounts(table: bytes) -> tuple[Mount, ...]:
    """All that it has, in its order: later ones at the same point lie over earlier ones."""
    found: list[Mount] = []
    for line in os.fsdecode(table).split("\n")[:-1]:
        words = line.split(" ")
        kind = words[words.index("-", 6) + 1]
        writes = "rw" in words[5].split(",")
        found.append(Mount(_plain(words[4]), words[2], _plain(words[3]), writes, kind))
    return tuple(found)


def origins(paths: Iterable[str], table: Sequence[Mount]) -> dict[str, str]:
    """Device and path on it that each of these is."""
    return {path: _origin(path, table) for path in paths}


def _origin(path: str, table: Sequence[Mount]) -> str:
    """Device and path on it that this path is; later mounts at the same place win."""
    point = device = root = ""
    for each in table:
        if inside(path, each.point) and len(each.point) >= len(point):
            point, device, root = each.point, each.device, each.root
    rest = path[len(point.rstrip("/")) :]
    return f"{device} {root.rstrip('/')}{rest}" if rest else f"{device} {root}"


def _plain(text: str) -> str:
    """Without the octal escapes of blanks and the like."""
    if "\\" not in text:
        return text
    for code in ("040", "011", "012", "134"):
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text
