"""What a work tree may be called: its directory, its branch, and the pull requests people name."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError

FOLDER = Path(".gatewright") / "worktrees"
MOST = 64
_SEGMENT = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?")
_NUMBER = re.compile(r"#([1-9][0-9]{0,9})")
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?/([\w.-]+/)+(?:pull|pulls|merge_requests)/"
                      r"([1-9][0-9]{0,9})(?:[/?#].*)?")  # fmt: skip


class WorktreeError(GatewrightError):
    """A work tree cannot be made, entered or left; the text says why and what to do."""


class Wanted(msgspec.Struct, frozen=True):
    """What somebody asked for: a name, or a pull request whose number gives the name."""

    slug: str
    pull: int = 0


def wanted(text: str) -> Wanted:
    """A name, `#12`, or the address of a pull request. Raises WorktreeError."""
    text = text.strip()
    if not text:
        return Wanted(f"tree-{secrets.token_hex(3)}")
    for form, group in ((_NUMBER, 1), (_ADDRESS, 2)):
        if found := form.fullmatch(text):
            return Wanted(f"pr-{found[group]}", int(found[group]))
    return Wanted(checked(text))


def checked(slug: str) -> str:
    """The name, or WorktreeError saying what a name may be. A slash becomes a plus."""
    fits = all(_SEGMENT.fullmatch(part) for part in slug.split("/"))
    fits = fits and ".." not in slug and not any(p.endswith(".lock") for p in slug.split("/"))
    if not fits or len(slug) > MOST:
        raise WorktreeError(
            f"{slug[:80]!r} is no name for a work tree: use letters, digits, '.', '_' and '-', "
            f"parts divided by '/', {MOST} characters at most."
        )
    return slug.replace("/", "+")


def counted(count: int, what: str) -> str:
    """ "1 file", "2 files"."""
    return f"{count:,} {what}{'s' if count != 1 else ''}"


def branch_of(slug: str) -> str:
    """The full name of its branch."""
    return f"refs/heads/worktree/{slug}"
