"""Servers of our own for tests: the scripted one, without a session around it or in one."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.lsp.findings.hearing import Hearings
from gatewright.agent.lsp.findings.told import Told
from gatewright.agent.lsp.languages import LanguagePorts, Languages, Place
from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.running.process_memory import resident
from gatewright.agent.lsp.running.server import Ports, Server
from gatewright.tools.protocol import Child, SpawnRequest
from gatewright.tools.system.processes import spawn

PROGRAM = Path(__file__).parents[1] / "fakes" / "lsp_server.py"
PATIENCE = 30.0


def scripted(*options: str, name: str = "scripted", **fields: Any) -> Definition:
    made = Definition(
        name=name,
        command=sys.executable,
        args=("-S", str(PROGRAM), *options),
        extension_to_language={".x": "x"},
        root_markers=(".marker",),
    )
    return msgspec.structs.replace(made, **fields)


def inside(project: Path) -> Path:
    """The program where a sandbox shows it: this checkout may lie below a directory that is private
    to each command."""
    project.mkdir(exist_ok=True)
    return Path(shutil.copy(PROGRAM, project))


def entry(*options: str, program: Path = PROGRAM, **more: Any) -> dict[str, Any]:
    """The same as it is written down in settings."""
    return {
        "command": sys.executable,
        "args": ["-S", str(program), *options],
        "extensionToLanguage": {".x": "x"},
        **more,
    }


@dataclass
class Alone:
    """Languages without a session."""

    root: Path
    languages: Languages
    hearings: Hearings
    said: list[str]
    definitions: list[Definition]
    children: list[Child] = field(default_factory=list[Child])
    log: bytearray = field(default_factory=bytearray)

    def write(self, name: str, text: str, agent: str = "main") -> str:
        """As a tool does: another file in its place."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.new")
        with new.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
        new.replace(path)
        if agent:
            self.hearings.wrote(agent, str(path))
        return str(path)

    async def heard(self, agent: str = "main", seconds: float = PATIENCE) -> Told | None:
        return await self.hearings.heard(agent, seconds)

    async def begun(self, name: str = "a.x", text: str = "fine\n") -> Server:
        """The server runs and has found nothing in that file."""
        path = self.write(name, text)
        await self.heard()
        server = self.languages.of(path)[0]
        assert await server.ready(PATIENCE), server.why
        await self.languages.until_fresh((path,), PATIENCE)
        await self.heard()
        return server


@asynccontextmanager
async def alone(folder: Path, *definitions: Definition) -> AsyncGenerator[Alone]:
    root = Path(os.path.realpath(folder))
    loop = asyncio.get_running_loop()
    said: list[str] = []

    async def start(definition: Definition, root: str, stdin: int, errors: int) -> Child:
        request = SpawnRequest(
            argv=(definition.command, *definition.args),
            cwd=Path(root),
            env=dict(os.environ),
            stdin=stdin,
            errors=errors,
            dies_with_us=True,
        )
        made.children.append(child := await spawn(request))
        return child

    def log(name: str, data: bytes) -> None:
        del name
        made.log.extend(data)

    async def ignored(path: str) -> bool:
        return "ignored" in path

    async def left_out(under: str) -> set[str]:
        return {f"{under}/ignored"}

    def ports(changed: Any) -> Ports:
        return Ports(
            start=start, log=log, memory=resident, told=said.append, changed=changed, now=loop.time
        )

    languages = Languages(
        LanguagePorts(
            server=ports,
            place=lambda: Place((str(root),)),
            offered=lambda path: [each for each in made.definitions if each.language(path)],
            ignored=ignored,
            left_out=left_out,
            told=said.append,
        )
    )
    hearings = Hearings(languages, lambda path: os.path.relpath(path, root), _may_hear)
    made = Alone(root, languages, hearings, said, list(definitions))
    try:
        yield made
    finally:
        await languages.close()


def _may_hear(agent: str, path: str) -> bool:
    del agent, path
    return True
