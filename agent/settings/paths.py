"""Where settings and state live for one working directory. Looks at the disk, changes nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gatewright.agent.settings.traits import Source
from gatewright.tools.system.project import FOLDER, project_of

MANAGED = Path("/etc/gatewright")
CLAUDE_MANAGED = {
    "darwin": Path("/Library/Application Support/ClaudeCode"),
}.get(sys.platform, Path("/etc/claude-code"))
CLAUDE = ".claude"
HOMES = (FOLDER, ".agents", CLAUDE)  # where a project keeps what agents have; ours first
AGENTS = "agents"
SERVERS = ".mcp.json"


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """`home` is our own directory (`~/.gatewright`), `root` the project's."""

    home: Path
    root: Path
    managed: Path = MANAGED
    claude_managed: Path = CLAUDE_MANAGED

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
    return _named(named, env) if named else user_home(env) / FOLDER


def claude_home(env: Mapping[str, str]) -> Path:
    """Where Claude Code keeps what is the person's: `CLAUDE_CONFIG_DIR`, or `~/.claude`."""
    named = env.get("CLAUDE_CONFIG_DIR", "")
    return _named(named, env) if named else user_home(env) / CLAUDE


def _named(text: str, env: Mapping[str, str]) -> Path:
    """A place that a variable names, below the home that this environment says."""
    below = text.removeprefix("~/")
    return user_home(env) / below if below != text else Path(text).expanduser()


def folders_down(root: Path, cwd: Path) -> Iterator[Path]:
    """The project's root and every directory from there to `cwd`; elsewhere `cwd` alone."""
    if not cwd.is_relative_to(root):
        yield cwd
        return
    yield root
    step = root
    for part in cwd.relative_to(root).parts:
        step = step / part
        yield step


def project_root(cwd: Path, env: Mapping[str, str]) -> Path:
    """The project that `cwd` is in."""
    return project_of(cwd, user_home(env))


def places(cwd: Path, env: Mapping[str, str]) -> Places:
    return Places(home=own_home(env), root=project_root(cwd, env))
