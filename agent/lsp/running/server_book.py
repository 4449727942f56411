"""Which servers a session may start: those that are written down, and the built-in ones found.

What is written down for a kind of file stands in place of what is built in for it. A program is an
absolute path by the time it leaves here: from PATH, or of a trusted project's own environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.lsp.running.builtin import TABLE, Known, definition
from gatewright.agent.lsp.running.definitions import Definition, Given, read_definitions
from gatewright.agent.lsp.running.programs import FAMILY, PROJECT_BINS, kinds_of
from gatewright.tools.system.programs import find
from gatewright.tools.system.regular import read_regular
from gatewright.tools.system.untyped_json import obj

Use: TypeAlias = Literal["auto", "off"] | tuple[str, ...]
OWN = ("managed", "flag", "user")  # whose definitions are the person's
NEW_ENOUGH = 7  # of the project's TypeScript, to be a server itself


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Where programs are looked for. Of a project that is not trusted nothing is.

    `shared` is what of `env` others' definitions may name: the same without secrets.
    """

    root: Path
    env: Mapping[str, str]
    shared: Mapping[str, str]
    avoid: tuple[Path, ...]
    trusted: bool


class Listed(msgspec.Struct, frozen=True):
    """A server for people: `program` is empty where there is none, `lack` says what is missing."""

    definition: Definition
    program: str
    lack: str = ""


class ServerBook:
    def __init__(self, given: Sequence[Given], use: Use, ground: Ground) -> None:
        self.ground, self._use = ground, use
        self.faults: list[str] = []
        self._written: dict[str, Definition] = {}
        self._found: dict[str, tuple[Definition, ...]] = {}
        for each in given:  # the strongest first: nothing is put together from two places
            read, faults = read_definitions(each)
            self.faults += faults
            for one in read:
                self._written.setdefault(one.name, one)
        known = {*self._written, *(row.name for row in TABLE)}
        self.faults += [
            f"lsp.use names {name[:64]}, and there is no such server"
            for name in (() if isinstance(use, str) else use)
            if name not in known
        ]
        self.kinds = {
            *FAMILY,
            *(k for e in self._written.values() for k in e.extension_to_language),
        }

    def offered(self, path: str) -> Sequence[Definition]:
        """For such a file; the first navigates."""
        if self._use == "off" or not self.ground.trusted:
            return ()
        kind = next((each for each in kinds_of(path) if each in self.kinds), "")
        if kind and kind not in self._found:
            self._found[kind] = self._look(kind)
        return self._found.get(kind, ())

    def again(self) -> None:
        """Programs may have come since."""
        self._found = {kind: each for kind, each in self._found.items() if each}

    def _look(self, kind: str) -> tuple[Definition, ...]:
        written = [each for each in self._written.values() if each.language(kind)]
        if written:
            found = [self._resolved(each) for each in written if self._wanted(each.name)]
            return tuple(each for each in found if each is not None)
        for row in TABLE:
            fits = row.family == FAMILY.get(kind) and self._wanted(row.name)
            if fits and (program := self._program_of(row)):
                return (definition(row, program),)
        return ()

    def _wanted(self, name: str) -> bool:
        return self._use == "auto" or name in self._use

    def _program_of(self, row: Known) -> str:
        if row.name == "tsc":
            return self._typescript()
        return self.program(row.line[0])

    def _typescript(self) -> str:
        """The project's own compiler, where it is new enough to be a server."""
        folder = self.ground.root / "node_modules"
        try:
            data = read_regular(folder / "typescript" / "package.json", 1024 * 1024)
            version = str(obj(msgspec.json.decode(data)).get("version"))
            major = int(version.partition(".")[0])
        except (OSError, ValueError, RecursionError):
            return ""
        program = folder / ".bin" / "tsc"
        return str(program) if major >= NEW_ENOUGH and os.access(program, os.X_OK) else ""

    def _resolved(self, given: Definition) -> Definition | None:
        filled = self._filled(given)
        program = self.program(filled.command, given)
        if not program:
            self.faults.append(f"{given.name}: {_none(filled)}")
        return msgspec.structs.replace(filled, command=program) if program else None

    def _filled(self, given: Definition) -> Definition:
        own = given.source in OWN
        return given.filled(self.ground.env if own else self.ground.shared)

    def program(self, name: str, of: Definition | None = None) -> str:
        """The absolute path of what would be started; empty where it is not there.

        A path that a plugin names is the plugin's, never the project's.
        """
        if "/" in name:
            plugin = of is not None and of.source == "plugin"
            base = of.own.get("GATEWRIGHT_PLUGIN_ROOT", "/") if of and plugin else self.ground.root
            path = os.path.join(base, os.path.expanduser(name))  # noqa: PTH111, PTH118
            return path if os.path.isfile(path) and os.access(path, os.X_OK) else ""  # noqa: PTH113
        if self.ground.trusted:
            for folder in PROJECT_BINS:
                path = f"{self.ground.root}/{folder}/{name}"
                if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
                    return path
        return find(name, self.ground.env, self.ground.avoid)

    def listed(self) -> Sequence[Listed]:
        """All of them, there or not."""
        rows: list[Listed] = []
        for each in self._written.values():
            filled = self._filled(each)
            program = self.program(filled.command, each)
            lack = "" if program else _none(filled)
            rows.append(Listed(each, program, lack or self._off(each.name)))
        for row in TABLE:
            if row.name not in self._written:
                program = self._program_of(row)
                lack = "" if program else row.install
                rows.append(Listed(definition(row, program), program, lack or self._off(row.name)))
        return rows

    def _off(self, name: str) -> str:
        if not self.ground.trusted:
            return "the project is not trusted"
        return "" if self._use != "off" and self._wanted(name) else "lsp.use leaves it out"


def _none(given: Definition) -> str:
    return f"there is no program {given.command[:200]}"
