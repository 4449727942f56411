"""Which modules start programs, and that each is named by its path; git has one module."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.guards.sources import Source

GIT = "tools/system/git.py"
PROGRAMS = "tools/system/programs.py"

# Every module that starts programs by itself: file -> what, and why not by the one way.
STARTERS: dict[str, str] = {
    "tools/system/processes.py": "the one way: whatever anybody asks for",
    GIT: "git, from threads and before there is a loop",
    "tools/search/rg.py": "the version of a ripgrep, once, where no loop need run",
    "permissions/sandbox/running/foreground.py": "`agent sandbox run`: it has the terminal",
    "permissions/sandbox/linux/inside.py": "the confined command, in place of the launcher",
    "permissions/sandbox/running/janitor.py": "who cleans up when we are killed: it outlives us",
    "permissions/sandbox/ourselves.py": "the sandbox, once, from a thread, to see that it works",
    "permissions/sandbox/probe.py": "the sandbox, once, from a thread, to see that it works",
    "skills/builtin/skill-creator/scripts/compare.py": "a program of its own: it has no us",
    "agent/autonomy/running/start_background.py": "a session that outlives us, in no group",
    "agent/subcommands/schedule/schedule_group.py": "the system's scheduler, after a yes",
    "tui/prompt/editor.py": "the person's own editor: it has the terminal",
}

_STARTS = {
    "run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput",
    "create_subprocess_exec", "create_subprocess_shell", "SpawnRequest", "system", "popen",
    "posix_spawn", "posix_spawnp", "execv", "execve", "execvp", "execvpe", "execl", "execlp",
    "spawnv", "spawnvp", "spawnl", "spawnlp", "startfile", "fork_exec",
}  # fmt: skip
_SHELLS = {"create_subprocess_shell", "system", "popen", "getoutput", "getstatusoutput"}
_ALWAYS = {name for name in _STARTS if name not in {"run", "call", "system", "popen"}}


def starts_elsewhere(sources: Sequence[Source]) -> list[str]:
    """Programs are started from a few modules, so that each start can be looked at."""
    return [
        f"{source.path}:{node.lineno} starts a program: take a port, or list it in tests/guards"
        for source in sources
        for name, node in _starts(source)
        if source.path not in STARTERS and name != "SpawnRequest"
    ]


def bare_names(sources: Sequence[Source]) -> list[str]:
    """A name without a path is looked for in PATH, where a project may have put its own."""
    found = [
        f"{source.path}:{node.lineno} starts {first!r} by its name: programs.find says where it is"
        for source in sources
        for _, node in _starts(source)
        if (first := _first(node)) and "/" not in first
    ]
    found += [
        f"{source.path}:{node.lineno} runs a shell line: name a program and its arguments"
        for source in sources
        for name, node in _starts(source)
        if name in _SHELLS
    ]
    return found


def other_finders(sources: Sequence[Source]) -> list[str]:
    """`which` takes what a project put into PATH: programs.find does not."""
    return [
        f"{source.path}:{node.lineno} looks for a program with which: say programs.find"
        for source in sources
        for node in source.nodes
        if (isinstance(node, ast.Attribute) and node.attr == "which")
        or (isinstance(node, ast.ImportFrom) and any(a.name == "which" for a in node.names))
    ]


def other_gits(sources: Sequence[Source]) -> list[str]:
    """git is started in one module, which knows how nothing of a repository runs in it."""
    return [
        f"{source.path}:{node.lineno} names git to start it: say {GIT}"
        for source in sources
        if source.path != GIT
        for node in source.of(ast.Call)
        if _about_git(source, node)
    ]


def _about_git(source: Source, node: ast.Call) -> bool:
    name = _name(node.func)
    if name in ("find", "candidates", "which") and source.path != PROGRAMS:
        return any(isinstance(a, ast.Constant) and a.value == "git" for a in node.args[:1])
    return name in _STARTS and _first(node).rpartition("/")[2] == "git"


def _starts(source: Source) -> Iterator[tuple[str, ast.Call]]:
    for node in source.of(ast.Call):
        if (name := _name(node.func)) in _STARTS:
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            of_module = isinstance(owner, ast.Name) and owner.id in {"subprocess", "os"}
            if name in _ALWAYS or of_module:
                yield name, node


def _name(function: ast.expr) -> str:
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _first(node: ast.Call) -> str:
    """The program, where it stands there as text."""
    given = [k.value for k in node.keywords if k.arg in ("argv", "args")] or node.args
    first: ast.expr | None = given[0] if given else None
    while isinstance(first, ast.Starred | ast.Tuple | ast.List):
        if isinstance(first, ast.Starred):
            first = first.value
        else:
            first = first.elts[0] if first.elts else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
