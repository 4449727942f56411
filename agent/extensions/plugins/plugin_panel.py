"""/plugin of one session: what it shows, and work that fetches, asks the person and then counts.

Work that may take long runs beside the session, one after the other; how it went is a notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.plugin_session import PluginSession, ground_of
from gatewright.agent.plugins.consent import Agreed, Consent, consent_text
from gatewright.agent.plugins.enabled import enabled
from gatewright.agent.plugins.installing import Declined
from gatewright.agent.plugins.marketplaces.adding import Adding, market_source
from gatewright.agent.plugins.marketplaces.allowed import Allowed
from gatewright.agent.plugins.marketplaces.getting import Getting
from gatewright.agent.plugins.marketplaces.known import Known, KnownMarkets
from gatewright.agent.plugins.marketplaces.updating import News, Updated, news, only_new, update
from gatewright.agent.plugins.panel.plugin_command import ALL
from gatewright.agent.plugins.panel.plugin_rows import Overview
from gatewright.agent.plugins.parts import PluginParts
from gatewright.agent.plugins.record import LOCAL, Record
from gatewright.agent.plugins.sources.fetching import Ways
from gatewright.agent.plugins.sources.source import Source as SourceOf
from gatewright.agent.plugins.sources.source import typed
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.switching import installed, switch, uninstall
from gatewright.agent.record.events import Noticed
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import roots
from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text, Tone
from gatewright.tools.counted import counted
from gatewright.tools.interact import Ask, Option

YES, NO = "yes", "no"
ALONE = "Nobody can be asked here. In a terminal: agent plugin {0}"
SOON = "It counts from your next message on."


class PluginPanel:
    """Implements `PluginBook`."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.store = Store(host.around.places.home)
        self._loop = asyncio.get_running_loop()
        self._one = asyncio.Lock()
        self._working: set[asyncio.Task[None]] = set()
        self._asking: set[Future[bool]] = set()

    @property
    def getting(self) -> Getting:
        """With settings as they are now; variables that a project sets have no part in it."""
        around = self._host.around
        home, env = around.places.home, around.own_env
        return Getting(
            Adding(
                store=self.store,
                markets=KnownMarkets(home, env),
                ways=Ways(env=env, avoid=roots(around.where)),
                allowed=Allowed.by(around.settings),
            )
        )

    def overview(self) -> Overview:
        around, getting = self._host.around, self.getting
        lock = self.store.lock.read()
        ground = ground_of(around)
        chosen = enabled(
            ground.loaded, ground.places, lock, trusted=ground.trusted, bare=ground.bare
        )
        parts = part_of(self._host.brought, PluginParts)
        faults = parts.faults if parts is not None else ()
        stopped = {fault.plugin for fault in faults if fault.stopped}
        states = dict.fromkeys(chosen.on, "on") | dict.fromkeys(chosen.offered, "offered")
        added = getting.adding.markets.every()
        return Overview(
            offered=getting.offered(),
            installed=tuple(lock.plugins.values()),
            states={**states, **{id: "stopped" for id in stopped if id in states}},
            newer={each.record.id: each.version for each in self.news()},
            proposed={
                name: self._proposed(raw)
                for name, raw in around.settings.extra_known_marketplaces.items()
                if name not in added
            },
            faults=tuple((fault.plugin, fault.text) for fault in faults),
        )

    def news(self) -> list[News]:
        """What marketplaces said last; nobody is asked."""
        return [*news(self.getting, self.store.lock.read().plugins.values())]

    def _proposed(self, raw: Any) -> str:
        try:
            return self._offer(raw)[0].said()
        except GatewrightError as error:
            return str(error)

    def _offer(self, raw: Any) -> tuple[SourceOf, str]:
        around = self._host.around
        return market_source(raw, around.own_env, around.places.root)

    # work that takes long

    def install(self, name: str) -> str:
        self._somebody(f"install {name}")

        async def work() -> str:
            done = await self.getting.install(name, self._agreed)
            id = done.record.id
            await asyncio.to_thread(
                switch, self._host.around.places, id, Source.USER,
                on=done.found.manifest.default_enabled,
            )  # fmt: skip
            if not done.found.manifest.default_enabled:
                return f"{id} is installed, and off by its own word: /plugin enable {id}"
            return f"{id} is installed. {await self._taken_up()}"

        return self._start(work, f"{name} is being fetched; it asks before anything counts.")

    def update(self, name: str) -> str:
        self._somebody(f"update {name if name != ALL else '--all'}")
        lock = self.store.lock.read()
        chosen = [r for r in lock.plugins.values() if r.market != LOCAL]
        if name != ALL:
            chosen = [installed(lock, name)]
        if not chosen:
            raise GatewrightError("No plugin is installed that could be updated.")

        async def work() -> str:
            done = await self.updated(chosen, only_new(self._agreed))
            told = [f"{each.id}: {each.text}" for each in done]
            if any(each.state == "updated" for each in done):
                told.append("/reload-plugins takes it up in this session.")
            return "\n".join(told)

        what = name if name != ALL else counted(len(chosen), "plugin")
        return self._start(work, f"Looking for what is newer of {what}.")

    async def updated(self, records: list[Record], agreed: Agreed) -> list[Updated]:
        settings = self._host.around.places.file(Source.USER)
        assert settings is not None
        done = await update(self.getting, records, agreed, settings)
        self._host.live.refresh(ours=True)
        return done

    def add_market(self, source: str) -> str:
        self._somebody(f"marketplace add {source}")
        around = self._host.around
        offers = around.settings.extra_known_marketplaces
        if source in offers:
            (found, file), wanted = self._offer(offers[source]), source
        else:
            found, file, wanted = typed(source, around.own_env, around.where.cwd), "", ""

        async def work() -> str:
            return await self._added(found, file, wanted or source, wanted)

        return self._start(work, f"{found.said()} is asked what it lists.")

    async def _added(self, found: SourceOf, file: str, source: str, wanted: str) -> str:
        adding = self.getting.adding
        seen = await adding.add(found, self._replaces(source), file=file, name=wanted)
        many = counted(len(seen.market.entries), "plugin")
        return f"{seen.known.name} is added: {many}. /plugin shows them."

    # what a project offers, and the person said yes to

    def offers(self, raw: Any) -> str:
        """Where such a marketplace is. Raises GatewrightError where it cannot be used."""
        found, _ = self._offer(raw)
        if why := self.getting.adding.allowed.refusal(found, self._host.around.own_env):
            raise GatewrightError(why)
        return found.said()

    async def add_offered(self, name: str, raw: Any) -> str:
        async with self._one:
            found, file = self._offer(raw)
            return await self._added(found, file, name, name)

    async def fetch(self, id: str) -> Record:
        """Of a marketplace that was added; asked about again with all that it is."""
        async with self._one:
            return (await self.getting.install(id, self._agreed)).record

    def refresh(self, name: str) -> str:
        every = self.getting.adding.markets.every()
        if name != ALL:
            self.getting.adding.markets.find(name)

        async def work() -> str:
            chosen = frozenset(every) if name == ALL else frozenset({name})
            failed = await self.getting.refreshed(chosen)
            told = [f"{error} It stays as it was." for error in failed.values()]
            if asked := sorted(chosen - failed.keys()):
                told.append(f"{', '.join(asked)}: what is listed is what there is now.")
            return "\n".join(told)

        return self._start(work, f"{name if name != ALL else 'They'} will be asked.")

    # what is done at once

    async def remove_market(self, name: str) -> str:
        markets = self.getting.adding.markets
        markets.find(name)
        await asyncio.to_thread(markets.drop, name)
        return f"{name} is removed; plugins that were installed from it stay."

    async def switch(self, id: str, *, on: bool) -> str:
        places = self._host.around.places
        await asyncio.to_thread(switch, places, id, Source.USER, on=on)
        told = await self._taken_up()
        return f"{id} is {'on' if on else 'off'}. {told}"

    async def uninstall(self, id: str) -> str:
        record = installed(self.store.lock.read(), id)
        places = self._host.around.places
        await asyncio.to_thread(uninstall, places, record, Source.USER, keep_data=False)
        await self._taken_up()
        return f"{id} is removed."

    async def _taken_up(self) -> str:
        """The session goes on with what is on now, if it has plugins; else it will have."""
        self._host.live.refresh(ours=True)
        session = part_of(self._host.brought, PluginSession)
        return await session.reload() if session is not None else SOON

    # beside the session

    def _somebody(self, line: str) -> None:
        around = self._host.around
        if not (around.interactive and around.options.has_screen):
            raise GatewrightError(ALONE.format(line))

    def _start(self, work: Callable[[], Awaitable[str]], said: str) -> str:
        async def run() -> None:
            async with self._one:
                try:
                    self._tell(await work())
                except Declined as error:
                    self._tell(str(error), "dim")
                except GatewrightError as error:
                    self._tell(str(error), "warning")

        task = asyncio.create_task(run(), name="plugins")
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return said

    def _tell(self, text: str, tone: Tone = "normal") -> None:
        self._host.publish(Noticed(text=escaped(text), tone=tone))

    def _agreed(self, about: Consent) -> bool:
        """Called in a thread, which waits for the person."""
        lead = (
            "Install the plugin" if about.before is None else "Take the new version of the plugin"
        )
        return self._wait(f"{lead} {about.now.name}?", consent_text(about))

    def _replaces(self, source: str) -> Callable[[Known, Known], bool]:
        """Asked in the loop itself, where nothing may wait: whoever wants it says so plainly."""

        def refused(before: Known, now: Known) -> bool:
            raise GatewrightError(
                f"There is a marketplace {now.name} already, from {before.said}. "
                f"/plugin marketplace remove {now.name} makes room for {source}."
            )

        return refused

    def _wait(self, title: str, text: str) -> bool:
        future = asyncio.run_coroutine_threadsafe(self._ask(title, text), self._loop)
        self._asking.add(future)
        try:
            return future.result()
        finally:
            self._asking.discard(future)

    async def _ask(self, title: str, text: str) -> bool:
        answer = await self._host.session.ask(
            Ask(
                kind="trust",
                title=title,
                body=(Text(text),),
                options=(Option(YES, "Install it", "y"), Option(NO, "No", "n")),
                reason="What is listed runs on this machine.",
            )
        )
        return answer.choice == YES

    async def close(self) -> None:
        for future in tuple(self._asking):
            future.cancel()
        for task in tuple(self._working):
            task.cancel()
        if self._working:
            await asyncio.wait(self._working)
