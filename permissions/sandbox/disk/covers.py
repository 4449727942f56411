"""What is closed to commands because there is more of it than was looked through."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gatewright.permissions.sandbox.naming import shown

MOST = 300  # each is a mount, and so are the directories above it
_NAMED = 3


def covers(unseen: Iterable[str], roots: tuple[str, ...]) -> tuple[str, ...] | None:
    """Few directories that hold all of these; None where that would be a whole root."""
    paths = set(unseen)
    while len(paths) > MOST:
        deepest = max(path.count("/") for path in paths)
        paths = {os.path.dirname(path) if path.count("/") == deepest else path for path in paths}
        if not paths.isdisjoint(roots):
            return None
    return tuple(sorted(paths))


def told(covered: tuple[str, ...], most: int, base: str) -> str:
    """What a command could not see, in one sentence."""
    names = [shown(path.removeprefix(f"{base}/")) for path in covered[:_NAMED]]
    more = f" and {len(covered) - _NAMED} more" if len(covered) > _NAMED else ""
    return (
        f"there are more than {most:,} directories here; closed to commands because they were not"
        f" looked through: {', '.join(names)}{more}"
    )


def refusal(most: int) -> str:
    return (
        f"There are more than {most:,} directories in one place here. What lies in those that the"
        " sandbox does not look through would be open to commands, so none runs in it. Remove what"
        " is not needed outside the sandbox, or work in a smaller directory."
    )
