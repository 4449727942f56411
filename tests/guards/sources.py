"""The project's own source files, parsed once for the guards, each when the first one looks."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("agent", "tui", "tools", "permissions", "mcp", "skills")
SKIPPED = {"__pycache__", "node_modules"}

Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Source:
    """One module; `path` is relative to the root it was read from, with slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return parsed(self.text, self.path)

    @property
    def module(self) -> str:
        """Dotted name below `gatewright`: `tools.protocol`."""
        return self.path.removesuffix(".py").replace("/", ".")

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree, walked once for all that look through it."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def _by_kind(self) -> Mapping[type[ast.AST], Sequence[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.nodes:
            found.setdefault(type(node), []).append(node)
        return found

    def of(self, *kinds: type[Node]) -> Iterator[Node]:
        """All nodes of just these kinds."""
        for kind in kinds:
            for node in self._by_kind.get(kind, ()):
                assert isinstance(node, kind)
                yield node

    @property
    def folder(self) -> str:
        return self.path.partition("/")[0]


def read_sources(root: Path, *folders: str) -> tuple[Source, ...]:
    return tuple(_walk(root, folders))


@cache
def own_sources() -> tuple[Source, ...]:
    return read_sources(ROOT, *FOLDERS)


@cache
def sources_of_tests() -> tuple[Source, ...]:
    return read_sources(ROOT, "tests")


def plant(root: Path, files: dict[str, str]) -> tuple[Source, ...]:
    """Write a small tree with a violation in it and read it like the real one."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_sources(root, *{name.partition("/")[0]: None for name in files})


def parsed(text: str, name: str) -> ast.Module:
    """Python 3.11 counts the depth of all parsing in one place: a collection in the midst of it,
    whose finalizers parse as well, makes it fail with a SystemError. Afterwards a collection goes
    through no tree: with a million nodes that is five times the work of reading them."""
    gc.disable()
    try:
        return ast.parse(text, filename=name)
    finally:
        gc.freeze()
        gc.enable()


def _walk(root: Path, folders: tuple[str, ...]) -> Iterator[Source]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if SKIPPED.isdisjoint(path.parts):
                text = path.read_text(encoding="utf-8")
                name = path.relative_to(root).as_posix()
                yield Source(name, text)
