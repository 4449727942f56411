"""Stored sessions as a client lists and names them: by their whole id, and by nothing else."""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
import time
from pathlib import Path
from typing import Any

from gatewright.agent.frontends.acp.jsonrpc import BAD_PARAMS, NOT_FOUND, RpcError
from gatewright.agent.frontends.acp.updates import stamp
from gatewright.agent.transcript.index import Listed, describe, list_everywhere, list_sessions
from gatewright.agent.transcript.place import project_folder
from gatewright.tools.system.untyped_json import Json

PAGE = 50
MOST = 100_000
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
OURS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
LATELY = 30 * 86_400.0  # seconds
AHEAD = 60.0  # seconds that a clock may have been set back


def page(home: Path, cwd: str, cursor: str) -> Json:
    """Newest first. Raises RpcError."""
    begin = _place(cursor) if cursor else 0
    limit = begin + PAGE + 1
    if cwd:
        folder = project_folder(home, directory(cwd))
        listed = list_sessions(folder, limit=limit)
    else:
        listed = list_everywhere(home, limit=limit)
    shown = listed[begin : begin + PAGE]
    told: dict[str, Any] = {
        "sessions": [_told(one) for one in shown if Path(one.cwd).is_absolute()]
    }
    if len(listed) > begin + PAGE:
        told["nextCursor"] = base64.urlsafe_b64encode(b"at:%d" % (begin + PAGE)).decode()
    return told


def file_of(home: Path, id: str) -> Path | None:
    """The transcript of a session; None for an id that was given to a client and never written.

    Those are known by their form and time alone: nothing is written for a session in which nothing
    was said or chosen. Raises RpcError: there is none of that id.
    """
    found = [] if not ID.fullmatch(id) else sorted((home / "projects").glob(f"*/{id}.jsonl"))
    for path in found:
        if describe(path) is not None:
            return path
    if found or not _given_lately(id, time.time()):
        raise unknown(id)
    return None


def _given_lately(id: str, now: float) -> bool:
    """Whether it is an id as ours are, made so lately that it need not have been let go of."""
    if not OURS.fullmatch(id):
        return False
    made = int(id[:8] + id[9:13], 16) / 1000
    return now - LATELY <= made <= now + AHEAD


def unknown(id: str) -> RpcError:
    return RpcError(NOT_FOUND, f"There is no session {id[:64]!r} here.", {"sessionId": id[:64]})


def directory(text: str) -> Path:
    """One that a client names: absolute, and there. Raises RpcError."""
    path = Path(text)
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        if path.is_absolute() and path.is_dir():
            str(path).encode()
            return path.resolve()
    raise RpcError(BAD_PARAMS, f"This is no absolute path of a directory: {text[:200]!r}.")


def _told(one: Listed) -> Json:
    told: Json = {"sessionId": one.id, "cwd": one.cwd, "updatedAt": stamp(one.changed)}
    return {**told, "title": one.title} if one.title else told


def _place(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii")
        place = int(text.removeprefix("at:"))
    except (binascii.Error, ValueError):
        place = -1
    if not 0 <= place <= MOST:
        raise RpcError(BAD_PARAMS, "This cursor is none of ours.")
    return place
