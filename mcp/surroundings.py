"""Where a program of a server runs, and what of our environment it gets."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from gatewright.mcp.definitions import Definition
from gatewright.mcp.expansion import Expanded, expanded
from gatewright.tools.protocol import Spawn
from gatewright.tools.system.programs import find

if TYPE_CHECKING:
    from gatewright.mcp.oauth.logins import Login

# All of ours that a server of a project, plugin or editor gets, besides what its definition says.
PLAIN = frozenset(
    {"HOME", "LOGNAME", "USER", "SHELL", "PATH", "TERM", "LANG", "TZ", "TMPDIR"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"}
    | {
        name
        for p in ("HTTP", "HTTPS", "ALL", "NO")
        for name in (f"{p}_PROXY", f"{p}_PROXY".lower())
    }
)
ROOTS = ("GATEWRIGHT_PROJECT_DIR", "CLAUDE_PROJECT_DIR")


Confined: TypeAlias = Callable[[Definition, Mapping[str, str]], Spawn]


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server runs: `env` is everything that may be expanded, `given` what one gets.

    What files of the project set in `env` is in `own_env` not: no server of the person's is sent
    elsewhere, or made to run something else, by a variable.
    """

    spawn: Spawn
    root: Path
    avoid: tuple[Path, ...]  # no program is taken from there by its name alone
    env: Mapping[str, str]
    given: Mapping[str, str]
    own_env: Mapping[str, str]
    carry: Callable[[str, dict[str, Any]], Awaitable[Mapping[str, Any]]] | None = None  # a client
    own: Path | None = None  # our own home, where what belongs to no project runs
    login: Callable[[str, str], Login] | None = None  # by a server's address and a client's id
    confined: Confined | None = None  # how a program is started, with what its definition gives it

    def variables(self, definition: Definition) -> Mapping[str, str]:
        """All that it may name."""
        return named_variables(definition, env=self.env, own_env=self.own_env, root=self.root)


def named_variables(
    definition: Definition, *, env: Mapping[str, str], own_env: Mapping[str, str], root: Path
) -> Mapping[str, str]:
    """All that it may name, of a session's environment with and without the project's files."""
    kept = env if definition.source == "project" else own_env
    if definition.plain:
        kept = _plain(kept)
    return {**kept, **dict.fromkeys(ROOTS, str(root)), **definition.own}


def environment(definition: Definition, around: Around) -> dict[str, str]:
    """What its programs get, besides what its definition says."""
    kept = around.given
    if definition.plain or definition.source in ("project", "plugin"):
        kept = _plain(kept)
    else:
        kept = {name: around.own_env[name] for name in kept if name in around.own_env}
    return {**kept, **dict.fromkeys(ROOTS, str(around.root)), **definition.given}


def _plain(env: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in env.items() if k in PLAIN or k.startswith("LC_")}


def program_of(definition: Definition, around: Around) -> str:
    """The real path of what would be started, for whoever is asked; empty where it is not there."""
    path = started(expanded(definition, around.variables(definition)), definition, around)
    return os.path.realpath(path) if path else ""


def started(filled: Expanded, definition: Definition, around: Around) -> str:
    """What is started, as it is named; empty where it is not there."""
    if "/" not in filled.command:
        return find(filled.command, around.variables(definition), around.avoid)
    return os.path.join(around.root, filled.cwd, os.path.expanduser(filled.command))  # noqa: PTH111, PTH118  a home that is nobody's is a name like any other
