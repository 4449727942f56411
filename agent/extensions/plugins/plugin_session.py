"""The plugins of one session: gathered at its start and at /reload-plugins, and by nobody else.

What runs from a version keeps its directory until then, whatever is installed meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.contribution import Contribution, Root
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.offers import Offers
from gatewright.agent.plugins.gathering import Gathered, Ground, gathered
from gatewright.agent.plugins.in_use import Use, sweep
from gatewright.agent.plugins.parts import ORIGIN, Plugin, PluginFault, PluginParts, running_in
from gatewright.agent.plugins.store import Store
from gatewright.agent.settings.workspace import Surroundings
from gatewright.agent.text.printable import escaped
from gatewright.permissions.shown import guard
from gatewright.tools.counted import counted
from gatewright.tools.system import private

NOTHING = "No plugins are on here."


class PluginSession:
    """What a session has of plugins; front ends and `/plugin` find it by its type."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.store = Store(host.around.places.home)
        self.parts = PluginParts()
        self._use = Use(self.store, host.base.start.id)
        self._told: set[str] = set()
        self._trusted = host.around.trusted
        self._reloading = asyncio.Lock()
        self._offers = Offers(host, self.store, self.reload)
        self._loop = asyncio.get_running_loop()
        self._later: set[asyncio.Task[object]] = set()

    async def begin(self) -> Contribution:
        problems = await self._gather()
        self._host.live.listen(self._changed)
        return Contribution(
            roots=self._roots(),
            commands=(self._commands,),
            parts=(self.parts, self),
            problems=problems,
            close=(self.close,),
        )

    async def reload(self) -> str:
        """Take up what is installed and on now; what to tell the person."""
        async with self._reloading:
            self._host.live.refresh()
            for text in await self._gather():
                self._host.warn(text)
            host = self._host
            host.roots[:] = [root for root in host.roots if not root.origin.startswith(ORIGIN)]
            host.roots[:0] = self._roots()
            host.live.again()  # hooks, servers and whoever else loads something of them
            if host.joined.is_set():
                host.session.commands.changed()
        return self._summary()

    async def _gather(self) -> tuple[str, ...]:
        """What is new and wrong, for the person."""
        ground = ground_of(self._host.around)
        found = await asyncio.to_thread(self._prepared, ground)
        for plugin in found.plugins:
            self._host.base.redactor.learn(plugin.options[k] for k in _secrets(plugin))
        self._host.path_end = tuple(str(each.bin) for each in found.plugins if each.bin is not None)
        self._host.policy.look_last(self._host.path_end)
        self._guard(found)
        self.parts.take(found.plugins, found.faults)
        told = [fault.said() for fault in found.faults if not fault.quiet]
        told += self._offers.take(found)
        new = tuple(text for text in map(escaped, told) if text not in self._told)
        self._told.update(new)
        return new

    def _guard(self, found: Gathered) -> None:
        """What lies in the project could be changed unasked, and what is changed would run."""
        root = self._host.around.where.root
        places = (path for each in found.plugins for path in running_in(each, root))
        guard(self._host.policy, places)

    def _prepared(self, ground: Ground) -> Gathered:
        """In a thread: read, and held on to."""
        found = gathered(ground)
        try:
            if found.plugins:
                self._use.take(each.root for each in found.plugins)
            for each in found.plugins:
                private.folder(each.data)
            sweep(self.store)
        except OSError as error:
            why = f"cannot be written: {error.strerror or error}"
            fault = PluginFault(str(self.store.folder), why, stopped=False)
            return Gathered(
                plugins=found.plugins,
                faults=(*found.faults, fault),
                changed=found.changed,
                chosen=found.chosen,
                lock=found.lock,
            )
        return found

    def _roots(self) -> tuple[Root, ...]:
        return tuple(Root(each.root, each.origin) for each in self.parts.plugins)

    def _changed(self, around: Surroundings) -> None:
        """The project is trusted only now: what it names can be offered. Also from a thread."""
        if around.trusted and not self._trusted:
            self._trusted = True
            self._loop.call_soon_threadsafe(self._reload_soon)

    def _reload_soon(self) -> None:
        task = self._loop.create_task(self.reload(), name="plugins of a trusted project")
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    def _commands(self) -> Sequence[Command]:
        return (
            Command(
                name="reload-plugins",
                summary="Take up the plugins that are installed and on now",
                run=self._run,
            ),
        )

    async def _run(self, context: CommandContext) -> Outcome:
        del context
        try:
            return Say.text(await self.reload())
        except GatewrightError as error:
            return Problem.of(str(error))

    def _summary(self) -> str:
        plugins = self.parts.plugins
        stopped = [fault for fault in self.parts.faults if fault.stopped]
        if not plugins and not stopped:
            return NOTHING
        names = ", ".join(each.name for each in plugins)
        text = f"{counted(len(plugins), 'plugin')}{f': {names}' if names else ''}."
        if stopped:
            text += f" Not on: {', '.join(fault.plugin for fault in stopped)}."
        return escaped(text)

    async def close(self) -> None:
        for task in self._later:
            task.cancel()
        await self._offers.close()
        self._use.close()


def ground_of(around: Surroundings) -> Ground:
    options = around.options
    return Ground(
        loaded=around.loaded,
        places=around.places,
        trusted=around.trusted,
        bare=options.bare,
        folders=tuple(around.where.cwd / Path(text).expanduser() for text in options.plugin_dirs),
    )


def _secrets(plugin: Plugin) -> list[str]:
    return [key for key in plugin.secret if plugin.options.get(key)]
