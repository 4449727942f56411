"""Which mounts a sandbox must have, and by which other mounts the same files are there.

They are told as /proc/self/mountinfo shows them.

Looked at before the command when something else ran meanwhile: a directory that was swapped for a
link between our look and bubblewrap's would otherwise be mounted as what the link leads to.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.profile import Masked, SandboxProfile

TABLE = Path("/proc/self/mountinfo")


def expected(profile: SandboxProfile) -> dict[str, str]:
    """Mount point to "device root"."""
    table = _table(TABLE.read_text(encoding="utf-8", errors="surrogateescape"))
    paths = (*profile.writable, *profile.anchors, *profile.protected)
    made = {mask.path for mask in profile.masked}  # anew, over what is protected
    return {path: _origin(path, table) for path in paths if path not in made}


def elsewhere(masked: Iterable[Masked]) -> tuple[Masked, ...]:
    """The same places where a part of the disk they lie on is mounted a second time."""
    try:
        table = _table(TABLE.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return ()
    counts = Counter(device for _, device, _ in table)
    shared = [row for row in table if counts[row[1]] > 1]
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


def _aliases(
    path: str, table: list[tuple[str, str, str]], shared: list[tuple[str, str, str]]
) -> Iterator[str]:
    """Other paths of this, or of what lies below it; whatever is mounted over them is not it."""
    device, _, origin = _origin(path, table).partition(" ")
    for point, other, root in shared:
        if other != device:
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


def _table(text: str) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        words = line.split(" ")
        rows.append((_plain(words[4]), words[2], _plain(words[3])))
    return rows


def _origin(path: str, table: list[tuple[str, str, str]]) -> str:
    """Device and path on it that this path is; later mounts at the same place win."""
    best = ("", "", "")
    for row in table:
        if inside(path, row[0]) and len(row[0]) >= len(best[0]):
            best = row
    point, device, root = best
    rest = path[len(point.rstrip("/")) :]
    return f"{device} {root.rstrip('/')}{rest}" if rest else f"{device} {root}"


def _plain(text: str) -> str:
    """Without the octal escapes of blanks and the like."""
    if "\\" not in text:
        return text
    for code in ("040", "011", "012", "134"):
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text
