"""The tree of a script, by the grammar of JavaScript; the one place that knows who parses it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from time import thread_time
from typing import TYPE_CHECKING, TypeAlias

from gatewright.agent.workflows.script.checked import ScriptProblem

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    SyntaxNode: TypeAlias = Node


SECONDS = 0.5  # of the processor: what is no JavaScript can take the grammar minutes
PIECE = 2048
ENDLESS = "The script cannot be read in time: look for a quote or bracket that is not closed."


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_javascript  # noqa: PLC0415  lazy: 5 ms
    from tree_sitter import Language, Parser  # noqa: PLC0415  lazy: 7 ms

    return Parser(Language(tree_sitter_javascript.language()))


class Script:
    """A parsed script; places are lines and columns of characters, from 1."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.data = source.encode("utf-8")
        self.root = self._parsed()

    def _parsed(self) -> SyntaxNode:
        """ScriptProblem where it takes too long: the text ends there for the parser."""
        until, late = thread_time() + SECONDS, False

        def piece(offset: int, _place: object) -> bytes:
            nonlocal late
            late = late or thread_time() > until
            return b"" if late else self.data[offset : offset + PIECE]

        root = _parser().parse(piece).root_node
        if late:
            raise ScriptProblem(ENDLESS)
        return root

    def text(self, node: SyntaxNode) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8")

    def place(self, node: SyntaxNode) -> tuple[int, int]:
        begin = self.data.rfind(b"\n", 0, node.start_byte) + 1
        before = self.data[begin : node.start_byte].decode("utf-8")
        return node.start_point[0] + 1, len(before) + 1

    def line(self, number: int) -> str:
        return self.source.split("\n")[number - 1]

    def problem(self, node: SyntaxNode, text: str) -> ScriptProblem:
        line, column = self.place(node)
        return ScriptProblem(text, line=line, column=column)

    def nodes(self) -> Iterator[SyntaxNode]:
        """Every node in the order of the text, without a stack of ours: a script may nest deep."""
        cursor = self.root.walk()
        while True:
            if cursor.node is not None:
                yield cursor.node
            if cursor.goto_first_child():
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
