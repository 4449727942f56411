"""Themes of the plugins that are on: for the screen, which is there before a session is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from gatewright.agent.extensions.plugins.plugin_extension import wanted
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.settings.workspace import Surroundings

SUFFIX = ".json"
MOST = 200  # of one plugin


def plugin_themes(around: Surroundings) -> Mapping[str, Path]:
    """Their files by `plugin:name`. Looks at every file of those plugins, as a session does."""
    if not wanted(around):
        return {}
    from gatewright.agent.extensions.plugins.plugin_session import ground_of  # noqa: PLC0415  lazy: 12 ms
    from gatewright.agent.plugins.gathering import gathered  # noqa: PLC0415

    return themes_of(gathered(ground_of(around)).plugins)


def themes_of(plugins: Iterable[Plugin]) -> Mapping[str, Path]:
    return {
        f"{plugin.name}:{path.stem}": path
        for plugin in plugins
        for path in islice(_files(plugin.themes), MOST)
        if path.stem.isprintable()
    }


def _files(named: Iterable[Path]) -> Iterator[Path]:
    for path in named:
        if path.is_dir():
            yield from sorted(path.glob(f"*{SUFFIX}"))
        elif path.suffix == SUFFIX:
            yield path
