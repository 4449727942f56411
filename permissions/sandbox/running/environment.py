"""The environment of a sandboxed command: no secrets, no ways to agents outside.

It is cleaned before the launcher starts, because the launcher's own environment can be read inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gatewright.tools.system.secrets import Secrets

_DOORS: Final = frozenset(
    {
        "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GPG_AGENT_INFO", "GPG_TTY",
        "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DOCKER_HOST", "CONTAINER_HOST",
        "XAUTHORITY", "WAYLAND_DISPLAY", "DISPLAY", "KRB5CCNAME", "TMUX", "STY",
        "XDG_RUNTIME_DIR", "GIT_ASKPASS", "SUDO_ASKPASS", "VSCODE_GIT_IPC_HANDLE",
        "VSCODE_IPC_HOOK_CLI", "BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PS4",
    }
)  # fmt: skip
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY")


def scrubbed(env: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    """`env` without secrets and without doors, but for what the person keeps."""
    return {
        name: value
        for name, value in secrets.given(env).items()
        if name in secrets.kept or not _is_door(name)
    }


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
