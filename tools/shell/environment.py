"""The environment commands run in: no pagers, prompts or colours, and no secrets."""

from __future__ import annotations

from collections.abc import Mapping

from gatewright.tools.system.secrets import Secrets

_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "GATEWRIGHT": "1",
}
# What a shell runs first, or what makes a judged command mean something else (cd by CDPATH).
_SHELL_CODE = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4"}) | {
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "BASH_XTRACEFD",
}


def child_environment(base: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    """What a command sees of `base`: without secrets and without code a shell would run first."""
    kept = {
        name: value
        for name, value in secrets.given(base).items()
        if not (name in _SHELL_CODE or _function(name))
    }
    return {**kept, **_FIXED, **_safe_git(base)}


def _function(name: str) -> bool:
    return name.startswith("BASH_FUNC_")


def _safe_git(base: Mapping[str, str]) -> dict[str, str]:
    """A repository planted inside the work tree may not bring its own configuration."""
    count = base.get("GIT_CONFIG_COUNT", "0")
    at = int(count) if count.isdecimal() else 0
    return {
        "GIT_CONFIG_COUNT": str(at + 1),
        f"GIT_CONFIG_KEY_{at}": "safe.bareRepository",
        f"GIT_CONFIG_VALUE_{at}": "explicit",
    }
