"""Which mounts a sandbox must have, as /proc/self/mountinfo will show them inside.

Looked at before the command when something else ran meanwhile: a directory that was swapped for a
link between our look and bubblewrap's would otherwise be mounted as what the link leads to.
"""

from __future__ import annotations

from pathlib import Path

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.profile import SandboxProfile

TABLE = Path("/proc/self/mountinfo")


def expected(profile: SandboxProfile) -> dict[str, str]:
    """Mount point to "device root"."""
    table = _table(TABLE.read_text(encoding="utf-8", errors="surrogateescape"))
    paths = (*profile.writable, *profile.anchors, *profile.protected)
    made = {mask.path for mask in profile.masked}  # anew, over what is protected
    return {path: _origin(path, table) for path in paths if path not in made}


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
