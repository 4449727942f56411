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
    "agent/commands/rules/open_folders.py": "completions for the person",
    "agent/commands/memory.py": "a text of ours",
    "agent/commands/plan.py": "the session's own plan",
    "agent/auto/lists.py": "texts of ours",
    "agent/auto/measuring/": "cases and kept answers, which the person measures a model with",
    "agent/auto/request.py": "texts of ours",
    "agent/compact/summary.py": "a text of ours",
    "agent/context/prompt/system.py": "texts of ours",
    "agent/context/prompt/approvals.py": "our own state",
    "agent/context/prompt/output_style.py": "texts of ours",
    "agent/context/prompt/environment.py": "the name of git's branch",
    "agent/frontends/acp/": "shows the person the files of a change, and keeps their own log",
    "agent/launch/bug_report.py": "our own log, for the person",
    "agent/launch/defect_log.py": "our own log",
    "agent/launch/log.py": "our own log",
    "agent/launch/main.py": "where nothing is kept, for what nobody reads any more",
    "agent/autonomy/memory/": "our own notes of sessions; of files only whether they have a name",
    "agent/autonomy/schedules/": "our own files of schedules",
    "agent/autonomy/running/": "our own records, logs and sockets of sessions in the background",
    "agent/autonomy/project/": "a list at one place, to which no link leads, and git's own index",
    "agent/workflows/engine/worker.py": "the prelude, a text of ours",
    "agent/workflows/script/tree.py": "walks the tree of a text",
    "agent/context/instruction_files.py": "adds a line of the person and reads nothing",
    "agent/session/history_actions.py": "what the person exports",
    "agent/hooks/transcripts.py": "writes a file of our own",
    "agent/hooks/shown/checks.py": "the first line of the person's own scripts, for the person",
    "agent/launch/flags.py": "a table of ours",
    "agent/servers/": "which servers are written down and approved, which no model sees",
    "agent/agents/agent_specs.py": "texts of ours",
    "agent/agents/telling.py": "a text of ours",
    "agent/agents/copied.py": "our own files of agents, for a fork of the session",
    "agent/agents/lineage.py": "our own file of the session",
    "agent/extensions/servers/group_memory.py": "what the kernel says of a server's processes",
    "agent/agents/agent_memory.py": "asks the port, but for what is the agent's in our own home",
    "agent/extensions/worktrees.py": "starts a session in a work tree, and opens no file",
    "agent/worktrees/": "copies, counts and removes files of work trees, and shows a model none",
    "agent/plugins/": "what is installed, for the person who is asked about it, and our own store",
    "agent/extensions/plugins/plugin_news.py": "a mark of our own",
    "agent/extensions/skills/learning/draft_panel.py": "shows the person what a draft changes",
    "agent/extensions/skills/learning/drafts.py": "our own drafts, which the person keeps or not",
    "agent/extensions/skills/skills_command.py": "what the person edits",
    "agent/workflows/saved/": "scripts, which the person is asked about and a model may write",
    "agent/workflows/tool_spec.py": "texts of ours",
    "agent/workflows/runs/journal.py": "our own files of runs",
    "agent/workflows/runs/looked_up.py": "our own files of runs",
    "agent/workflows/runs/past.py": "our own files of runs, and hashes of what their agents wrote",
    "agent/teams/": "our own files of teams",
    "agent/extensions/lsp/lsp_extension.py": "which kinds of files there are, by their names",
    "agent/extensions/lsp/lsp_tool.py": "tells a server of a file, and opens none",
    "agent/lsp/languages.py": "tells a server of a file, and opens none",
    "agent/lsp/findings/hearing.py": "tells a server of a file, and opens none",
    "agent/lsp/running/server.py": "tells a server of a file, and opens none",
    "agent/lsp/watching/walked.py": "names and stamps of files for a server, and opens none",
    "agent/lsp/texts.py": "the text that a server gets, of which a model hears findings",
    "agent/lsp/questions/renaming.py": "asks who may read it; the change is judged as an edit",
    "agent/lsp/running/process_memory.py": "what the kernel says of a server's processes",
    "agent/lsp/running/server_book.py": "the version of the project's own compiler",
    "agent/agents/definitions/": "texts of ours, and what the person or a project says of agents",
    "agent/launch/screens.py": "opens sessions, and no file",
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
        for line, name in _readings(source)
    ]


def _readings(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.of(ast.Call):
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


# Rooms whose files are read at the start, or when a session is looked for: a FIFO must not hold it.
_EARLY = ("agent/settings/", "agent/providers/", "agent/transcript/")
PACKAGED: dict[str, str] = {
    "agent/providers/presets.py": "data of the package",
    "agent/providers/catalog.py": "data of the package",
}
_WHOLE = frozenset({"read_text", "read_bytes"})


def blind_openers(sources: Sequence[Source]) -> list[str]:
    """Opened without a look at what it is, a FIFO waits for ever: `tools/system/regular.py`."""
    return [
        f"{source.path}:{line} {name}: open_regular, read_regular or head_of"
        for source in sources
        if source.path.startswith(_EARLY) and source.path not in PACKAGED
        for line, name in _blind(source)
    ]


def _blind(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.of(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in _WHOLE:
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="open")):
                words = ast.unparse(node)
                if "O_RDONLY" in words and "O_NONBLOCK" not in words:
                    yield node.lineno, "os.open"
            case ast.Call(func=ast.Attribute(attr="open") | ast.Name(id="open")) if _reads(node):
                yield node.lineno, "open"
            case _:
                pass


def _reads(node: ast.Call) -> bool:
    """A mode that only reads, or none: both calls take it first or second."""
    named = [keyword.value for keyword in node.keywords if keyword.arg == "mode"]
    place = 1 if isinstance(node.func, ast.Name) else 0
    modes = [*named, *node.args[place : place + 1]]
    return not any(
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and set(mode.value) & set("wax+")
        for mode in modes
    ) and not any(isinstance(mode, ast.Name) for mode in modes)
