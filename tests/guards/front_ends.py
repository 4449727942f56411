"""What a front end may not do with what commands say: data goes in and out, never text.

A command line is what a person types. Code that wants the same thing calls it, chooses a row, or
applies a change; code that wants to know how it went matches a `Problem`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from tests.guards.sources import Source

Check = Callable[[Source], Iterator[str]]
FOLDERS = ("tui/", "agent/frontends/")
LINE = re.compile(r"/[a-z][a-z-]*( |$)")
TAKES_A_LINE = {"run", "run_line", "run_command", "send", "submit", "ask", "partial"}
DRAWS = {"tui/transcript/draw.py"}  # how a row is wrapped, not what came of anything
LOOKED_AT = {"tone", "headers"}


def run(check: Check, sources: Sequence[Source]) -> list[str]:
    looked_at = (s for s in sources if check in EVERYWHERE or s.path.startswith(FOLDERS))
    return [problem for source in looked_at for problem in check(source)]


def lines_as_protocol(source: Source) -> Iterator[str]:
    for node in source.of(ast.Call):
        if _called(node.func) in TAKES_A_LINE:
            for argument in node.args:
                if LINE.match(_beginning(argument)):
                    where = f"{source.path}:{argument.lineno}"
                    yield f"{where} writes a command line: call what it does"


def texts_as_protocol(source: Source) -> Iterator[str]:
    """A failure found by its tone, a table by its columns."""
    for node in source.nodes if source.path not in DRAWS else ():
        match node:
            case ast.Compare():
                looked = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            case ast.MatchClass(cls=ast.Name(id="Text" | "Table"), kwd_attrs=names) if any(
                not isinstance(pattern, ast.MatchAs) for pattern in node.kwd_patterns
            ):
                looked = set(names)
            case _:
                continue
        for name in sorted(looked & LOOKED_AT):
            yield f"{source.path}:{node.lineno} decides by {name}: match the outcome instead"


def letters_that_act(source: Source) -> Iterator[str]:
    """In a list that is searched by typing: `o` of "docs" would switch a server off."""
    for listing in source.of(ast.Call):
        if _called(listing.func) != "Listing" or any(k.arg == "columns" for k in listing.keywords):
            continue
        for node in (n for n in ast.walk(listing) if isinstance(n, ast.Call)):
            if _called(node.func) == "Act" and len(_beginning(node.args[0])) == 1:
                yield f"{source.path}:{node.lineno} acts on a letter, but letters search: ctrl+that"


CHECKS: tuple[Check, ...] = (lines_as_protocol, texts_as_protocol, letters_that_act)
EVERYWHERE = {letters_that_act}


def _called(func: ast.expr) -> str:
    return (
        func.attr
        if isinstance(func, ast.Attribute)
        else func.id
        if isinstance(func, ast.Name)
        else ""
    )


def _beginning(node: ast.expr) -> str:
    """The text that an expression begins with, as far as it is written down."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text
        case _:
            return ""
