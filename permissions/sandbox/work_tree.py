"""A command in a work tree: nothing of the checkout beside it is writable."""

from __future__ import annotations

import os

from gatewright.permissions.sandbox.disk.repository import linked_parts
from gatewright.permissions.sandbox.profile import SandboxProfile, Wider


def in_tree(profile: SandboxProfile, wider: Wider, own: tuple[str, ...]) -> SandboxProfile:
    """The profile for a run in its tree; as it is where there is none.

    `own` is what a run that is apart may write besides, in place of all else.
    """
    if not wider.tree:
        return profile.only(own) if wider.apart else profile
    root = os.path.realpath(wider.tree)
    git = linked_parts(f"{root}/.git", (root,), profile.home)
    within = profile.within(root, git.writes, git.protected)
    return within.only((*own, root, *git.writes)) if wider.apart else within
