"""Servers that nobody here wrote: what a change broke is told, what the next mends is solved.

Each is skipped where its program is not in PATH; `TYPESCRIPT_HERE` names a directory whose
`node_modules` has TypeScript, of 5 with typescript-language-server, or of 7.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from gatewright.agent.lsp.questions.queries import Question, ask
from gatewright.agent.lsp.questions.renaming import planned
from gatewright.agent.lsp.questions.spots import Sight
from gatewright.agent.lsp.running.builtin import TABLE, definition
from gatewright.agent.lsp.wire.positions import Lines
from gatewright.tools.protocol import ToolFailure
from tests.fakes.waiting import eventually
from tests.lsp.known_server import PATIENCE, Alone, alone

SMILE = "\U0001f600"


@dataclass(frozen=True)
class Language:
    files: Mapping[str, str]  # of the project; the first is changed
    broken: str
    breaking: str = ""  # a change that breaks the second file

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
    {"a.c": "int twice(int x) { return x * 2; }\r\nint main(void) { return twice(2); }\r\n"},
    f'int twice(int x) {{ char *s = "{SMILE}"; return lacking + s[0]; }}\r\n',
)  # fmt: skip
GO = Language(
    {"a.go": "package main\n\nfunc double(x int) int { return x * 2 }\nfunc main() { double(2) }\n",
     "go.mod": "module x\n\ngo 1.21\n"},
    f'package main\n\nfunc double(x int) int {{ s := "{SMILE}"; return lacking + len(s) }}\n\n'
    "func main() { double(2) }\n",
)  # fmt: skip
LANGUAGES = {"python": PYTHON, "typescript": TYPESCRIPT, "c": C, "go": GO}
SERVERS = ("basedpyright", "ty", "pylsp", "tsc", "typescript-language-server", "clangd", "gopls")


def found(name: str) -> str:
    row = next(each for each in TABLE if each.name == name)
    if row.family == "typescript":
        place = Path(os.environ.get("TYPESCRIPT_HERE", "/nowhere")) / "node_modules"
        version = place / "typescript" / "package.json"
        text = version.read_text(encoding="utf-8") if version.is_file() else "{}"
        new = str(json.loads(text).get("version")).startswith("7")
        program = place / ".bin" / row.line[0]
        return str(program) if program.exists() and new is (name == "tsc") else ""
    return shutil.which(row.line[0]) or ""


@pytest.mark.parametrize("name", SERVERS)
async def test_it_is_told_solved_and_found(tmp_path: Path, name: str) -> None:
    row = next(each for each in TABLE if each.name == name)
    if not (program := found(name)):
        pytest.skip(f"{row.line[0]} is not here: {row.install}")
    language = LANGUAGES[row.family]
    for file, text in language.files.items():
        (tmp_path / file).write_bytes(text.encode())
    if row.family == "typescript":
        (tmp_path / "node_modules").symlink_to(Path(program).parents[1])
    made_of = definition(row, program)
    async with alone(tmp_path, made_of) as made:
        first, *others = [each for each in language.files if Path(each).suffix in _kinds(made_of)]
        for file in others:
            await made.begun(file, language.files[file])
        server = await made.begun(first, language.files[first])
        await eventually(lambda: server.fresh.still(server.now()) and not server.busy)
        await made.heard()
        told = await _told(made, first, language.broken)
        place = language.place if name != "pylsp" else "2:"  # its linter counts bytes
        assert place in told, told
        assert "solved" in await _told(made, first, language.files[first])
        (tmp_path / first).write_bytes(language.broken.encode())  # as a command does
        assert place in await _told(made, first, None)
        assert "solved" in await _told(made, first, language.files[first])
        await _operations(made, first)
        if language.breaking and name != "pylsp":
            assert "error" in await _told(made, first, language.breaking, of=others[0])


def _kinds(made_of: object) -> frozenset[str]:
    return frozenset((".py", ".ts", ".c", ".go"))


async def _told(made: Alone, file: str, text: str | None, *, of: str = "") -> str:
    """All that is told until something is said of that file."""
    if text is not None:
        made.write(file, text)
    said: list[str] = []

    async def look() -> bool:
        if (told := await made.heard(seconds=2.0)) is not None:
            said.append(told.text)
        return any((of or file) in each for each in said)

    for _ in range(40):
        if await look():
            break
    return "\n".join(said)


async def _operations(made: Alone, file: str) -> None:
    path = f"{made.root}/{file}"
    (server, *_) = await made.languages.open(path)
    assert await server.ready(PATIENCE)
    lines = Lines(Path(path).read_bytes().decode(), server.abilities.encoding)
    at = next(
        n for n in range(lines.count) if "double" in lines.line(n) or "twice" in lines.line(n)
    )
    name = "double" if "double" in lines.line(at) else "twice"
    column = lines.units(at, lines.line(at).index(name))
    sight = Sight(
        readable=lambda path: True,
        inside=lambda path: path.startswith(str(made.root)),
        shown=lambda path: os.path.relpath(path, made.root),
    )
    for operation in (
        "goToDefinition", "findReferences", "hover", "documentSymbol", "prepareCallHierarchy",
        "incomingCalls", "workspaceSymbol", "goToTypeDefinition", "goToImplementation",
    ):  # fmt: skip
        question = Question(operation=operation, path=path, line=at, column=column, query=name)
        try:
            answer = await ask(server, question, sight)
        except ToolFailure as error:
            assert "cannot" in str(error) or "refuses" in str(error), (operation, error)
            continue
        if operation in ("goToDefinition", "findReferences", "hover", "documentSymbol"):
            assert name in answer.text, (operation, answer)
    question = Question(operation="rename", path=path, line=at, column=column, new_name="renamed")
    try:
        plan = await planned(server, question, sight)
    except ToolFailure as error:
        assert "cannot" in str(error)
    else:
        assert b"renamed" in plan.changes[0].after and name.encode() not in plan.changes[0].after
