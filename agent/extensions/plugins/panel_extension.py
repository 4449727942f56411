"""Plugs in /plugin, also where no plugin is: what is behind it loads when somebody asks for it.

Where plugins of marketplaces are installed, it also looks for newer versions, once a day.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host

if TYPE_CHECKING:
    from gatewright.agent.extensions.plugins.plugin_panel import PluginPanel  # lazy: 25 ms

KEPT = ("lock.json", "markets.json")
ARGS = "[discover | info | install | update | enable | disable | uninstall | marketplace]"


class PanelDoor:
    """The panel, once it is asked for."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._panel: PluginPanel | None = None
        self._looking: asyncio.Task[None] | None = None

    @property
    def panel(self) -> PluginPanel:
        if self._panel is None:
            from gatewright.agent.extensions.plugins.plugin_panel import PluginPanel  # noqa: PLC0415  lazy: 25 ms

            self._panel = PluginPanel(self._host)
        return self._panel

    async def run(self, context: CommandContext) -> Outcome:
        from gatewright.agent.plugins.panel.plugin_command import plugins  # noqa: PLC0415  lazy: 25 ms

        return await plugins(self.panel, context)

    def commands(self) -> tuple[Command, ...]:
        return (
            Command(
                name="plugin",
                summary="Plugins: discover, install, update, switch; marketplaces and errors",
                args=ARGS,
                aliases=("plugins",),
                run=self.run,
            ),
        )

    def begin(self) -> None:
        """Look for news where there can be any, and somebody to hear of them."""
        around = self._host.around
        folder = around.places.home / "plugins"
        heard = around.interactive and around.options.has_screen and not around.options.bare
        off = around.settings.plugins.auto_update == "off"
        if heard and not off and all((folder / name).exists() for name in KEPT):
            self._looking = asyncio.create_task(self._look(), name="news of plugins")

    async def _look(self) -> None:
        await self._host.joined.wait()
        from gatewright.agent.extensions.plugins.plugin_news import tell_news  # noqa: PLC0415  lazy: 25 ms

        await tell_news(self._host, self.panel)

    async def close(self) -> None:
        if self._looking is not None and not self._looking.done():
            self._looking.cancel()
            await asyncio.wait([self._looking])
        if self._panel is not None:
            await self._panel.close()


async def plug_panel(host: Host) -> Contribution:
    door = PanelDoor(host)
    door.begin()
    return Contribution(commands=(door.commands,), close=(door.close,))


PLUGIN_PANEL = Extension(name="plugin-panel", plug=plug_panel)
