"""Checks a script before anything of it runs: what it says of itself, its syntax, what it may use.

Pure: no file is read and nothing is started. The engine compiles it once more before it begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.agent.workflows.script.bans import forbidden
from gatewright.agent.workflows.script.checked import MOST_BYTES, Checked, ScriptProblem
from gatewright.agent.workflows.script.meta_literal import meta_of
from gatewright.agent.workflows.script.syntax_words import syntax_problem
from gatewright.agent.workflows.script.tree import Script

if TYPE_CHECKING:
    from gatewright.agent.workflows.script.tree import SyntaxNode

BEGINNING = (
    'A script begins with `export const meta = {name: "…", description: "…"}`, a pure literal,'
    " before any other statement."
)


def check(source: str) -> Checked:
    """What the script says of itself, and what the engine gets. Raises ScriptProblem."""
    source = source.removeprefix("\ufeff")
    try:
        size = len(source.encode("utf-8"))
    except UnicodeEncodeError:
        raise ScriptProblem("The script holds half a character: write it as UTF-8.") from None
    if size > MOST_BYTES:
        most = MOST_BYTES // 1024
        raise ScriptProblem(f"The script has {size // 1024} kB: at most {most}; pass data in args.")
    if "\0" in source:
        raise ScriptProblem("The script holds a NUL character: take it out.")
    script = Script(source)
    if script.root.has_error:
        raise syntax_problem(script)
    statement, literal = _meta(script)
    meta, warnings = meta_of(script, literal)
    problem = forbidden(script, statement)
    if problem is not None:
        raise problem
    return Checked(source, meta, tuple(warnings), _blanked(script, statement))


def _meta(script: Script) -> tuple[SyntaxNode, SyntaxNode]:
    """The statement that says what the script is, and its literal."""
    for statement in script.root.named_children:
        if statement.type == "comment":
            continue
        declaration = statement.child_by_field_name("declaration")
        if statement.type != "export_statement" or declaration is None:
            raise script.problem(statement, BEGINNING)
        declared = [node for node in declaration.named_children if node.type != "comment"]
        first = declaration.children[0]
        if declaration.type != "lexical_declaration" or first.type != "const" or len(declared) != 1:
            raise script.problem(statement, BEGINNING)
        name, value = (declared[0].child_by_field_name(field) for field in ("name", "value"))
        if name is None or script.text(name) != "meta" or value is None or value.type != "object":
            raise script.problem(statement, BEGINNING)
        return statement, value
    raise ScriptProblem(BEGINNING, line=1, column=1)


def _blanked(script: Script, statement: SyntaxNode) -> str:
    """The source with spaces for its meta, which the engine gets as data: lines stay the same."""
    before = script.data[: statement.start_byte].decode("utf-8")
    behind = script.data[statement.end_byte :].decode("utf-8")
    lines = script.text(statement).split("\n")
    return before + "\n".join(" " * len(line) for line in lines) + behind
