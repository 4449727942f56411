"""What a background session lets others know of it: its record, and a call for the person."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.autonomy.running.launch import Launch
from gatewright.agent.autonomy.running.running_record import Record, State, write
from gatewright.agent.autonomy.running.standing import Standing
from gatewright.tools.system.lifetimes import ours


class Reporting:
    """`call` is asked when it comes to another state; nothing here ends a session."""

    def __init__(self, launch: Launch, file: Path, call: Callable[[Record], object]) -> None:
        self._file, self._call = file, call
        us, self._began = ours(), time.time()
        self._written: Record = Record(
            id=launch.id,
            pid=us.pid,
            start=us.start,
            began=self._began,
            cwd=launch.cwd,
            root=launch.root,
            title=launch.title,
        )
        self.standing = Standing(self._written)

    def look(self, *, anew: bool = False) -> None:
        """Write what is another than before."""
        now = self.standing.now()
        if now == self._written and not anew and self._file.exists():
            return
        if now.state != self._written.state:
            self._call(now)
        self._written = now
        self._write(replace(now, changed=time.time()))

    def last(self, state: State | None, why: str) -> None:
        """Its end: with no state in the one it rests in. The transcript is let go by now."""
        rest, now = self.standing.now(), time.time()
        ended = self.standing.ends(state or rest.state, why or rest.why)
        if ended.state == "failed" and self._written.state != "failed":
            self._call(ended)
        self._write(replace(ended, ended=now, changed=now))

    def _write(self, record: Record) -> None:
        with contextlib.suppress(OSError):  # a full disk: the session goes on
            write(self._file, record)
