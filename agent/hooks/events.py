"""Every event that a hook may hear of: what its matcher is about, who may handle it, how.

One row each; nothing else compares an event by its name.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["command", "http", "mcp_tool", "prompt", "agent", "callback"]
# What exit 2 and `decision: block` lead to: a refusal, nothing but a line for the person, nothing.
Block: TypeAlias = Literal["refuses", "shown", "nothing"]
# How plain text on stdout is taken: as context for the model, or not at all.
CONTEXT = "additionalContext"

_S: tuple[Kind, ...] = ("command", "mcp_tool", "callback")
_C: tuple[Kind, ...] = ("command", "http", "mcp_tool", "callback")
_A: tuple[Kind, ...] = ("command", "http", "mcp_tool", "prompt", "agent", "callback")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """`matches` is the field of the input that a matcher is about; `answers` the parts that count.

    `tool`: it is about a call, so `if` can be judged. `names`: a matcher of names is split at `|`
    alone. `known`: what the field can be, where that is a closed list.
    """

    matches: str = ""
    kinds: tuple[Kind, ...] = _C
    answers: frozenset[str] = frozenset()
    block: Block = "nothing"
    plain: bool = False  # plain text on stdout is context
    tool: bool = False
    names: bool = False
    known: tuple[str, ...] = ()
    timeout: float = 0.0  # its own, in place of the kind's
    strict: bool = False  # `hooksStrict` is about it


def _row(matches: str = "", *answers: str, **more: Any) -> Row:
    return Row(matches=matches, answers=frozenset(answers), **more)


_TRIGGER = ("manual", "auto")
_ERRORS = (
    "rate_limit", "overloaded", "authentication_failed", "billing_error", "invalid_request",
    "model_not_found", "server_error", "max_output_tokens", "unknown",
)  # fmt: skip
_NOTES = (
    "permission_prompt", "idle_prompt", "agent_needs_input", "agent_completed", "auth_success",
    "elicitation_dialog", "elicitation_complete", "elicitation_response", "diagnostics",
)  # fmt: skip
_DECIDES = ("permissionDecision", "permissionDecisionReason", "updatedInput")
_OUTPUTS = ("updatedToolOutput", "updatedMCPToolOutput", "classifierContext")

# The public names of the layers of settings.
LAYERS = {
    "user": "user_settings", "project": "project_settings", "local": "local_settings",
    "flag": "flag_settings", "managed": "policy_settings",
}  # fmt: skip

EVENTS: dict[str, Row] = {
    "SessionStart": _row(
        "source", CONTEXT, "initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills",
        kinds=_S, block="shown", plain=True,
        known=("startup", "resume", "clear", "compact", "fork"),
    ),
    "Setup": _row("trigger", CONTEXT, kinds=_S, block="shown", known=("init", "maintenance")),
    "SessionEnd": _row(
        "reason", block="shown", known=("clear", "resume", "logout", "prompt_input_exit", "other")
    ),
    "UserPromptSubmit": _row(
        "", CONTEXT, "sessionTitle", "suppressOriginalPrompt",
        kinds=_A, block="refuses", plain=True, timeout=30.0, strict=True,
    ),
    "UserPromptExpansion": _row("command_name", CONTEXT, kinds=_A, block="refuses"),
    "MessageDisplay": _row("", "displayContent", timeout=10.0),
    "PreToolUse": _row(
        "tool_name", CONTEXT, *_DECIDES, kinds=_A, block="refuses", tool=True, strict=True
    ),
    "PermissionRequest": _row("tool_name", "decision", kinds=_A, tool=True, strict=True),
    "PermissionDenied": _row("tool_name", "retry", kinds=_A, tool=True),
    "PostToolUse": _row(
        "tool_name", CONTEXT, *_OUTPUTS, kinds=_A, block="refuses", tool=True
    ),
    "PostToolUseFailure": _row("tool_name", CONTEXT, kinds=_A, block="refuses", tool=True),
    "PostToolBatch": _row("", CONTEXT, kinds=_A, block="refuses"),
    "Notification": _row("notification_type", known=_NOTES),
    "SubagentStart": _row("agent_type", CONTEXT, block="shown"),
    "SubagentStop": _row("agent_type", CONTEXT, kinds=_A, block="refuses"),
    "Stop": _row("", CONTEXT, kinds=_A, block="refuses"),
    "StopFailure": _row("error", names=True, known=_ERRORS),
    "TeammateIdle": _row("", kinds=_A, block="refuses"),
    "TaskCreated": _row("", kinds=_A, block="refuses"),
    "TaskCompleted": _row("", kinds=_A, block="refuses"),
    "PreCompact": _row("trigger", block="refuses", plain=True, known=_TRIGGER),
    "PostCompact": _row("trigger", block="shown", known=_TRIGGER),
    "InstructionsLoaded": _row(
        "load_reason",
        known=("session_start", "nested_traversal", "path_glob_match", "include", "compact"),
    ),
    "ConfigChange": _row("source", block="refuses", known=tuple(LAYERS.values())),
    "CwdChanged": _row("", "watchPaths", block="shown"),
    "DirectoryAdded": _row("source", known=("slash_command", "register_repo_root")),
    "FileChanged": _row("file_path", "watchPaths", block="shown", names=True),
    "WorktreeCreate": _row("", "worktreePath", block="refuses"),
    "WorktreeRemove": _row(""),
    "Elicitation": _row("mcp_server_name", "action", "content", block="refuses"),
    "ElicitationResult": _row("mcp_server_name", "action", "content", block="refuses"),
    "PreModelSwitch": _row("", *_DECIDES[:2], block="refuses"),
    "PostModelSwitch": _row("", CONTEXT),
}  # fmt: skip

TIMEOUTS: dict[Kind, float] = {
    "command": 600.0, "http": 600.0, "mcp_tool": 600.0, "prompt": 30.0, "agent": 60.0,
    "callback": 60.0,
}  # fmt: skip
END_BUDGET, END_MOST = 1.5, 60.0  # of all handlers of SessionEnd together
ENDING, FILE_CHANGED = "SessionEnd", "FileChanged"
TURN_ENDS = frozenset({"Stop", "SubagentStop"})
SHARED_FILE = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})  # CLAUDE_ENV_FILE
ALIASES = {"task": "agent"}
