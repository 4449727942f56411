"""The flags of a command line that are settings, in the form of a settings file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.models.effort import effort_within

MODEL_ENV = "GATEWRIGHT_MODEL"  # as --model, where that is not given


def from_flags(options: LaunchOptions, env: Mapping[str, str]) -> dict[str, Any]:
    """The flags that are settings, in the form of a settings file."""
    permissions: dict[str, Any] = {
        "allow": list(options.allowed_tools),
        "deny": list(options.disallowed_tools),
        "additionalDirectories": list(options.add_dirs),
        "defaultMode": options.mode,
    }
    values: dict[str, Any] = {
        "model": options.model or env.get(MODEL_ENV, ""),
        "fallbackModels": [m.strip() for m in options.fallback_model.split(",") if m.strip()],
        "effort": effort_of(options),
        "maxTurns": options.max_turns,
        "maxBudgetUsd": options.max_budget_usd,
        "permissions": {key: value for key, value in permissions.items() if value},
    }
    return {key: value for key, value in values.items() if value}


def effort_of(options: LaunchOptions) -> str:
    """What --effort says about it, or else other flags."""
    if options.effort:
        return options.effort
    if options.thinking == "disabled":
        return "none"
    tokens = options.max_thinking_tokens
    return "" if tokens is None else effort_within(tokens)
