"""What is wrong with a script that is no JavaScript, in words with a place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gatewright.agent.workflows.script.checked import ScriptProblem
from gatewright.agent.workflows.script.tree import Script

if TYPE_CHECKING:
    from gatewright.agent.workflows.script.tree import SyntaxNode

TYPESCRIPT = (
    "This looks like TypeScript: scripts are plain JavaScript, so take out types, interfaces, enums"
    " and `as`."
)
_CLOSES = {")": "(", "]": "[", "}": "{"}
_OPENS = {"(": ")", "[": "]", "{": "}", "${": "}"}
_TYPES = re.compile(
    r"""^\s*(?:export\s+|declare\s+)*(?:interface\s+\w+|type\s+\w+[^=]*=|enum\s+\w+|abstract\s+class)
    |[\w)\]}?]\s*:\s*(?:string|number|boolean|any|unknown|void|never|object|null|undefined
        |readonly\b|[A-Z]\w*)(?:\[\]|<[^=;]*>)?\s*(?:[=,;){|&]|=>|$)
    |\b(?:const|let|var)\s+[\[{][^=;]*[\]}]\s*:
    |\b\w+\s+(?:as|satisfies)\s+(?:const|string|number|boolean|any|unknown|[A-Z]\w*|\{|\[)
    |\w!\s*[.;,)\[]
    |(?:\w|=|\()\s*<\s*\w+(?:\s+extends\b[^>]*|\s*,[^>]*)?>\s*\(
    |\b(?:private|public|protected|readonly|implements)\s+\w
    |^\s*import\s+type\b""",
    re.VERBOSE,
)


def syntax_problem(script: Script) -> ScriptProblem:
    """The first thing that does not fit."""
    error = _first_error(script)
    if _typed(script, error):
        return script.problem(error, TYPESCRIPT)
    bracket = _unmatched(script)
    if bracket is not None:
        return bracket
    if error.is_missing:
        name = "a name or a value" if error.type == "identifier" else f"`{error.type}`"
        return script.problem(error, f"Not JavaScript: {name} is missing here.")
    text = " ".join(script.text(error).split())
    if not text:
        return script.problem(error, "Not JavaScript: something is missing here.")
    told = f"`{text[:40]}{'…' if len(text) > 40 else ''}`"
    behind = "" if text[-1].isalnum() else ", or something is missing behind it"
    return script.problem(error, f"Not JavaScript: {told} does not fit here{behind}.")


def _typed(script: Script, error: SyntaxNode) -> bool:
    """Whether what does not fit is a type."""
    line, column = script.place(error)
    text, begin = script.line(line), column - 1
    end = begin + len(script.text(error).partition("\n")[0])
    found = _TYPES.finditer(text) if len(text) < 2000 else ()
    return any(each.start() <= end + 1 and begin <= each.end() for each in found)


def _first_error(script: Script) -> SyntaxNode:
    """The innermost one: what stands around it is in error for its sake."""
    found = script.root
    for node in script.nodes():
        if node.is_missing:
            return node
        if node.is_error:
            if found.is_error and node.start_byte >= found.end_byte:
                break
            found = node
            if not any(child.has_error for child in node.children):
                break
    return found


def _unmatched(script: Script) -> ScriptProblem | None:
    """A bracket without its other: it says more than the place where that was noticed."""
    opened: list[SyntaxNode] = []
    for node in script.nodes():
        if node.child_count or node.is_missing:
            continue
        if node.type in _OPENS:
            opened.append(node)
        elif node.type in _CLOSES:
            if not opened or _OPENS[opened[-1].type] != node.type:
                told = f"closes nothing: its `{_CLOSES[node.type]}` is missing"
                if opened:
                    line, _ = script.place(opened[-1])
                    told = f"stands where the `{opened[-1].type}` of line {line} is still open"
                return script.problem(node, f"Not JavaScript: this `{node.type}` {told}.")
            opened.pop()
    if opened:
        return script.problem(
            opened[-1], f"Not JavaScript: this `{opened[-1].type}` is not closed."
        )
    return None
