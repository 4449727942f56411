"""The environment commands run in: no pagers, prompts or colours, and no secrets by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "GATEWRIGHT": "1",
}
_SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|SECRET|SECRETS|SECRET_KEY|SECRET_ACCESS_KEY|TOKEN|AUTH_TOKEN|PASSWORD"
    r"|PASSWD|PASSPHRASE|PAT|CREDENTIALS?|PRIVATE_KEY|ACCESS_KEY|SESSION_TOKEN|ENCRYPTION_KEY)$",
    re.IGNORECASE,
)
# What a shell runs first, or what makes a judged command mean something else (cd by CDPATH).
_SHELL_CODE = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4"}) | {
    "CDPATH",
    "GLOBIGNORE",
    "EXECIGNORE",
    "BASH_XTRACEFD",
}

KEEP = "GATEWRIGHT_KEEP_ENV"  # names, separated by commas, of secrets that commands may have


def child_environment(base: Mapping[str, str]) -> dict[str, str]:
    """What a command sees of `base`: without secrets and without code a shell would run first."""
    keep = {name.strip() for name in base.get(KEEP, "").split(",")}
    kept = {
        name: value
        for name, value in base.items()
        if name in keep or not (_SECRET.search(name) or name in _SHELL_CODE or _function(name))
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
