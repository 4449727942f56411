"""Where language servers are written down: settings files, each for itself, and plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.lsp.running.definitions import Given
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.plugins.variables import found, options_of, places_of
from gatewright.agent.settings.traits import COMMITTED, Source
from gatewright.agent.settings.workspace import Surroundings

KEY = "lspServers"
_ORDER = ("managed", "flag", "local", "project", "user")


def given_of(around: Surroundings, brought: Sequence[Contribution]) -> list[Given]:
    """All that counts here, the strongest first."""
    layers = sorted(_settings(around), key=lambda each: _ORDER.index(each.source))
    plugins = plugins_of(brought) if around.trusted else ()
    return [*layers, *(each for plugin in plugins for each in _of_plugin(plugin))]


def _settings(around: Surroundings) -> Iterator[Given]:
    files = {around.places.file(source): source for source in Source if around.places.file(source)}
    for path, values in around.loaded.valid.items():
        entries: Any = values.get(KEY)
        source = files.get(path, Source.FLAG)
        if source in COMMITTED and path != around.places.file(Source.USER) and not around.trusted:
            continue
        if isinstance(entries, dict):
            yield Given(str(source), str(path), cast("Mapping[str, object]", entries))


def _of_plugin(plugin: Plugin) -> Iterator[Given]:
    """Under names that nobody else's can have."""
    own = {**places_of(plugin), **options_of(plugin)}
    for said in plugin.language_servers:
        where = str(plugin.root / said.where)
        yield Given("plugin", where, said.entries, own, found(plugin), f"{plugin.name}:")
