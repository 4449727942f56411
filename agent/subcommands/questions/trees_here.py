"""The work trees that sessions of this directory made, and what each holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.workspace import survey
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.worktrees.project_trees import Ports, Wishes, Worktrees
from gatewright.permissions.sandbox.ourselves import Ourselves


class TreeRow(msgspec.Struct, frozen=True):
    name: str
    path: str
    branch: str
    agent: str
    state: str


def trees_here() -> Sequence[TreeRow]:
    around = replace(survey(LaunchOptions(), os.environ, interactive=False), wrap=Ourselves())
    folder = project_folder(around.places.home, Path(os.path.realpath(Path.cwd())))
    ports = Ports(
        root=around.where.root, folder=folder, caller=lambda: around.caller, wishes=Wishes
    )
    return [
        TreeRow(record.slug, record.path, record.short, record.agent, state)
        for record, state in Worktrees(ports).listed()
    ]
