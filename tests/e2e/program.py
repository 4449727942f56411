"""The installed program, as its own process, with a home and a project of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.fakes.terminal import Terminal
from tests.fakes.waiting import PATIENCE
from tests.fakes.warm import Nursery, Place, fits

NO_ENV: Mapping[str, str] = MappingProxyType({})
AGENT = str(Path(sys.executable).with_name("agent"))


@dataclass(frozen=True)
class Program:
    """`home` holds settings and sessions, `project` is where it is started."""

    home: Path
    project: Path
    argv: tuple[str, ...] = (AGENT,)
    nursery: Nursery | None = None  # where runs are copies of a loaded program, and not starts

    @classmethod
    def prepare(cls, folder: Path, nursery: Nursery | None = None) -> Program:
        home, project = folder / "home", folder / "project"
        home.mkdir()
        project.mkdir()
        settings = home / ".gatewright" / "settings.json"
        settings.parent.mkdir()
        # Titles come from the model that needs no server: a script answers the conversation alone.
        settings.write_text('{"smallModel": "demo"}', encoding="utf-8")
        (project / "notes.txt").write_text("alpha\nbeta\n", encoding="utf-8")
        return cls(home, project, nursery=nursery)

    @property
    def cold(self) -> Program:
        """The same, whose runs are starts: for tests about what happens before `main`."""
        return replace(self, nursery=None)

    def unconfined(self) -> None:
        """For tests that look for a command by its process id, which is another one inside."""
        settings = self.home / ".gatewright" / "settings.json"
        text = '{"smallModel": "demo", "sandbox": {"enabled": false}}'
        settings.write_text(text, encoding="utf-8")

    def env(self, **extra: str) -> dict[str, str]:
        """Nothing of the person who runs the tests but where programs are."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", **extra}

    def run(
        self,
        *arguments: str,
        env: Mapping[str, str] = NO_ENV,
        input: str = "",
        within: float = PATIENCE,
    ) -> subprocess.CompletedProcess[str]:
        """In a copy of a loaded program where that is the same as a start."""
        argv, full = [*self.argv, *arguments], self.env(**env)
        if nursery := self.nursery_for(full):
            return nursery.run(argv, Place(str(self.project), full), input, within)
        return subprocess.run(
            argv,
            cwd=self.project,
            env=full,
            input=input,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=within,
            check=False,
        )

    def shell(self, lines: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Lines of an example as somebody pastes them; the first that fails ends them."""
        return subprocess.run(
            ["sh", "-eu", "-c", lines],
            cwd=self.project,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    def start(self, *arguments: str, env: Mapping[str, str] = NO_ENV) -> subprocess.Popen[str]:
        """Start it, always as a new process, and go on; standard input is empty."""
        return subprocess.Popen(
            [*self.argv, *arguments],
            cwd=self.project,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def terminal(
        self, *arguments: str, env: Mapping[str, str] = NO_ENV, rows: int = 30, columns: int = 100
    ) -> Terminal:
        full = self.env(**env)
        return Terminal(
            [*self.argv, *arguments],
            cwd=self.project,
            env=full,
            rows=rows,
            columns=columns,
            nursery=self.nursery_for(full),
        )

    def nursery_for(self, env: Mapping[str, str]) -> Nursery | None:
        return self.nursery if self.argv == (AGENT,) and fits(env) else None

    def transcripts(self) -> list[Path]:
        """Stored sessions, oldest first."""
        found = self.home.rglob("projects/*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def stored(self) -> list[dict[str, Any]]:
        """The lines of the only stored session."""
        (path,) = self.transcripts()
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
