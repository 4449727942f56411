"""Plugs plugins in, before everybody who loads something of them.

Nothing of them is imported before settings or the command line name one.
"""

from __future__ import annotations

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.settings.workspace import Surroundings


def wanted(around: Surroundings) -> bool:
    settings = around.settings
    return bool(
        around.options.plugin_dirs or settings.enabled_plugins or settings.extra_known_marketplaces
    )


async def plug_plugins(host: Host) -> Contribution:
    from gatewright.agent.extensions.plugins.plugin_session import PluginSession  # noqa: PLC0415  lazy: 12 ms

    return await PluginSession(host).begin()


PLUGINS = Extension(name="plugins", plug=plug_plugins, wanted=wanted)
