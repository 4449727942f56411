"""What lies in the directory of a skill besides its text, by name."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gatewright.skills.model import Skill

FILES = 100  # whose names are told
MADE = "__pycache__"  # by whoever ran one
LOOKED = 2_000  # entries that are looked at for those


def companions(skill: Skill) -> Sequence[str]:
    """Names of the files of its directory, below it; nothing hidden, no link followed."""
    found: list[str] = []
    looked = 0
    for here, folders, files in os.walk(skill.folder):
        folders[:] = sorted(each for each in folders if each[0] != "." and each != MADE)
        looked += len(folders) + len(files)
        below = os.path.relpath(here, skill.folder)
        for name in sorted(files):
            path = name if below == "." else f"{below}/{name}"
            if path != skill.file.name and not name.startswith(".") and name.isprintable():
                found.append(path)
        if looked > LOOKED or len(found) >= FILES:
            break
    return found[:FILES]
