"""A team on disk: who is in it, and each member's mailbox, which others may write to."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.tools.system import private
from gatewright.tools.system.lifetimes import Lifetime, ours
from gatewright.tools.system.regular import read_regular

MOST: Final = 100  # messages that wait in one mailbox
LONGEST: Final = 100_000  # characters of one
LARGEST: Final = 64 * 1024 * 1024
PATIENCE: Final = 10.0


class TeamError(GatewrightError):
    """What a team cannot do; the text says why and what to do."""


class Mail(msgspec.Struct, frozen=True, omit_defaults=True):
    """`form` is one of `turns.HEADS`, `request` the id of what it asks."""

    sender: str
    text: str
    at: float = 0.0
    form: str = ""
    request: str = ""


class Roll(msgspec.Struct, frozen=True):
    """`members` are ids by name; `lead` is the process whose main agent leads it."""

    name: str
    description: str = ""
    lead: Lifetime = Lifetime()
    members: dict[str, str] = {}


class TeamFolder:
    """`teams/<id>/`: the roll, the mail, and the task list, which the task tools keep."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def roll(self) -> Roll | None:
        with contextlib.suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(read_regular(self._roll, LARGEST), type=Roll)
        return None

    @property
    def _roll(self) -> Path:
        return self.path / "team.json"

    def begin(self, name: str, description: str) -> Roll:
        """Raises TeamError where somebody leads it who lives."""
        known = self.roll
        if known is not None and known.lead.lives() and not known.lead.is_us():
            raise TeamError(f"The team {known.name} is led by process {known.lead.pid} already.")
        roll = Roll(name, description, ours())
        self.keep(roll)
        return roll

    def keep(self, roll: Roll) -> None:
        fresh = self.path / f"team.{os.getpid()}"
        private.write(fresh, msgspec.json.encode(roll))
        fresh.replace(self._roll)

    def remove(self) -> None:
        """All of it: tasks and mail too."""
        shutil.rmtree(self.path)

    # --- mail ---

    def send(self, to: str, mail: Mail) -> None:
        """Behind what waits there. Raises TeamError or OSError: it is the sender's to know."""
        if len(mail.text) > LONGEST:
            raise TeamError(f"A message has {LONGEST:,} characters at most.")
        with self._box(to) as path:
            before = read_regular(path, LARGEST, follow=False) if os.path.lexists(path) else b""
            if before.count(b"\n") >= MOST:
                raise TeamError(f"{MOST} messages wait for {to} already.")
            line = msgspec.json.encode(msgspec.structs.replace(mail, at=time.time())) + b"\n"
            gap = b"" if not before or before.endswith(b"\n") else b"\n"  # a torn line stays alone
            with open(path, "ab", opener=private.opener) as file:
                file.write(gap + line)
                file.flush()
                os.fsync(file.fileno())

    def take(self, name: str) -> list[Mail]:
        """What waits, oldest first, once; a line that cannot be read is set aside."""
        with self._box(name) as path:
            if not os.path.lexists(path):
                return []
            found: list[Mail] = []
            for line in read_regular(path, LARGEST, follow=False).splitlines():
                try:
                    found.append(msgspec.json.decode(line, type=Mail))
                except msgspec.DecodeError:
                    with open(path.with_suffix(".bad"), "ab", opener=private.opener) as bad:
                        bad.write(line + b"\n")
            path.unlink()
            return found

    def put_back(self, name: str, mail: Sequence[Mail]) -> None:
        """What was taken and could not be read: it comes first again."""
        with self._box(name) as path:
            lines = b"".join(msgspec.json.encode(each) + b"\n" for each in mail)
            after = read_regular(path, LARGEST) if path.exists() else b""
            fresh = path.with_suffix(".new")
            private.write(fresh, lines + after)
            fresh.replace(path)

    @contextlib.contextmanager
    def _box(self, name: str) -> Generator[Path]:
        folder = self.path / "mail"
        private.folder(folder)
        with open(folder / f"{name}.lock", "ab", opener=private.opener) as lock:
            _held(lock.fileno(), name)
            yield folder / f"{name}.jsonl"


def _held(fd: int, name: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TeamError(f"The mailbox of {name} is held by another process.") from None
            time.sleep(0.01)
