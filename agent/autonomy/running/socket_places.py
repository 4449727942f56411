"""Where background sessions are found: their records below our home, their sockets in a directory
that is the person's alone.

Nothing here follows a link, and a directory that somebody else could write is refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from gatewright.agent.errors import SessionError

NAME = "gatewright"
LONGEST = 100  # bytes of a socket's path: the kernel takes 107
TAIL = 12  # characters of an id that are random
TMP = Path("/tmp")
NO_ROOM = "There is no short enough place for a socket: set XDG_RUNTIME_DIR to a short path."
ELSE = "{path} is not a directory of yours alone: remove it, or set XDG_RUNTIME_DIR to one that is."


def records_folder(home: Path) -> Path:
    return home / "state" / "running"


def record_file(home: Path, id: str) -> Path:
    return records_folder(home) / f"{id}.json"


def log_file(home: Path, id: str) -> Path:
    return records_folder(home) / f"{id}.log"


def socket_folders(env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where sockets may lie, the best place first; what commands never see."""
    named = env.get("XDG_RUNTIME_DIR", "")
    own = TMP / f"{NAME}-{os.geteuid()}"
    return (Path(named, NAME), own) if named.startswith("/") else (own,)


def socket_path(id: str, env: Mapping[str, str]) -> Path:
    """The place for the socket of a session, whose directory is there. Raises SessionError."""
    name = f"{id[-TAIL:]}.sock"
    fitting = [each for each in socket_folders(env) if len(os.fsencode(each / name)) <= LONGEST]
    if not fitting:
        raise SessionError(NO_ROOM)
    for folder in fitting[:-1]:
        if folder.parent.is_dir() and not wrong_with(folder.parent):
            return made(folder) / name
    return made(fitting[-1]) / name


def made(folder: Path) -> Path:
    """The directory, made where there is none. Raises SessionError: somebody else's, or a link."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise SessionError(f"{folder} cannot be made: {error.strerror}.") from error
    if wrong := wrong_with(folder):
        raise SessionError(wrong)
    return folder


def wrong_with(folder: Path) -> str:
    """Why nothing in this directory is to be trusted; empty where it is ours alone."""
    try:
        found = folder.lstat()
    except OSError as error:
        return f"{folder} cannot be looked at: {error.strerror}."
    alone = found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return "" if stat.S_ISDIR(found.st_mode) and alone else ELSE.format(path=folder)


def is_socket_of_ours(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()
