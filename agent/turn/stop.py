"""Why a turn ended."""

from __future__ import annotations

import enum


class Stop(enum.StrEnum):
    COMPLETED = "completed"
    MAX_TURNS = "max_turns"
    BUDGET_EXHAUSTED = "budget_exhausted"
    ABORTED_STREAMING = "aborted_streaming"
    ABORTED_TOOLS = "aborted_tools"
    USER_REFUSED = "user_refused"
    HOOK_STOPPED = "hook_stopped"
    AUTO_DENIED = "auto_denied"
    TOOL_DEFERRED = "tool_deferred"
    TOOL_DEFERRED_UNAVAILABLE = "tool_deferred_unavailable"
    PROMPT_TOO_LONG = "prompt_too_long"
    MODEL_ERROR = "model_error"
    PROVIDER_AUTH = "provider_auth"
    LOOP_GUARD = "loop_guard"
    MALFORMED_TOOL_USE = "malformed_tool_use"
