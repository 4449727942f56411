"""Which directory is the project that somebody works in. Looks at the disk, changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

FOLDER = ".gatewright"
ROOT = Path("/")


def project_of(cwd: Path, home: Path) -> Path:
    """The work tree `cwd` is in, else the nearest directory with settings of ours, else `cwd`.

    `/`, the person's home directory, and one that everybody may write to are a project only when
    the program is started right there: anyone could have made `/tmp` a project.
    """
    configured: Path | None = None
    for directory in (cwd, *cwd.parents):
        if directory != cwd and (directory in (home, ROOT) or everybodys(directory)):
            break
        if os.path.exists(directory / ".git"):  # noqa: PTH110  False, too, where nobody may look
            return directory
        if configured is None and directory != home and os.path.isdir(directory / FOLDER):  # noqa: PTH112
            configured = directory
    return configured or cwd


def here(env: Mapping[str, str], folder: Path | None = None) -> tuple[Path, ...]:
    """A directory, usually the current one, and the project it lies in."""
    try:
        folder = folder or Path.cwd()
    except OSError:  # it is gone
        return ()
    return (project_of(folder, Path(env.get("HOME") or Path.home())), folder)


def everybodys(directory: str | Path) -> bool:
    """Whether anybody at all may put a file there; what cannot be looked at counts."""
    try:
        return bool(Path(directory).stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True
