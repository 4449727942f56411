"""What npm is told about registries: their addresses and tokens, from its variables and files.

No registry's name is known here. Where nobody names one, npm itself is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gatewright.agent.plugins.sources.limits import SourceError
from gatewright.tools.protocol import SpawnRequest, ToolFailure
from gatewright.tools.system.processes import printed
from gatewright.tools.system.programs import find, search_path
from gatewright.tools.system.regular import read_regular

_FILE: Final = 64 * 1024
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\??\}")
_PREFIX: Final = "npm_config_"
_SECONDS: Final = 20.0
_ABSENT: Final = (
    "No registry of npm packages is known: name one with `npm config set registry ADDRESS`, "
    "in NPM_CONFIG_REGISTRY, or as registry= in ~/.npmrc."
)


class NpmSettings:
    """Those of the person: a project's own .npmrc has no say."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._said = {**_file(_place(env), env), **_variables(env)}

    async def registry(self, package: str, avoid: tuple[Path, ...] = ()) -> str:
        """For this package, with a slash at its end. Raises SourceError."""
        scope = package.partition("/")[0] if package.startswith("@") else ""
        found = (self._said.get(f"{scope}:registry", "") if scope else "") or self._said.get(
            "registry", ""
        )
        if not found:
            found = await self._asked(avoid)
        if not found.startswith(("https://", "http://")):
            raise SourceError(_ABSENT)
        return f"{found.rstrip('/')}/"

    def headers(self, url: str) -> dict[str, str]:
        """What the person has to show there; nothing for an address below no registry of theirs."""
        parts = urlsplit(url)
        place = f"//{parts.netloc}{parts.path}"
        names = [key for key in self._said if key.endswith(":_authToken")]
        for key in sorted(names, key=len, reverse=True):
            if f"{place}/".startswith(f"{key.removesuffix(':_authToken').rstrip('/')}/"):
                return {"authorization": f"Bearer {self._said[key]}"}
        return {}

    async def _asked(self, avoid: tuple[Path, ...]) -> str:
        """What npm would take, asked where no project says anything."""
        program = find("npm", self._env, avoid)
        if not program:
            return ""
        wanted = ("HOME", "USER", "LANG", "APPDATA", "XDG_CONFIG_HOME")
        env = {name: self._env[name] for name in wanted if name in self._env}
        env["PATH"] = search_path(self._env, avoid).text
        request = SpawnRequest(
            argv=(program, "config", "get", "registry", "--ignore-scripts", "--global"),
            cwd=_home(self._env),
            env=env,
        )
        try:
            said = await printed(request, seconds=_SECONDS, keep=4096)
        except ToolFailure:
            return ""
        text = said.output.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return text if said.code == 0 and not any(letter.isspace() for letter in text) else ""


def _home(env: Mapping[str, str]) -> Path:
    """Where nothing of a project is found; who has none asks all the same."""
    home = Path(env.get("HOME", "/"))
    return home if home.is_dir() else Path("/")


def _place(env: Mapping[str, str]) -> Path:
    named = env.get("NPM_CONFIG_USERCONFIG") or env.get(f"{_PREFIX}userconfig")
    return Path(named) if named else Path(env.get("HOME", "/nonexistent")) / ".npmrc"


def _file(path: Path, env: Mapping[str, str]) -> dict[str, str]:
    try:
        text = read_regular(path, _FILE).decode("utf-8", "replace")
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, mark, value = line.strip().partition("=")
        if mark and not key.startswith((";", "#")):
            plain = value.strip().strip("\"'")
            found[key.strip()] = _VARIABLE.sub(lambda name: env.get(name[1], ""), plain)
    return found


def _variables(env: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in env.items():
        if name.lower() == f"{_PREFIX}registry" and value:
            found["registry"] = value
    return found
