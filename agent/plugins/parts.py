"""What an enabled plugin brings, as data for whoever loads such things: paths, entries, values.

Everything here is checked already: it lies inside the plugin, and the tree is what was agreed to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

ORIGIN = "plugin:"


class Said(msgspec.Struct, frozen=True):
    """Entries that a file of a plugin holds, or its manifest itself."""

    where: str  # for people: the file they stand in
    entries: Mapping[str, Any]


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin that counts. `root` is the installed version, `data` outlives it."""

    id: str  # name@market
    name: str
    version: str = ""
    root: Path
    data: Path
    skills: tuple[Path, ...] = ()  # directories of skills; one that holds SKILL.md is one itself
    commands: tuple[Path, ...] = ()  # directories, or single Markdown files
    agents: tuple[Path, ...] = ()  # the same
    styles: tuple[Path, ...] = ()  # the same
    themes: tuple[Path, ...] = ()  # the same, of JSON files
    hooks: tuple[Said, ...] = ()  # what `hooks` of settings would say
    servers: tuple[Said, ...] = ()  # by the server's own name, nothing expanded
    bin: Path | None = None
    settings: Mapping[str, str] = {}  # agent, outputStyle
    workflows: tuple[Path, ...] = ()  # directories of scripts, or single ones
    language_servers: tuple[Said, ...] = ()  # what `lspServers` of settings would say
    # Kept for those who come later; said to be unsupported until then.
    monitors: tuple[Said, ...] = ()
    stamp: str = ""  # of the tree that was agreed to; empty where its directory itself was named
    options: Mapping[str, str] = {}  # userConfig by key, secrets among them
    secret: frozenset[str] = frozenset()  # which of those

    @property
    def origin(self) -> str:
        """As `Root.origin` has it."""
        return f"{ORIGIN}{self.name}"


# What runs or is read of a plugin by the places where it usually lies.
_USUAL = (
    ".claude-plugin", ".gatewright-plugin", "hooks", "bin", "scripts", "servers", ".mcp.json",
    ".lsp.json", "settings.json", "monitors", "workflows",
)  # fmt: skip


def running_in(plugin: Plugin, project: Path) -> Iterator[Path]:
    """Where it runs from; of a plugin that the project itself is, what acts in it."""
    if not project.is_relative_to(plugin.root):
        yield plugin.root
        return
    yield from (plugin.root / name for name in _USUAL)
    named = (*plugin.skills, *plugin.commands, *plugin.agents, *plugin.styles)
    yield from (path for path in named if path != plugin.root)
    if plugin.root in named:
        yield plugin.root / "SKILL.md"


class PluginFault(msgspec.Struct, frozen=True):
    """`plugin` is an id, or the directory where there is none; `stopped`: it does not count."""

    plugin: str
    text: str
    stopped: bool = True
    quiet: bool = False  # it was said when it was installed

    def said(self) -> str:
        return f"Plugin {self.plugin}: {self.text}"


class PluginParts:
    """The plugins of a session as they are now; who asks to hear is told after each reload."""

    def __init__(self, plugins: tuple[Plugin, ...] = ()) -> None:
        self.plugins = plugins
        self.faults: tuple[PluginFault, ...] = ()
        self._listening: list[Callable[[], None]] = []

    def listen(self, changed: Callable[[], None]) -> None:
        self._listening.append(changed)

    def take(self, plugins: tuple[Plugin, ...], faults: tuple[PluginFault, ...] = ()) -> None:
        self.plugins, self.faults = plugins, faults
        for changed in tuple(self._listening):
            changed()

    def find(self, name: str) -> Plugin | None:
        return next((each for each in self.plugins if each.name == name), None)
