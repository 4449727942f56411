"""Where a repository's memory lies: one directory for all its work trees, never inside of it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from gatewright.agent.settings.workspace import Surroundings, expanded
from gatewright.agent.transcript.place import project_folder
from gatewright.tools.system.gitfiles import names_back, repository_of

INSIDE = (
    "autoMemoryDirectory leads into the project, where whatever works on it could write what later "
    "sessions are told: name a directory outside of it."
)


def memory_folder(around: Surroundings) -> tuple[Path, str]:
    """The directory, and why it cannot be used; it need not be there."""
    where = around.where
    said = around.settings.auto_memory_directory
    base = expanded(said, where.home, where.home) if said else around.places.state / "memory"
    shared = main_tree(where.root)
    folder = Path(os.path.realpath(base)) / name_of(shared)
    roots = {os.path.realpath(each) for each in (where.root, where.cwd, shared, *where.added)}
    inside = said and any(folder == Path(root) or folder.is_relative_to(root) for root in roots)
    return folder, INSIDE if inside else ""


def name_of(tree: Path) -> str:
    """What a person recognises and no other repository has, as `a/b` and `a-b` would."""
    digest = hashlib.blake2b(os.fsencode(tree), digest_size=4).hexdigest()
    return f"{project_folder(Path(), tree).name}-{digest}"


def main_tree(root: Path) -> Path:
    """The same for every work tree of a repository; else the project's own directory."""
    found = repository_of(root)
    if found is None or found.git == found.common or not names_back(found):
        return root
    return found.common.parent if found.common.name == ".git" else found.common
