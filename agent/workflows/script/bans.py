"""What no script may use, found in its text: other code, chance, the time, and what is not there.

It is for the message before anything runs, with a place. What hides from it is not there in the
engine either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatewright.agent.agents.definitions.fields import nearest
from gatewright.agent.workflows.script.checked import ScriptProblem
from gatewright.agent.workflows.script.tree import Script

if TYPE_CHECKING:
    from gatewright.agent.workflows.script.tree import SyntaxNode

SAME = "a script does the same again when it is resumed"
ARGS = f"{SAME}, so pass it in args"
WHOLE = "a script is one file and loads no other code: let an agent do what needs more"
EXPORTS = "meta alone is exported: what the script returns is its result"

_TIMERS = ("setTimeout", "setInterval", "setImmediate")
_ANY: dict[str, str] = {
    **{n: f"`{n}` is not there: a script has no timers, and agents are awaited" for n in _TIMERS},
    "eval": f"`eval` is not there: {SAME}, so write the code itself",
    "performance": f"`performance` is not there: {ARGS}",
    "WeakRef": f"`WeakRef` is not there: {SAME}",
    "FinalizationRegistry": f"`FinalizationRegistry` is not there: {SAME}",
    "Atomics": "`Atomics` is not there: a script has one thread",
    "SharedArrayBuffer": "`SharedArrayBuffer` is not there: a script has one thread",
    "crypto": f"`crypto` is not there: {ARGS}",
    "process": "`process` is not there: pass what it would say in args",
    "Buffer": "`Buffer` is not there: use a Uint8Array, or texts",
    "fetch": "`fetch` is not there: let an agent read it",
    "XMLHttpRequest": "`XMLHttpRequest` is not there: let an agent read it",
    "WebAssembly": "`WebAssembly` is not there: let an agent run it",
    "Intl": "`Intl` is not there: format by hand, or let an agent write it",
    "__dirname": "`__dirname` is not there: pass paths in args",
    "__filename": "`__filename` is not there: pass paths in args",
}
_CALLED: dict[str, str] = {
    "Date": f"`Date()` is the time of now: {ARGS}",
    "Function": f"`Function()` is not there: {SAME}, so write the code itself",
    "require": f"`require` is not there: {WHOLE}",
}
_MEMBERS: dict[tuple[str, str], str] = {
    ("Date", "now"): f"`Date.now()` is not there: {ARGS}",
    ("Math", "random"): f"`Math.random()` is not there: {SAME}, so pass a seed in args",
}
_WATCHED = frozenset({*_ANY, *_CALLED, "Math", "agent"})
_OPTIONS = (
    "label", "phase", "schema", "model", "effort", "agentType", "tools", "disallowedTools",
    "maxTurns", "isolation", "mode", "timeoutMinutes", "retries", "onError", "detail", "fresh",
)  # fmt: skip
_NAMES = frozenset(
    {"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"}
)
_BINDING = frozenset(
    {
        "formal_parameters", "function_declaration", "generator_function_declaration",
        "class_declaration", "array_pattern", "rest_pattern", "pair_pattern", "function_expression",
    }
)  # fmt: skip


def forbidden(script: Script, meta: SyntaxNode) -> ScriptProblem | None:
    """The first such use in the text; names that the script declares are its own."""
    found: list[tuple[SyntaxNode, str]] = []
    own: set[str] = set()
    for node in script.nodes():
        match node.type:
            case "import_statement" | "import":
                found.append((node, f"`import`: {WHOLE}"))
            case "export_statement" if node != meta:
                found.append((node, EXPORTS))
            case "meta_property" if script.text(node).startswith("import"):
                found.append((node, f"`import.meta`: {WHOLE}"))
            case kind if kind in _NAMES and (name := script.text(node)) in _WATCHED:
                if _binds(node) or _asked(node):
                    own.add(name)
                else:
                    found.append((node, ""))
            case _:
                pass
    for node, words in found:
        if words:
            return script.problem(node, f"{words}.")
        name = script.text(node)
        if name not in own and (told := _words(script, node, name)):
            return script.problem(*told)
    return None


def _binds(node: SyntaxNode) -> bool:
    """Whether the name is declared here."""
    parent = node.parent
    if node.type == "shorthand_property_identifier_pattern" or parent is None:
        return True
    match parent.type:
        case "variable_declarator":
            return parent.child_by_field_name("name") == node
        case "catch_clause" | "arrow_function":
            return parent.child_by_field_name("parameter") == node
        case "assignment_pattern" | "for_in_statement":
            return parent.child_by_field_name("left") == node
        case _:
            return parent.type in _BINDING


def _asked(node: SyntaxNode) -> bool:
    """`typeof fetch`: who asks whether it is there knows that it may not be."""
    parent = node.parent
    return (
        parent is not None
        and parent.type == "unary_expression"
        and parent.children[0].type == "typeof"
    )


def _words(script: Script, node: SyntaxNode, name: str) -> tuple[SyntaxNode, str] | None:
    """What is wrong with this use of the name, and where."""
    if name in _ANY:
        return node, f"{_ANY[name]}."
    parent = node.parent
    assert parent is not None
    called = parent.type == "call_expression" and parent.child_by_field_name("function") == node
    made = parent.type == "new_expression" and parent.child_by_field_name("constructor") == node
    if called and name == "agent":
        return _unknown_option(script, parent)
    if name == "Date" and made and not _arguments(parent):
        return parent, f"`new Date()` without an argument is the time of now: {ARGS}."
    if name in _CALLED and (called or (made and name == "Function")):
        return parent, f"{_CALLED[name]}."
    if parent.type in ("member_expression", "subscript_expression"):
        field = "property" if parent.type == "member_expression" else "index"
        member = parent.child_by_field_name(field)
        if member is not None and parent.child_by_field_name("object") == node:
            words = _MEMBERS.get((name, script.text(member).strip("\"'`")))
            return (parent, f"{words}.") if words else None
    return None


def _arguments(call: SyntaxNode) -> list[SyntaxNode]:
    given = call.child_by_field_name("arguments")
    return [] if given is None else [n for n in given.named_children if n.type != "comment"]


def _unknown_option(script: Script, call: SyntaxNode) -> tuple[SyntaxNode, str] | None:
    given = _arguments(call)
    if len(given) < 2 or given[1].type != "object":
        return None
    for pair in given[1].named_children:
        key = pair.child_by_field_name("key") if pair.type == "pair" else pair
        if key is None or key.type not in ("property_identifier", "shorthand_property_identifier"):
            continue
        name = script.text(key)
        if name not in _OPTIONS:
            near = nearest(name, _OPTIONS)
            meant = f": did you mean `{near}`?" if near else f": it has {', '.join(_OPTIONS)}."
            return key, f"agent() has no option `{name[:60]}`{meant}"
    return None
