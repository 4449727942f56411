"""A house to break into: a project, an outside, keys, services; and a program that lets cases in.

Runs as `python -m tests.permissions.sandbox.house TABLE PLACE WAY`, also as another user, and
prints one JSON line for each case: what is wrong with it, or nothing. In the way `waiting` every
command is told to a shell that was confined before, `in turn` every second one.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gatewright.permissions.sandbox.config import Config
from gatewright.permissions.sandbox.confinement import Sandbox
from gatewright.permissions.sandbox.limits import with_limit
from gatewright.permissions.sandbox.machine import Machine, machine
from gatewright.tools.protocol import SpawnRequest
from gatewright.tools.system.home import OwnHome
from gatewright.tools.system.processes import spawn
from tests.fakes.waiting import comes

SECRET = "sesame-open-7731"
SECONDS = 60  # only what hangs; where processes have no room, bash alone tries for 15
PROTECTED = (
    ".git/config", ".git/hooks", ".git/info", ".githooks", "shared.gitconfig", ".vscode", ".env",
    "src/.env.local", "escape",
)  # fmt: skip


class House:
    """Build it, let a command in, look what it did."""

    def __init__(self, place: Path) -> None:
        self.place, self.waiting = place, False
        self.project, self.out, self.home = place / "proj", place / "out", place / "home"
        self.temp, self.own = place / "tmp", place / "state"
        self.kept = self.home / ".gatewright"
        self.tools: Machine = machine()
        self.sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
        self.env: dict[str, str] = {}
        self._services: list[socket.socket] = []
        self.build()

    def build(self) -> None:
        for directory in (self.project, self.out, self.home, self.temp):
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
        self._write(self.home / ".ssh" / "id_ed25519", f"KEY {SECRET}\n")
        self._write(self.home / ".aws" / "credentials", f"{SECRET}\n")
        self._write(self.home / ".bashrc", "# mine\n")
        self._write(self.home / ".gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n")
        self._write(self.out / "victim", "original\n")
        for name in ("state/keys.json", "projects/p/other.jsonl", "projects/p/mine.jsonl",
                     "projects/p/other/spill/bash.txt", "projects/p/mine/history/aa/blob",
                     "state/sent/p.jsonl", "settings.json"):  # fmt: skip
            self._write(self.kept / name, f"{SECRET}\n")
        spill = self.kept / "projects" / "p" / "mine" / "spill"
        self._write(spill / "bash.txt", "the whole output\n")
        self._serve()
        self.env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PROJECT": str(self.project),
            "OUT": str(self.out),
            "OUTSIDE_PID": str(self.sleeper.pid),
            "OUTSIDE_PORT": str(self._services[0].getsockname()[1]),
            "RG": os.environ.get("RG", "rg"),  # the one the product starts
            "HARMLESS": "1",
            "OPENAI_API_KEY": SECRET,
            "MY_SERVICE_TOKEN": SECRET,
            "DATABASE_URL": f"postgres://me:{SECRET}@db/x",
            "GH_PAT": SECRET,
            "SSH_AUTH_SOCK": str(self.out / "service.sock"),
        }
        self._repository()

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _repository(self) -> None:
        project = self.project
        self._write(project / "README", "hello\n")
        self._write(project / ".env", f"PASSWORD={SECRET}\n")
        self._write(project / ".env.example", "PASSWORD=EXAMPLE\n")
        self._write(project / "src" / ".env.local", f"PASSWORD={SECRET}\n")
        self._write(project / ".vscode" / "settings.json", "{}\n")
        self._write(
            project / ".gitignore", ".env\n.env.local\nescape\nhook-ran\nvault\nshown\ndeep\n"
        )
        self._write(project / "tracked", "x\n")
        self._write(project / ".githooks" / "pre-push", "#!/bin/sh\n")
        self._write(project / "shared.gitconfig", "")
        (project / "escape").symlink_to(self.out)
        self._write(project / "vault" / "s.pem", SECRET)
        self._write(project / "vault" / "t.key", SECRET)
        (project / "shown").symlink_to("vault")
        (project / "deep").mkdir()
        (project / "deep" / "conf").symlink_to("../vault")
        self._git("init", "-q")
        self._git("add", "-A")
        self._git("commit", "-qm", "start")
        hook = project / ".git" / "hooks" / "pre-commit"
        self._write(hook, "#!/bin/sh\ntouch hook-ran\n")
        hook.chmod(0o755)
        self._write(project / ".git" / "info" / "exclude", "\n")
        self._git("config", "core.hooksPath", ".git/hooks")
        self._git("config", "--add", "core.hooksPath", ".githooks")
        self._git("config", "--add", "core.hooksPath", ".git/hooks")
        self._git("config", "include.path", "../shared.gitconfig")

    def _git(self, *words: str) -> None:
        env = {"PATH": self.env["PATH"], "HOME": str(self.home)}
        subprocess.run(["git", *words], cwd=self.project, env=env, check=True)

    def _serve(self) -> None:
        for service in self._services:
            service.close()
        stream = socket.socket(socket.AF_UNIX)
        stream.bind(str(self.out / "service.sock"))
        stream.listen()
        datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        datagram.bind(str(self.out / "datagram.sock"))
        abstract = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError):
            abstract.bind("\0gatewright-test-service")
            abstract.listen()
        tcp = socket.create_server(("127.0.0.1", 0))
        self._services = [tcp, stream, datagram, abstract]

    def config(self) -> Config:
        config = Config(
            cwd=self.project,
            home=self.home,
            roots=(self.project,),
            temp=self.temp,
            state=self.own,
            own_home=OwnHome(str(self.kept), str(self.kept / "projects" / "p" / "mine")),
        )
        return replace(config, deny_read=(*config.deny_read, "shown/*.pem", "**/conf/*.key"))

    def run(self, command: str, flags: list[str]) -> tuple[int, str, list[str]]:
        config = self.config()
        for text in flags[1::2]:
            config = replace(config, limits=with_limit(config.limits, text))
        box = Sandbox(config, self.tools)
        try:
            if self.waiting:
                return asyncio.run(run_waiting(box, command, self.project, self.env))
            return run_in(box, ["bash", "-c", command], self.project, self.env)
        finally:
            box.close()

    def state(self) -> dict[str, str]:
        """Everything that must be the same afterwards."""
        found: dict[str, str] = {}
        places = (self.out, self.home, *(self.project / name for name in PROTECTED))
        for place in places:
            for path in (place, *sorted(place.rglob("*"))):
                if path.is_symlink():
                    found[str(path)] = str(path.readlink())
                elif path.is_file():
                    digest = hashlib.sha256(path.read_bytes()).hexdigest()
                    status = path.stat()
                    found[str(path)] = f"{digest} {status.st_mode} {status.st_mtime_ns}"
                else:
                    found[str(path)] = str(path.lstat().st_mode if path.exists() else 0)
        return found

    def strays(self) -> list[str]:
        """What commands may not make, or we left behind."""
        known = {path.name for path in self.project.iterdir()}
        left = known & {".gatewright", ".npmrc", ".mcp.json", ".bashrc", ".idea", ".cargo"}
        return sorted(left)

    def close(self) -> None:
        self.sleeper.kill()
        self.sleeper.wait()
        for service in self._services:
            service.close()


def run_in(
    box: Sandbox, argv: list[str], cwd: Path, env: Mapping[str, str]
) -> tuple[int, str, list[str]]:
    """Exit code, output, and what was put aside."""
    told: list[str] = []
    request = box.confine(SpawnRequest(argv=tuple(argv), cwd=cwd, env=env), told.extend)
    assert request.ended is not None
    try:

        def begin() -> subprocess.CompletedProcess[bytes]:
            return subprocess.run(
                request.argv,
                cwd=request.cwd,
                env=request.env,
                pass_fds=request.fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
                check=False,
            )

        done = begin() if request.start is None else request.start(begin)
    finally:
        request.ended()
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return code, done.stdout.decode("utf-8", "replace"), told


async def run_waiting(
    box: Sandbox, command: str, cwd: Path, env: Mapping[str, str]
) -> tuple[int, str, list[str]]:
    """The same by a shell that was confined before there was a command."""
    told: list[str] = []
    request = SpawnRequest(argv=("bash", "-c", command), cwd=cwd, env=env, script=True)
    box.stand_by(request)
    before = children()
    request = box.confine(request, told.extend)
    assert request.begun is not None, "nothing waited for it"
    child = await spawn(request)
    assert child.pid in before, "another one was started"
    output = b""
    async with asyncio.timeout(SECONDS):
        while chunk := await child.read():
            output += chunk
        code = await child.wait()
    await box.at_rest()
    return code, output.decode("utf-8", "replace"), told


def children() -> set[int]:
    """Of all our threads."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(pid) for path in lists for pid in path.read_text(encoding="ascii").split()}


