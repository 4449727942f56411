"""`agent logs`: what a background session has said so far, and goes on to say."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from gatewright.agent.autonomy.running.bounded_log import read_back
from gatewright.agent.autonomy.running.known_sessions import find
from gatewright.agent.autonomy.running.running_record import seen
from gatewright.agent.autonomy.running.socket_places import log_file, record_file
from gatewright.agent.settings.paths import own_home
from gatewright.agent.text.printable import visible

AGAIN = 0.25  # seconds from one look at the file to the next
Id = Annotated[str, typer.Argument(help="Its id, a part of it, or words of its title.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on until it has ended.")]


def register(app: typer.Typer) -> None:
    app.command(name="logs")(logs)


def logs(id: Id, follow: Follow = False) -> None:
    """Print what a session in the background has said; its last megabyte is kept."""
    home = own_home(os.environ)
    found = find(home, id, time.time())
    path = log_file(home, found.record.id)
    _say(read_back(path))
    with contextlib.suppress(KeyboardInterrupt):
        if follow:
            _follow(path, record_file(home, found.record.id))


def _follow(path: Path, record: Path) -> None:
    """What comes behind, until its session has ended; another file takes over when one is full."""
    file, at = _identity(path), _size(path)
    while True:
        live = (now := seen(record, time.time())) is not None and now.live
        if _identity(path) != file:
            _say(_from(path.with_suffix(".log.before"), at))
            file, at = _identity(path), 0
        data = _from(path, at)
        at += len(data)
        _say(data)
        if not live:
            return
        time.sleep(AGAIN)


def _say(data: bytes) -> None:
    sys.stdout.write(visible(data.decode("utf-8", "replace")))
    sys.stdout.flush()


def _identity(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _from(path: Path, at: int) -> bytes:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(at)
        return file.read()
    return b""
