"""Where settings and state live for one working directory. Looks at the disk, changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gatewright.agent.settings.schema import Source

FOLDER = ".gatewright"
ROOT = Path("/")
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
    """The work tree `cwd` is in, else the nearest directory with settings of ours, else `cwd`.

    `/`, the person's home directory, and one that everybody may write to are a project only when
    the program is started right there: anyone could have made `/tmp` a project.
    """
    home = user_home(env)
    configured: Path | None = None
    for directory in (cwd, *cwd.parents):
        if directory != cwd and (directory in (home, ROOT) or _everybodys(directory)):
            break
        if (directory / ".git").exists():
            return directory
        if configured is None and directory != home and (directory / FOLDER).is_dir():
            configured = directory
    return configured or cwd


def _everybodys(directory: Path) -> bool:
    try:
        return bool(directory.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def places(cwd: Path, env: Mapping[str, str]) -> Places:
    return Places(home=own_home(env), root=project_root(cwd, env))
