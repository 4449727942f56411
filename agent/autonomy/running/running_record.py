"""What is known of a background session from outside: one file each, believed only as far as its
process and the lock of its transcript confirm it.

A file is written whole by its session alone, and a last time once its transcript is let go; so who
finds the lock free asks whether the process still lives, and then reads the file once more.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.agent.version import VERSION
from gatewright.tools.system import private
from gatewright.tools.system.lifetimes import Lifetime, process
from gatewright.tools.system.locks import busy
from gatewright.tools.system.regular import read_regular

State: TypeAlias = Literal[
    "working", "needs you", "idle", "done", "failed", "stopped", "interrupted"
]
LARGEST = 64 * 1024
UNLOCKED = 60.0  # seconds in which one begins, or ends, without holding its transcript
CUT = "Its process is gone and has not said why."


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`ended` is when it said its last, 0 while it runs; `state` is of its work, then of its end.

    `done` and `failed` are how the last turn ended: a session that waits for more is that, too.
    """

    id: str
    pid: int
    start: str = ""  # of that process, as the kernel counts
    began: float = 0.0
    changed: float = 0.0
    ended: float = 0.0
    state: State = "working"
    why: str = ""  # of a failure, or how it ended
    ask: str = ""  # what it asks, in one line
    title: str = ""
    cost: float = 0.0
    viewers: int = 0
    cwd: str = ""
    root: str = ""  # the checkout that it works in
    mode: str = ""
    model: str = ""
    socket: str = ""
    transcript: str = ""
    app: str = VERSION

    @property
    def process(self) -> Lifetime:
        return Lifetime(self.pid, self.start)


class Seen(msgspec.Struct, frozen=True):
    """A record as it holds now."""

    record: Record
    live: bool


def write(path: Path, record: Record) -> None:
    """The whole file at once. Raises OSError."""
    with _written(path, record) as aside:
        aside.replace(path)


def begin(path: Path, record: Record) -> None:
    """The first word of it, by who starts the session: what the session itself says comes after."""
    with _written(path, record) as aside, contextlib.suppress(FileExistsError):
        path.hardlink_to(aside)


@contextlib.contextmanager
def _written(path: Path, record: Record) -> Generator[Path]:
    aside = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        private.write(aside, msgspec.json.encode(record))
        yield aside
    finally:
        aside.unlink(missing_ok=True)


def read(path: Path) -> Record | None:
    """None where nothing that is ours and means something is there."""
    try:
        if path.lstat().st_uid != os.geteuid():
            return None
        record = msgspec.json.decode(read_regular(path, LARGEST, follow=False), type=Record)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    return record if record.id == path.stem else None


def seen(path: Path, now: float) -> Seen | None:
    """What holds; None where there is nothing that can be believed."""
    record = read(path)
    if record is None or record.ended:
        return None if record is None else Seen(record, live=False)
    if record.process.lives():
        young = now - max(record.began, record.changed) < UNLOCKED
        if young or _locked(record):
            return Seen(record, live=True)
    again = read(path)  # it may have said its last between the two looks
    if again is None or again.ended:
        return None if again is None else Seen(again, live=False)
    if again != record:
        return Seen(again, live=again.process.lives() and _locked(again))
    dying = _dying(record)
    if not _there(record) or (not dying and _locked(record)):
        return None  # nothing was said in it, or it goes on elsewhere
    return Seen(replace(record, state="interrupted", why=CUT, ask="", viewers=0), live=False)


def _dying(record: Record) -> bool:
    """Whether threads of it still end, which keep its lock, though the process counts as gone."""
    found = process(record.pid)
    if found is None or str(found.start) != record.start:
        return False
    try:
        return len(os.listdir(f"/proc/{record.pid}/task")) > 1  # noqa: PTH208  speed
    except OSError:
        return False


def _there(record: Record) -> bool:
    return bool(record.transcript) and Path(record.transcript).exists()


def _locked(record: Record) -> bool:
    """Whether a process holds the session's transcript."""
    return _there(record) and busy(Path(record.transcript))
