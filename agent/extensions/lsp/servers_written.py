"""Where language servers are written down: settings files, each for itself, and plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from gatewright.agent.extensions.plugins.servers_of_plugins import keys_of, named
from gatewright.agent.lsp.running.definitions import Given
from gatewright.agent.lsp.running.server_book import Ground, ServerBook
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.plugins.variables import found, options_of, places_of
from gatewright.agent.settings.traits import COMMITTED, Source
from gatewright.agent.settings.workspace import Surroundings, roots

KEY = "lspServers"
_ORDER = ("managed", "flag", "local", "project", "user")


def given_of(around: Surroundings, plugins: Sequence[Plugin]) -> list[Given]:
    """All that counts here, the strongest first."""
    layers = sorted(_settings(around), key=lambda each: _ORDER.index(each.source))
    counted = plugins if around.trusted else ()
    return [*layers, *(each for plugin in counted for each in _of_plugin(plugin))]


def book_of(around: Surroundings, plugins: Sequence[Plugin]) -> ServerBook:
    """The servers that may be started here."""
    where = around.where
    ground = Ground(
        root=where.root,
        env=around.env,
        shared=around.secrets.given(around.env),
        avoid=roots(where),
        trusted=around.trusted,
    )
    return ServerBook(given_of(around, plugins), around.settings.lsp.use, ground)


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
    keys = keys_of(plugin)
    for said in plugin.language_servers:
        where = str(plugin.root / said.where)
        entries = {name: named(entry, keys) for name, entry in said.entries.items()}
        yield Given("plugin", where, entries, own, found(plugin), f"{plugin.name}:")
