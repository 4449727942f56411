"""Where settings and state live for one working directory. Looks at the disk, changes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gatewright.agent.settings.schema import Source
from gatewright.tools.system.project import FOLDER, project_of

MANAGED = Path("/etc/gatewright")


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """`home` is our own directory (`~/.gatewright`), `root` the project's."""

    home: Path
    root: Path
    managed: Path = MANAGED

    @property
    def state(self) -> Path:
        """What the program writes for itself: trust, history, usage."""
        return self.home / "state"

    def file(self, source: Source) -> Path | None:
        """The settings file of a layer; flags have none."""
        match source:
            case Source.MANAGED:
                return self.managed / "settings.json"
            case Source.LOCAL:
                return self.root / FOLDER / "settings.local.json"
            case Source.PROJECT:
                return self.root / FOLDER / "settings.json"
            case Source.USER:
                return self.home / "settings.json"
            case Source.CLI | Source.FLAG:
                return None


def user_home(env: Mapping[str, str]) -> Path:
    """The person's home directory."""
    return Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111  Path.home() ignores env


def own_home(env: Mapping[str, str]) -> Path:
    """`GATEWRIGHT_HOME`, or `~/.gatewright`."""
    named = env.get("GATEWRIGHT_HOME", "")
    return Path(named).expanduser() if named else user_home(env) / FOLDER


def project_root(cwd: Path, env: Mapping[str, str]) -> Path:
    """The project that `cwd` is in."""
    return project_of(cwd, user_home(env))


def places(cwd: Path, env: Mapping[str, str]) -> Places:
    return Places(home=own_home(env), root=project_root(cwd, env))
