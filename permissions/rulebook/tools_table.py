"""Which rules are about which tool, and how their specifiers read: all that a name decides.

What a call does is known by the facts it declared (`aspects.py`); one that declared none asks,
whatever its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Family: TypeAlias = Literal[
    "read", "edit", "shell", "web", "search", "mcp", "agent", "skill", "slash", "human", "free",
    "workflow", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToolRow:
    """`field` is the input a rule's specifier is about; `fields` are those `Tool(param:value)`
    may name; `coordination` tools are what delegate mode leaves to the main agent."""

    family: Family
    field: str = ""
    fields: tuple[str, ...] = ()
    coordination: bool = False
    globs: bool = False  # its "pattern" starts in directories of its own


TOOLS: Mapping[str, ToolRow] = {
    "Read": ToolRow("read", "file_path", ("offset", "limit", "pages")),
    "NotebookRead": ToolRow("read", "notebook_path", ("cell_id",)),
    "Grep": ToolRow(
        "read",
        "path",
        ("pattern", "glob", "type", "output_mode", "multiline", "head_limit", "offset"),
    ),
    "Glob": ToolRow("read", "path", ("pattern",), globs=True),
    "LSP": ToolRow("read", "file_path", ("operation", "line", "character", "query")),
    "Edit": ToolRow("edit", "file_path", ("old_string", "new_string", "replace_all")),
    "Write": ToolRow("edit", "file_path", ("content",)),
    "MultiEdit": ToolRow("edit", "file_path", ("edits",)),
    "NotebookEdit": ToolRow(
        "edit", "notebook_path", ("cell_id", "new_source", "cell_type", "edit_mode")
    ),
    "Bash": ToolRow("shell", "command"),
    "Monitor": ToolRow("shell", "command"),
    "WebFetch": ToolRow("web", "url", ("prompt",)),
    "WebSearch": ToolRow("search", "query", ("query", "allowed_domains", "blocked_domains")),
    "Agent": ToolRow(
        "agent",
        "subagent_type",
        ("prompt", "description", "model", "run_in_background", "name", "isolation", "mode"),
        coordination=True,
    ),
    "Skill": ToolRow("skill", "skill", ("args", "arguments")),
    "SlashCommand": ToolRow("slash", "command"),
    "AskUserQuestion": ToolRow("human", "", ("questions",), coordination=True),
    "ExitPlanMode": ToolRow("human", "", ("plan",), coordination=True),
    "EnterPlanMode": ToolRow("free", coordination=True),
    "TodoWrite": ToolRow("free", "", ("todos",), coordination=True),
    "TodoRead": ToolRow("free", coordination=True),
    "TaskCreate": ToolRow("free", coordination=True),
    "TaskUpdate": ToolRow("free", coordination=True),
    "TaskList": ToolRow("free", coordination=True),
    "TaskGet": ToolRow("free", coordination=True),
    "TaskOutput": ToolRow("free", "", ("task_id", "block", "timeout"), coordination=True),
    "TaskStop": ToolRow("free", "", ("task_id",), coordination=True),
    "SendMessage": ToolRow("free", "", ("to", "message"), coordination=True),
    "ToolSearch": ToolRow("free", "", ("query",), coordination=True),
    "ListMcpResources": ToolRow("free", "", ("server",)),
    "WaitForMcpServers": ToolRow("free"),
    "Workflow": ToolRow("workflow", "", ("name", "script", "scriptPath", "args")),
}

ALIASES: Mapping[str, str] = {
    "task": "Agent", "bashoutput": "TaskOutput", "agentoutput": "TaskOutput",
    "killshell": "TaskStop", "killbash": "TaskStop",
}  # fmt: skip
_BY_FOLDED: Mapping[str, str] = {**{name.lower(): name for name in TOOLS}, **ALIASES}

_OTHER = ToolRow("other")
_MCP = ToolRow("mcp")

# A rule for the tool on the left also covers the tools on the right.
COVERS: Mapping[str, frozenset[str]] = {
    "Edit": frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"}),
    "Read": frozenset({"Read", "NotebookRead", "Grep", "Glob", "LSP"}),
    "Bash": frozenset({"Bash", "Monitor"}),
}


def canonical(name: str) -> str:
    """The tool's own spelling; an unknown name stays as it is."""
    return _BY_FOLDED.get(name.lower(), name)


def row(name: str) -> ToolRow:
    found = TOOLS.get(name)
    if found is not None:
        return found
    return _MCP if is_mcp(name) else _OTHER


def is_mcp(name: str) -> bool:
    return mcp_parts(name) is not None


def mcp_parts(name: str) -> tuple[str, str] | None:
    """Server and tool of `mcp__server__tool`; the server's name holds no double underscore."""
    if not name.lower().startswith("mcp__"):
        return None
    server, separator, tool = name[5:].partition("__")
    return (server, tool) if separator and server and tool else None
