"""Who in the core may open files by itself: nobody who reads on the model's behalf."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.guards.sources import Source

PORT = "agent/context/readable.py"

# Files of our own, of the person, or shown to nobody but the person: place -> why.
OWN: dict[str, str] = {
    PORT: "the port itself",
    "agent/transcript/": "our own files of sessions",
    "agent/history/": "files as they were, for going back and for the person's eyes",
    "agent/settings/": "settings, which no model sees",
    "agent/providers/": "our own data, keys, and certificates",
    "agent/subcommands/": "the person's own start, and no model",
    "agent/commands/config.py": "opens a directory to the session, and no file",
    "agent/commands/open_folders.py": "completions for the person",
    "agent/commands/memory.py": "a text of ours",
    "agent/commands/plan.py": "the session's own plan",
    "agent/compact/summary.py": "a text of ours",
    "agent/context/prompt/system.py": "texts of ours",
    "agent/context/prompt/approvals.py": "our own state",
    "agent/context/prompt/environment.py": "the name of git's branch",
    "agent/launch/bug_report.py": "our own log, for the person",
    "agent/launch/defect_log.py": "our own log",
    "agent/launch/log.py": "our own log",
    "agent/context/instruction_files.py": "adds a line of the person and reads nothing",
    "agent/session/history_actions.py": "what the person exports",
    "agent/launch/starting.py": "standard streams, and the file of a flag",
}
_READING = frozenset(
    {"open", "fdopen", "read_text", "read_bytes", "iterdir", "scandir", "listdir", "walk"}
    | {"open_regular", "read_regular", "head_of", "open_exact", "open_directory"}
)
_PORTS = frozenset({"readable", "_readable"})


def unjudged_readers(sources: Sequence[Source]) -> list[str]:
    """A file reaches a model through `agent/context/readable.py` only: take the port and ask it."""
    return [
        f"{source.path}:{line} {name}: take a Readable, or say in {__name__} whose file it is"
        for source in sources
        if source.folder == "agent" and not source.path.startswith(tuple(OWN))
        for line, name in _readings(source.tree)
    ]


def _readings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) if name in _READING:
                yield node.lineno, name
            case ast.Attribute(value=of, attr=name) if name in _READING and not _port(of):
                yield node.lineno, name
            case _:
                pass


def _port(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _PORTS
        case _:
            return False
