"""The hooks that plugins bring: read as a settings file's are, under the plugin's own name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.plugins.plugins_now import plugins_of
from gatewright.agent.hooks.configured.reading import Read, read
from gatewright.agent.hooks.handlers import Place
from gatewright.agent.plugins.variables import fills, given
from gatewright.permissions.condition import problem_of


def of_plugins(brought: Sequence[Contribution]) -> Iterator[Read]:
    """Of those that are on now, in their order."""
    for plugin in plugins_of(brought):
        for said in plugin.hooks:
            place = Place(
                "plugin",
                f"plugin {plugin.name}, {said.where}",
                name=plugin.name,
                given=given(plugin),
                fills=fills(plugin),
            )
            yield read(said.entries, place, problem_of)
