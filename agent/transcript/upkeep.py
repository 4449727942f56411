"""Care for stored sessions: repair, delete, and letting go of what is too old."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.transcript.backwards import lines_backwards
from gatewright.agent.transcript.writer import TranscriptLock
from gatewright.tools.system import private
from gatewright.tools.system.regular import open_regular

DAY = 86_400.0
BESIDE = (".torn", ".jsonl.bak", ".turn", ".jobs")


class Repaired(msgspec.Struct, frozen=True):
    kept: int
    dropped: int
    rejoined: int  # records whose parent was lost and that hang on the one before now
    backup: Path | None  # the file as it was; None: nothing had to be done


def repair(path: Path) -> Repaired:
    """Write the file anew without what cannot be read; the original stays beside it.

    Raises SessionError when it is in use or no line of it can be read.
    """
    lock = _locked(path)
    try:
        lines, dropped = _readable(path)
        header, headed = _header(lines, path)
        rejoined = _rejoin(lines, header.id)
        if headed and not dropped and not rejoined:
            return Repaired(len(lines), 0, 0, None)
        fresh, backup = path.with_suffix(".jsonl.new"), path.with_suffix(".jsonl.bak")
        with open(fresh, "wb", opener=private.opener) as out:
            out.write(wire.encode_header(header))
            out.writelines(line + b"\n" for line in lines)
            out.flush()
            os.fsync(out.fileno())
        fresh.chmod(path.stat().st_mode & 0o777)
        path.replace(backup)
        fresh.replace(path)
        return Repaired(len(lines), dropped, rejoined, backup)
    except OSError as error:
        raise SessionError(f"{path} could not be repaired: {error.strerror}.") from error
    finally:
        lock.release()


def _locked(path: Path) -> TranscriptLock:
    lock = TranscriptLock()
    try:
        lock.take(path)
    except OSError as error:
        raise SessionError(f"{path} cannot be opened: {error.strerror}.") from error
    return lock


def _readable(path: Path) -> tuple[list[bytes], int]:
    """The lines that hold an event or a header, in order, and how many others there were."""
    kept: list[bytes] = []
    dropped = 0
    with open_regular(path) as opened:
        file = opened.fileno()
        for _, line in lines_backwards(file, os.fstat(file).st_size):
            if _sound(line):
                kept.append(line)
            elif line:
                dropped += 1
    kept.reverse()
    return kept, dropped


def _sound(line: bytes) -> bool:
    try:
        wire.decode(line)
    except wire.WireError:
        try:
            wire.decode_header(line)
        except wire.WireError:
            return False
    return True


def _header(lines: list[bytes], path: Path) -> tuple[wire.Header, bool]:
    """Take the header off the lines; a lost one is made up from the file's name."""
    try:
        header = wire.decode_header(lines[0] if lines else b"")
    except wire.WireError:
        made = wire.Header(version=wire.VERSION, id=path.stem, cwd="", created=0.0, app="")
        return made, False
    del lines[0]
    return header, True


def _rejoin(lines: list[bytes], session: str) -> int:
    """Hang events whose parent is gone on the one before them; returns how many."""
    known: set[str] = set()
    before, rejoined = "", 0
    for index, line in enumerate(lines):
        envelope = wire.decode(line)
        if before and envelope.parent and envelope.parent not in known:
            joined = msgspec.structs.replace(envelope, parent=before)
            lines[index] = wire.encode(joined, session).rstrip(b"\n")
            rejoined += 1
        known.add(envelope.uuid)
        before = envelope.uuid
    return rejoined


def delete(path: Path) -> None:
    """The session with everything kept beside it. Raises SessionError when it is in use."""
    lock = _locked(path)
    try:
        path.unlink()
        for suffix in BESIDE:
            path.with_suffix(suffix).unlink(missing_ok=True)
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
    except OSError as error:
        raise SessionError(f"{path} could not be deleted: {error.strerror}.") from error
    finally:
        lock.release()


def let_go(home: Path, *, days: int, now: float) -> Sequence[Path]:
    """Delete sessions nobody touched for `days`, and bytes kept for them only; returns them.

    Zero keeps everything.
    """
    gone: list[Path] = []
    if days <= 0:
        return gone
    for path in sorted((home / "projects").glob("*/*.jsonl")):
        try:
            if now - path.stat().st_mtime > days * DAY:
                delete(path)
                gone.append(path)
        except (OSError, SessionError):  # in use, or gone already: the next time will do
            continue
    for kept in (home / "projects").glob("*/shadow/git/objects/??/*"):
        with suppress(OSError):
            if now - kept.stat().st_mtime > days * DAY:
                kept.unlink()
    return gone
