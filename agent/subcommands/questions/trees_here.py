"""The work trees of the project we stand in, and what each of them holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from gatewright.agent.subcommands.place import here
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.worktrees.project_trees import Ports, Wishes, Worktrees
from gatewright.permissions.sandbox.ourselves import Ourselves
from gatewright.tools.system.git import Caller


class Tree(msgspec.Struct, frozen=True):
    """`state` is clean, gone, in use by whom, or what would be lost with it."""

    name: str
    path: str
    branch: str
    state: str


def trees_here(env: Mapping[str, str]) -> Sequence[Tree]:
    """Looks through each: git runs, and nothing of the project does."""
    places = here().places
    caller = Caller(env, (places.root,), Ourselves())
    ports = Ports(
        root=places.root,
        folder=project_folder(places.home, places.root),
        caller=lambda: caller,
        wishes=Wishes,
    )
    listed = Worktrees(ports).listed()
    return [Tree(record.slug, record.path, record.short, state) for record, state in listed]
