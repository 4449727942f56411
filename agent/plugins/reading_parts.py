"""What a plugin's directory holds, by its manifest and by the usual places: files, entries, notes.

Reading runs nothing. One part that cannot be read is an error of that part, and the rest counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from gatewright.agent.plugins.inside import Outside, inside, stays
from gatewright.agent.plugins.manifest import (
    MAX_BYTES,
    BadManifest,
    Entries,
    Manifest,
    Paths,
    ReadManifest,
    object_in,
    read_manifest,
)
from gatewright.agent.plugins.parts import Plugin, Said
from gatewright.tools.system.regular import read_regular

SETTINGS = ("agent", "outputStyle")
LATER = "not supported yet; they are kept, and nothing of them counts"
INLINE = "its manifest"


class FoundPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """`errors` name parts that do not count, `later` what nothing here runs yet."""

    manifest: Manifest
    plugin: Plugin
    notes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


def read_plugin(
    root: Path, *, market: str, data: Path, entry: Mapping[str, Any] = {}, called: str = ""
) -> FoundPlugin:
    """All that a directory would bring. Raises BadManifest."""
    return _Reader(root, read_manifest(root, entry, called=called)).read(market, data)


class _Reader:
    def __init__(self, root: Path, read: ReadManifest) -> None:
        self._root, self._said = root, read
        self._errors: list[str] = []
        self._notes = list(read.notes)

    def read(self, market: str, data: Path) -> FoundPlugin:
        said = self._said.manifest
        name = said.name
        plugin = Plugin(
            id=f"{name}@{market}",
            name=name,
            version=said.version,
            root=self._root,
            data=data,
            skills=self._skills(said.skills),
            commands=self._paths("commands", said.commands),
            agents=self._paths("agents", said.agents),
            styles=self._paths("outputStyles", said.output_styles, "output-styles"),
            themes=self._paths("experimental.themes", said.experimental.themes or None, "themes"),
            hooks=self._hooks(said.hooks),
            servers=self._entries("mcpServers", ".mcp.json", said.mcp_servers),
            bin=self._bin(),
            settings=self._settings(),
            language_servers=self._entries("lspServers", ".lsp.json", said.lsp_servers),
            monitors=self._monitors(said.experimental.monitors),
            workflows=self._paths("workflows", said.workflows),
        )
        return FoundPlugin(
            manifest=said,
            plugin=plugin,
            notes=tuple(self._notes),
            errors=tuple(self._errors),
            later=tuple(_later(plugin)),
        )

    def _skills(self, more: Paths) -> tuple[Path, ...]:
        usual = self._there("skills")
        if not usual and not more and (self._root / "SKILL.md").is_file():
            usual = [self._root]
        return tuple(dict.fromkeys((*usual, *self._named("skills", more))))

    def _paths(self, key: str, named: Paths | None, usual: str = "") -> tuple[Path, ...]:
        """What the manifest names stands in place of the usual directory."""
        if named is not None:
            return tuple(self._named(key, named))
        return tuple(self._there(usual or key))

    def _there(self, usual: str) -> list[Path]:
        path = self._root / usual
        if not path.exists():
            return []
        if stays(self._root, path):
            return [path]
        self._errors.append(f"{usual} is a link that leads out of the plugin")
        return []

    def _named(self, key: str, named: Paths) -> Iterator[Path]:
        for text in (named,) if isinstance(named, str) else named:
            try:
                path = inside(self._root, text)
            except Outside as error:
                self._errors.append(f"{key}: {error}")
                continue
            if path.exists():
                yield path
            else:
                self._errors.append(f"{key}: there is no {text}")

    def _bin(self) -> Path | None:
        found = [path for path in self._there("bin") if path.is_dir()]
        return found[0] if found else None

    def _hooks(self, named: Entries) -> tuple[Said, ...]:
        found: list[Said] = []
        for said in self._all("hooks", "hooks/hooks.json", named):
            raw: object = said.entries.get("hooks", said.entries)
            if isinstance(raw, dict):
                found.append(Said(said.where, cast("dict[str, Any]", raw)))
            else:
                self._errors.append(f"{said.where}: hooks is no object")
        return tuple(found)

    def _entries(self, key: str, usual: str, named: Entries) -> tuple[Said, ...]:
        found: list[Said] = []
        for said in self._all(key, usual, named):
            raw: object = said.entries.get(key, said.entries)
            if isinstance(raw, dict):
                entries = cast("dict[str, Any]", raw)
                kept = {name: entry for name, entry in entries.items() if name != "$schema"}
                found.append(Said(said.where, kept))
            else:
                self._errors.append(f"{said.where}: {key} is no object")
        return tuple(found)

    def _monitors(self, named: Entries) -> tuple[Said, ...]:
        return self._all("monitors", "monitors/monitors.json", named)

    def _all(self, key: str, usual: str, named: Entries) -> tuple[Said, ...]:
        """Of the usual file, and of what the manifest names or says itself, each file once."""
        files = dict.fromkeys(self._there(usual))
        found: list[Said] = []
        several = named if isinstance(named, tuple) else (named,)
        for each in several:
            if isinstance(each, str):
                files |= dict.fromkeys(self._named(key, each))
            elif each:
                found.append(Said(INLINE, each))
        read = (self._file(path, key) for path in files)
        return (*(said for said in read if said is not None), *found)

    def _file(self, path: Path, key: str) -> Said | None:
        where = str(path.relative_to(self._root))
        try:
            data = read_regular(path, MAX_BYTES)
            if data.lstrip()[:1] == b"[":
                data = b'{"%s": %s}' % (key.encode(), data)
            return Said(where, object_in(data, where))
        except BadManifest as error:
            self._errors.append(str(error).removesuffix("."))
        except OSError as error:
            self._errors.append(f"{where} cannot be read: {error.strerror or error}")
        return None

    def _settings(self) -> Mapping[str, str]:
        if not (self._root / "settings.json").exists() or not self._there("settings.json"):
            return {}
        said = self._file(self._root / "settings.json", "settings")
        entries: Mapping[str, object] = said.entries if said is not None else {}
        for key in entries:
            if key not in SETTINGS and key != "$schema":
                self._notes.append(f"settings.json: {key} counts in no plugin: ignored")
        return {key: text for key in SETTINGS if isinstance(text := entries.get(key), str)}


def _later(plugin: Plugin) -> Iterator[str]:
    kinds = (("monitors", plugin.monitors),)
    for what, found in kinds:
        if found:
            yield f"{what}: {LATER}"
