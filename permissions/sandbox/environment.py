"""The environment of a sandboxed command: no secrets, no ways to agents outside.

It is cleaned before the launcher starts, because the launcher's own environment can be read inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|APIKEY|SECRETS?|TOKENS?|PASS|PASSWD|PASSWORD|PASSPHRASE|CREDENTIALS?|PAT|AUTH"
    r"|COOKIE|SIGNATURE|CONNECTION_STRING|DSN|JWT|BEARER)(?:$|_)"
    r"|_PWD$|(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|AUTHKEY|PRIVKEY|CREDENTIALS?)$"
    r"|^(?:AWS|AZURE|GOOGLE|GCP|GITHUB|GITLAB|OPENAI|ANTHROPIC|HF|STRIPE|SLACK|TWILIO|VAULT)_"
    r"(?!.*(?:REGION|PROFILE_NAME|WORKSPACE|ACTIONS$))",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@"  # a password in an address
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\b(?:sk|pk|rk)[-_](?:ant|proj|live|test|or)?[-_]?[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_|\bglpat-|\bxox[abprs]-|\bAKIA[0-9A-Z]{12,}"
    r"|\bAIza[0-9A-Za-z_-]{20,}|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.|\bnpm_[A-Za-z0-9]{20,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bpypi-[A-Za-z0-9_-]{20,}"
)
_DOORS: Final = frozenset(
    {
        "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GPG_AGENT_INFO", "GPG_TTY",
        "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST",
        "XAUTHORITY", "WAYLAND_DISPLAY", "DISPLAY", "KRB5CCNAME", "TMUX", "STY",
        "XDG_RUNTIME_DIR", "GIT_ASKPASS", "SUDO_ASKPASS", "VSCODE_GIT_IPC_HANDLE",
        "VSCODE_IPC_HOOK_CLI", "BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4",
    }
)  # fmt: skip
_FINE: Final = frozenset({"NO_PROXY", "no_proxy", "GIT_CONFIG_COUNT", "KEYBOARD_KEY_DELAY"})
_FINE_PREFIX = re.compile(r"^GIT_CONFIG_(?:KEY|VALUE)_\d+$")
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY")


def scrubbed(env: Mapping[str, str], keep: Iterable[str] = ()) -> dict[str, str]:
    """`env` without what looks like a secret, by name or by value; `keep` names exceptions."""
    kept = set(keep)
    return {
        name: value
        for name, value in env.items()
        if name in kept or not (_is_secret(name, value) or _is_door(name))
    }


def _is_secret(name: str, value: str) -> bool:
    if name in _FINE:
        return False
    if _SECRET_NAME.search(name) and not _FINE_PREFIX.match(name):
        return True
    return _SECRET_VALUE.search(value) is not None


def _is_door(name: str) -> bool:
    return name in _DOORS or name.startswith("BASH_FUNC_")


def inside(env: Mapping[str, str], temp: str, proxy: Mapping[str, str] | None) -> dict[str, str]:
    """Where tools put temporary files and caches inside, and how they reach the network.

    Caches of the person are read-only in the sandbox, so that nothing planted there runs later
    outside; tools get caches that end with the session instead.
    """
    given = dict(env)
    if proxy is not None:
        for name in _PROXIES:
            given.pop(name, None)
            given.pop(name.lower(), None)
        given.update(proxy)
    place = temp or "/tmp"
    given["TMPDIR"] = place
    for name in ("TMP", "TEMP"):
        if name in given:
            given[name] = place
    given.setdefault("XDG_CACHE_HOME", f"{place}/cache")
    given.setdefault("npm_config_cache", f"{place}/cache/npm")
    given["GATEWRIGHT_SANDBOX"] = "1"
    return given
