"""`${VAR}` and `${VAR:-otherwise}` in definitions: expanded when a server is connected.

What comes out is used and forgotten: it is never shown, kept or told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from gatewright.mcp.definitions import Definition

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Expanded(msgspec.Struct, frozen=True, kw_only=True):
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    url: str
    headers: Mapping[str, str]
    missing: tuple[str, ...] = ()  # variables that do not exist; their text stays as it is


def variables(definition: Definition) -> tuple[str, ...]:
    """The names of those it uses, with where each goes."""
    found = (
        f"{match[1]} in {place}"
        for place, text in definition.texts()
        for match in _VARIABLE.finditer(text)
    )
    return tuple(dict.fromkeys(found))


def expanded(definition: Definition, env: Mapping[str, str]) -> Expanded:
    missing: dict[str, None] = {}

    def fill(text: str) -> str:
        def one(match: re.Match[str]) -> str:
            value = env.get(match[1])
            if value or (value is not None and match[2] is None):
                return value
            if match[2] is not None:
                return match[2]
            missing[match[1]] = None
            return match[0]

        return _VARIABLE.sub(one, text)

    return Expanded(
        command=fill(definition.command),
        args=tuple(map(fill, definition.args)),
        env={key: fill(value) for key, value in definition.env.items()},
        cwd=fill(definition.cwd),
        url=fill(definition.url),
        headers={key: fill(value) for key, value in definition.headers.items()},
        missing=tuple(missing),
    )
