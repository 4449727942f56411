"""A command in a work tree: nothing of the checkout beside it is writable."""

from __future__ import annotations

import os

from gatewright.permissions.sandbox.disk.repository import linked_parts
from gatewright.permissions.sandbox.profile import SandboxProfile


def in_tree(profile: SandboxProfile, tree: str) -> SandboxProfile:
    """The profile for a run in that tree; as it is where there is none."""
    if not tree:
        return profile
    root = os.path.realpath(tree)
    git = linked_parts(f"{root}/.git", (root,), profile.home)
    return profile.within(root, git.writes, git.protected)
