"""Keeps a script as a saved workflow: whole or not at all, and through no link.

Only a person does that: what is kept here runs by its name later.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.workflows.saved.script_places import SUFFIX, WORKFLOWS

FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def place_of(home: Path, name: str) -> Path:
    """`home` is the .gatewright directory of the project or of the person."""
    return home / WORKFLOWS / f"{name}{SUFFIX}"


def save(script: str, home: Path, name: str, *, replace: bool = False) -> Path:
    """Raises FileExistsError where one is there that is not to be replaced, GatewrightError."""
    path = place_of(home, name)
    folder = path.parent
    _unlinked(home, folder, path)  # before a directory is made, which would lie elsewhere too
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _failed(folder, error) from error
    _unlinked(home, folder, path)
    if path.exists() and not replace:
        raise FileExistsError(path)
    fresh = folder / f".{name}.{secrets.token_hex(4)}"
    try:
        with os.fdopen(os.open(fresh, FLAGS, 0o644), "w", encoding="utf-8") as file:
            file.write(script)
        fresh.replace(path)
    except OSError as error:
        raise _failed(path, error) from error
    finally:
        with suppress(OSError):
            fresh.unlink()
    return path


def _unlinked(*paths: Path) -> None:
    for each in paths:
        if each.is_symlink():
            raise GatewrightError(f"{each} is a link: nothing is saved through one.")


def _failed(path: Path, error: OSError) -> GatewrightError:
    return GatewrightError(f"{path} cannot be written: {error.strerror or error}.")
