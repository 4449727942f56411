"""Where things live: no crowded folder, names that are told apart, one way to publish."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.guards.sources import Source

CROWDED = 20
TWICE = 2


def crowded_folders(sources: Sequence[Source]) -> list[str]:
    """More than about twenty files side by side are not looked through any more."""
    count = Counter(
        source.path.rpartition("/")[0] for source in sources if source.folder != "tests"
    )
    return [
        f"{folder} holds {n} files: give them rooms" for folder, n in count.items() if n > CROWDED
    ]


def repeated_names(sources: Sequence[Source]) -> list[str]:
    """In agent/ a file's name says what it is, wherever one meets it."""
    names = Counter(
        source.path.rpartition("/")[2] for source in sources if source.path.startswith("agent/")
    )
    return [f"{name} is there {n} times in agent/" for name, n in names.items() if n > TWICE]


def publishers(sources: Sequence[Source]) -> list[str]:
    """Only the journal hands events to hubs, or makes one."""
    return [found for source in sources for found in _publishers(source)]


def _publishers(source: Source) -> Iterator[str]:
    if source.path == "agent/record/journal.py" or source.folder == "tests":
        return
    for node in source.of(ast.Call):
        match node:
            case ast.Call(func=ast.Name(id="Hub")):
                yield f"{source.path}:{node.lineno} makes a hub: ask the journal for one"
            case ast.Call(func=ast.Attribute(attr="take" | "overhear", value=value)) if (
                "hub" in ast.unparse(value)
            ):
                yield f"{source.path}:{node.lineno} calls a hub: publish through the journal"
            case _:
                pass


def main_agents(sources: Sequence[Source]) -> list[str]:
    """The path of the main agent is one constant."""
    return [found for source in sources for found in _main_agents(source)]


def _main_agents(source: Source) -> Iterator[str]:
    if source.folder == "tests" or source.path == "tools/access.py":
        return
    for node in source.of(ast.Compare, ast.keyword, ast.AnnAssign):
        match node:
            case ast.Compare(comparators=[ast.Constant(value="main")]) if "agent" in ast.unparse(
                node.left
            ):
                yield f"{source.path}:{node.lineno} spells the main agent: use MAIN"
            case ast.keyword(arg="agent", value=ast.Constant(value="main")):
                yield f"{source.path}:{node.value.lineno} spells the main agent: use MAIN"
            case ast.AnnAssign(target=ast.Name(id="agent"), value=ast.Constant(value="main")):
                yield f"{source.path}:{node.lineno} spells the main agent: use MAIN"
            case _:
                pass
