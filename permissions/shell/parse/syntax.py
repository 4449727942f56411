"""The grammar's opinion of a line, asked beside our own reading: grants need both to agree.

The grammar hides commands in places without any error, so only trees made of known node kinds
count, and only if every command in them is the one we read ourselves.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

UNDERSTOOD = frozenset(
    {
        "program", "list", "pipeline", "command", "command_name", "word", "string",
        "string_content", "raw_string", "concatenation", "number", "redirected_statement",
        "file_redirect", "file_descriptor", "comment", "subshell", "compound_statement",
        "negated_command", "variable_assignment", "variable_assignments", "variable_name",
        "special_variable_name", "simple_expansion", "command_substitution", "heredoc_redirect",
        "heredoc_start", "heredoc_body", "heredoc_content", "heredoc_end",
    }
)  # fmt: skip
MAX_NODES = 20_000


class Syntax(msgspec.Struct, frozen=True):
    """`error`: not the shell's language; `known`: only node kinds we understand."""

    error: bool
    known: bool
    commands: tuple[tuple[str, ...], ...]
    assignments: int


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash  # noqa: PLC0415  lazy: 7 ms
    from tree_sitter import Language, Parser  # noqa: PLC0415  lazy: 7 ms

    return Parser(Language(tree_sitter_bash.language()))


def syntax_of(text: str) -> Syntax:
    source = text.encode("utf-8", "surrogatepass")
    root = _parser().parse(source).root_node
    if root.has_error:
        return Syntax(True, False, (), 0)
    known = True
    commands: list[tuple[str, ...]] = []
    assignments = 0
    stack = [root]
    seen = 0
    while stack:
        node = stack.pop()
        seen += 1
        if seen > MAX_NODES:
            return Syntax(True, False, (), 0)
        kind = node.type
        children = node.children
        if node.is_named:
            if kind == "test_command" and children and children[0].type == "[":
                # `[` is an ordinary command; our own reading of it is compared as a whole
                text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
                commands.append(("[", text))
                continue
            if kind not in UNDERSTOOD:
                known = False
            elif kind == "command":
                commands.append(_argv(children, source))
            elif kind == "variable_assignment":
                assignments += 1
        if children:
            stack.extend(children)
    return Syntax(False, known, tuple(sorted(commands)), assignments)


def has_error(text: str) -> bool:
    return _parser().parse(text.encode("utf-8", "surrogatepass")).root_node.has_error


_NO_ARGUMENT = frozenset(
    {"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"}
)


def _argv(children: list[Node], source: bytes) -> tuple[str, ...]:
    return tuple(
        source[child.start_byte : child.end_byte].decode("utf-8", "replace")
        for child in children
        if child.type not in _NO_ARGUMENT
    )
