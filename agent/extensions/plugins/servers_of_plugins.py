"""The MCP servers that plugins bring, under names that nobody else's can have.

Nothing is filled in here: variables are, when a server is connected, and what comes out is kept
nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.plugins.variables import USER, found, option, options_of, places_of
from gatewright.agent.servers.written import ServerLayer
from gatewright.mcp.names import of_plugin


def plugin_servers(brought: Sequence[Contribution]) -> tuple[ServerLayer, ...]:
    """Of those that are on now."""
    return tuple(layer for each in plugins_of(brought) for layer in layers_of(each))


def layers_of(plugin: Plugin) -> tuple[ServerLayer, ...]:
    places = places_of(plugin)
    keys = keys_of(plugin)
    return tuple(
        ServerLayer(
            source="plugin",
            where=str(plugin.root / said.where),
            entries={
                of_plugin(plugin.name, server): named(entry, keys)
                for server, entry in said.entries.items()
            },
            own={**places, **options_of(plugin)},
            given=found(plugin),
        )
        for said in plugin.servers
    )


def keys_of(plugin: Plugin) -> dict[str, str]:
    """`${user_config.KEY}` by the variable that holds it."""
    return {f"${{{USER}{key}}}": f"${{{option(key)}}}" for key in plugin.options}


def named(value: Any, keys: Mapping[str, str]) -> Any:
    """The entry with `${user_config.KEY}` under the name of the variable that holds it."""
    match value:
        case str():
            for written, variable in keys.items():
                value = value.replace(written, variable)
            return value
        case list():
            return [named(each, keys) for each in cast("list[object]", value)]
        case dict():
            fields = cast("dict[str, object]", value)
            return {key: named(each, keys) for key, each in fields.items()}
        case _:
            return value
