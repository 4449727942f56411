"""The named exceptions that keep every tool call behind the gate."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tests.guards.imports import imports
from tests.guards.sources import Source

EXECUTORS = {
    "Executor": "tools/protocol.py",
    "RawExecutor": "tools/executor.py",
    "GatedExecutor": "permissions/gated.py",
}


def raw_executor_users(sources: Sequence[Source]) -> list[str]:
    """`RawExecutor` runs tools without asking: only `permissions/gated.py` may hold one."""
    known = frozenset(source.module for source in sources)
    allowed = {"tools/executor.py", "permissions/gated.py"}
    found: list[str] = []
    for source in sources:
        if source.path in allowed:
            continue
        named = [
            node.lineno
            for node in source.of(ast.Name, ast.Attribute, ast.alias, ast.Constant)
            if (isinstance(node, ast.Name) and node.id == "RawExecutor")
            or (isinstance(node, ast.Attribute) and node.attr == "RawExecutor")
            or (isinstance(node, ast.alias) and node.name == "RawExecutor")
            or (isinstance(node, ast.Constant) and _names(node.value, "RawExecutor"))
        ]
        imported = [
            line for line, name in imports(source, known) if name == "gatewright.tools.executor"
        ]
        found += [
            f"{source.path}:{line} reaches the raw executor: a tool would run without the gate"
            for line in sorted({*named, *imported})
        ]
    return found


def gated_callers(sources: Sequence[Source]) -> list[str]:
    """The factory is called in one place, so there is one place to review."""
    known = frozenset(source.module for source in sources)
    return [
        f"{source.path}:{line} imports {name}: only agent/build.py makes a gated executor"
        for source in sources
        if source.path not in {"agent/build.py", "permissions/gated.py"}
        for line, name in imports(source, known)
        if name == "gatewright.permissions.gated"
    ]


def other_executors(sources: Sequence[Source]) -> list[str]:
    """The loop's port has one implementation in the product: another would go round the gate."""
    return [
        f"{source.path}:{node.lineno} class {node.name} looks like an Executor: tools run through"
        " GatedExecutor only"
        for source in sources
        for node in source.of(ast.ClassDef)
        if {"prepare", "run"} <= _methods(node) and EXECUTORS.get(node.name) != source.path
    ]


def _methods(node: ast.ClassDef) -> set[str]:
    return {
        item.name for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _names(value: object, name: str) -> bool:
    """A factory string such as "gatewright.tools.executor:RawExecutor"."""
    return isinstance(value, str) and value.endswith(f":{name}")
