"""A directory of ours outside the sandbox, made with the first thing in it, removed at the end."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec

from gatewright.permissions.sandbox.profile import SandboxProfile
from gatewright.permissions.sandbox.running.janitor import Janitor


class Store(msgspec.Struct):
    """Holds what covers others: a file that nobody can read."""

    janitor: Janitor
    _place: Path | None = None

    def blank(self, profile: SandboxProfile) -> str:
        """The file to cover unreadable ones with; empty where there are none."""
        if not any(mask.kind == "file" for mask in profile.masked):
            return ""
        path = self._made() / "unreadable"
        if not path.exists():
            path.touch(mode=0)
            path.chmod(0)
        return str(path)

    def _made(self) -> Path:
        if self._place is None:
            # Not in the TMPDIR we were given: commands write there.
            place = "/tmp" if os.access("/tmp", os.W_OK) else None
            self._place = Path(
                tempfile.mkdtemp(prefix=f"gatewright-sandbox-{os.getpid()}-", dir=place)
            )
            self.janitor.watch((f"{self._place}/",))
        return self._place