def judge(house: House, case: Mapping[str, Any]) -> str:
    """What is wrong with the outcome of one case; empty when it is as it must be."""
    before = house.state()
    code, output, _ = house.run(case["run"], case.get("flags", []))
    after = house.state()
    wrong = [*_answered(case, code, output), *_left(house, case)]
    if before != after and not case.get("disposable"):
        changed = {path for path, _ in before.items() ^ after.items()}
        wrong.append(f"changed: {sorted(changed)}")
    if house.sleeper.poll() is not None:
        wrong.append("the process outside was ended")
    return "; ".join(wrong) + (f" [{output.strip()[-300:]}]" if wrong else "")


def _answered(case: Mapping[str, Any], code: int, output: str) -> Iterator[str]:
    if case["expect"] == "works" and code != 0:
        yield f"exit {code}"
    if case["expect"] == "blocked" and code == 0:
        yield "it succeeded"
    if case.get("code", code) != code:
        yield f"exit {code} and not {case['code']}"
    if SECRET in output:
        yield "a secret came out"
    if not re.search(case.get("says", ""), output):
        yield f"it did not say {case['says']}"
    yield from (f"it said {word}" for word in case.get("lacks_output", []) if word in output)
    number = case.get("alive_below", 0)
    if number and int(output.split()[0]) >= number:
        yield "too many processes"


