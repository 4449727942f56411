"""Which rules are about which tool, and how their specifiers read: all that a name decides.

What a call does is known by the facts it declared (`aspects.py`); one that declared none asks,
whatever its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gatewright.tools.access import Row

TOOLS: Mapping[str, Row] = {
    "Read": Row("read", "file_path", ("offset", "limit", "pages")),
    "NotebookRead": Row("read", "notebook_path", ("cell_id",)),
    "Grep": Row(
        "read",
        "path",
        ("pattern", "glob", "type", "output_mode", "multiline", "head_limit", "offset"),
    ),
    "Glob": Row("read", "path", ("pattern",), globs=True),
    "LSP": Row(
        "read",
        "filePath",
        ("operation", "line", "character", "symbol", "query", "newName", "plan"),
    ),
    "Edit": Row("edit", "file_path", ("old_string", "new_string", "replace_all")),
    "Write": Row("edit", "file_path", ("content",)),
    "MultiEdit": Row("edit", "file_path", ("edits",)),
    "NotebookEdit": Row(
        "edit", "notebook_path", ("cell_id", "new_source", "cell_type", "edit_mode")
    ),
    "Bash": Row("shell", "command"),
    "Monitor": Row("shell", "command"),
    "WebFetch": Row("web", "url", ("prompt",)),
    "WebSearch": Row("search", "query", ("query", "allowed_domains", "blocked_domains")),
    "Agent": Row(
        "agent",
        "subagent_type",
        ("prompt", "description", "model", "run_in_background", "name", "isolation", "mode"),
        coordination=True,
    ),
    "Skill": Row("skill", "skill", ("args", "arguments")),
    "SlashCommand": Row("slash", "command"),
    "AskUserQuestion": Row("human", "", ("questions",), coordination=True),
    "ExitPlanMode": Row("human", "", ("plan",), coordination=True),
    "EnterPlanMode": Row("free", coordination=True),
    "TodoWrite": Row("free", "", ("todos",), coordination=True),
    "TodoRead": Row("free", coordination=True),
    "TaskCreate": Row("free", coordination=True),
    "TaskUpdate": Row("free", coordination=True),
    "TaskList": Row("free", coordination=True),
    "TaskGet": Row("free", coordination=True),
    "TaskOutput": Row("free", "", ("task_id", "block", "timeout"), coordination=True),
    "TaskStop": Row("free", "", ("task_id",), coordination=True),
    "SendMessage": Row("free", "", ("to", "message"), coordination=True),
    "ToolSearch": Row("free", "", ("query",), coordination=True),
    "ListMcpResources": Row("free", "", ("server",)),
    "ReadMcpResource": Row("mcp", "server", ("uri",)),
    "WaitForMcpServers": Row("free"),
    "Workflow": Row("workflow", "", ("name", "script", "scriptPath", "args")),
}

ALIASES: Mapping[str, str] = {
    "task": "Agent", "bashoutput": "TaskOutput", "agentoutput": "TaskOutput",
    "killshell": "TaskStop", "killbash": "TaskStop",
}  # fmt: skip
_BY_FOLDED: dict[str, str] = {**{name.lower(): name for name in TOOLS}, **ALIASES}
_STATED: dict[str, Row] = {}
_OTHER = Row("other")

# A rule for the tool on the left also covers the tools on the right.
COVERS: Mapping[str, frozenset[str]] = {
    "Edit": frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"}),
    "Read": frozenset({"Read", "NotebookRead", "Grep", "Glob", "LSP"}),
    "Bash": frozenset({"Bash", "Monitor"}),
}


def canonical(name: str) -> str:
    """The tool's own spelling; an unknown name stays as it is."""
    return _BY_FOLDED.get(name.lower(), name)


def row(name: str) -> Row:
    """How rules speak of a tool; of one that nobody knows they can only say its name."""
    return TOOLS.get(name) or _STATED.get(name, _OTHER)


def has_row(name: str) -> bool:
    return name in TOOLS or name in _STATED


def stated() -> Iterable[str]:
    return _STATED


def state(name: str, row: Row) -> bool:
    """Take up what a tool that is not built in says of itself; whether that is new.

    Rows are code, the same in every session: no setting, server or file has one to state.
    """
    if has_row(name):
        return False
    _STATED[name] = row
    _BY_FOLDED.setdefault(name.lower(), name)
    return True


def coordinates(tool: str) -> bool:
    """Whether delegate mode leaves it to the main agent."""
    return row(tool).coordination
