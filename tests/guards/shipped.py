"""Programs that come with the product are started by tests as the product starts them.

Looked up on PATH they are another program, or on a plain machine none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.guards.sources import Source

SHIPPED = frozenset({"rg", "bwrap"})


def looked_up(source: Source) -> Iterator[str]:
    for node in source.of(ast.Call):
        if _is_which(node.func):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and argument.value in SHIPPED:
                    yield (
                        f"{source.path}:{node.lineno} looks up {argument.value!r}: use the"
                        " product's own way (search/rg.py locate, machine.py find_bwrap)"
                    )


def _is_which(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(attr="which") | ast.Name(id="which"):
            return True
        case _:
            return False