def _left(house: House, case: Mapping[str, Any]) -> list[str]:
    wrong = [f"{name} stands in the project" for name in house.strays()]
    late = [house.project / name for name in case.get("gone_later", ())]
    comes(lambda: not any(map(os.path.lexists, late)), within=20)
    gone = (*(house.project / name for name in case.get("gone", ())), *late)
    wrong.extend(f"{path.name} is there" for path in gone if os.path.lexists(path))
    for name, text in case.get("lacks", {}).items():
        if text in (house.project / name).read_text(encoding="utf-8"):
            wrong.append(f"{name} says {text}")
    return wrong


def main(table: str, place: str, way: str, wanted: Callable[[str], bool] = lambda _: True) -> None:
    cases = tomllib.loads(Path(table).read_text(encoding="utf-8"))["case"]
    house = House(Path(place))
    try:
        for number, case in enumerate(cases):
            house.waiting = way == "waiting" or (way == "in turn" and number % 2 == 1)
            if not wanted(case["name"]) or not shutil.which(case.get("needs", "sh")):
                continue
            started = time.monotonic()
            wrong = judge(house, case)
            row = {"name": case["name"], "wrong": wrong, "s": round(time.monotonic() - started, 2)}
            print(json.dumps(row), flush=True)
            if wrong or case.get("disposable"):
                house.build()
    finally:
        house.close()


if __name__ == "__main__":
    words = sys.argv[4:]
    main(
        sys.argv[1],
        sys.argv[2],
        sys.argv[3],
        lambda name: not words or any(word in name for word in words),
    )
