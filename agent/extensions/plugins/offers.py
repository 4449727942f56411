"""Asks about plugins that a project names, and about linked ones whose files are others now.

Per plugin, in a trusted project alone, and nothing of one is fetched, read or run before a yes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.plugins.consent import Consent, consent_text
from gatewright.agent.plugins.enabled import market_key
from gatewright.agent.plugins.gathering import Gathered
from gatewright.agent.plugins.installing import install_path
from gatewright.agent.plugins.lock_file import answers_of
from gatewright.agent.plugins.record import Record, id_of
from gatewright.agent.plugins.store import Store
from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text
from gatewright.tools.interact import Ask, Option

if TYPE_CHECKING:
    from gatewright.agent.extensions.plugins.plugin_panel import PluginPanel  # lazy: 25 ms

USE, LATER, NEVER = "use", "later", "never"
NAME = 120  # characters of one in a question
MOST = 20  # questions about what a project names
Question: TypeAlias = tuple[str, Callable[[], Awaitable[bool]]]  # asked once for each text


class Offers:
    """`reload` is called once an answer changed what is on."""

    def __init__(self, host: Host, store: Store, reload: Callable[[], Awaitable[str]]) -> None:
        self._host, self._store, self._reload = host, store, reload
        self._alone = not (host.around.interactive and host.around.options.has_screen)
        self._asked: set[str] = set()  # in this session
        self._waiting: list[Question] = []
        self._asking: asyncio.Task[None] | None = None
        self._made: PluginPanel | None = None

    def take(self, found: Gathered) -> list[str]:
        """Ask about what is new, later; what to tell whoever cannot be asked."""
        chosen, there = found.chosen, found.lock.plugins
        missing = [id for id in chosen.offered if id not in there][:MOST]
        offered = [there[id] for id in chosen.offered if id in there]
        markets = dict(islice(self._unknown(chosen.markets).items(), MOST))
        if self._alone:
            return _told(missing, offered, markets)
        waiting: list[Question] = [
            (f"market {name} {raw}", partial(self._market, name, raw))
            for name, raw in markets.items()
        ]
        waiting += [(f"fetch {id}", partial(self._fetch, id)) for id in missing]
        waiting += [(_key("offer", each), partial(self._offer, each)) for each in offered]
        waiting += [(_key("changed", each), partial(self._again, each)) for each in found.changed]
        self._waiting = [each for each in waiting if each[0] not in self._asked]
        if self._waiting and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask(), name="asking about plugins")
        return []

    @property
    def _panel(self) -> PluginPanel:
        """It can fetch: loaded for the first question that needs to."""
        if self._made is None:
            from gatewright.agent.extensions.plugins.plugin_panel import PluginPanel  # noqa: PLC0415  lazy: 25 ms

            self._made = PluginPanel(self._host)
        return self._made

    def _unknown(self, markets: Mapping[str, Any]) -> Mapping[str, Any]:
        """Those that were not added yet."""
        if not markets:
            return {}
        try:
            added = self._panel.getting.adding.markets.every()
        except GatewrightError:
            return {}  # the list is broken, which /plugin tells
        return {name: raw for name, raw in markets.items() if name not in added}

    async def _ask(self) -> None:
        await self._host.joined.wait()
        while self._waiting:
            used = False
            while self._waiting:
                key, question = self._waiting.pop(0)
                self._asked.add(key)
                try:
                    used |= await question()
                except GatewrightError as error:
                    self._host.warn(escaped(str(error)))
            if used:
                self._host.warn(await self._reload())

    async def _market(self, name: str, raw: Any) -> bool:
        """A yes asks that address what it lists. Nothing of it is installed."""
        said = self._panel.offers(raw)
        title = f"Add the marketplace {_short(name)}? This project names it."
        text = (
            f"From {said}\nIt is asked what it lists. Each plugin of it asks before it is fetched."
        )
        if not await self._agreed(title, text, market_key(name), "Add it"):
            return False
        self._host.warn(escaped(await self._panel.add_offered(name, raw)))
        return False

    async def _fetch(self, id: str) -> bool:
        """Not installed yet: a yes fetches it, and then it is shown with all that acts in it."""
        market = id_of(id)[1]
        if market not in self._panel.getting.adding.markets.every():
            if market_key(market) not in self._answers():
                self._host.warn(escaped(_missing(id)))
            return False
        title = f"Fetch the plugin {_short(id)}? This project names it."
        text = "Before any of it counts you are shown where it is from and what it would do."
        if not await self._agreed(title, text, id, "Fetch it"):
            return False
        record = await self._panel.fetch(id)
        await asyncio.to_thread(self._store.lock.answer, self._root, record.id, "yes")
        return True

    def _answers(self) -> Collection[str]:
        return answers_of(self._store.lock.read(), self._root)

    @property
    def _root(self) -> Path:
        return self._host.around.where.root

    async def _agreed(self, title: str, text: str, key: str, yes: str) -> bool:
        """What is refused for good is kept under `key`."""
        reason = "Nothing was fetched yet."
        answer = await self._host.session.ask(_question(title, text, yes, reason))
        if answer.choice == NEVER:
            await asyncio.to_thread(self._store.lock.answer, self._root, key, "never")
        return answer.choice == USE

    async def _offer(self, record: Record) -> bool:
        """Installed by the person, and turned on by the project."""
        text = consent_text(Consent(now=record))
        title = f"Use the plugin {record.name} here? This project names it."
        answer = await self._host.session.ask(_question(title, text))
        root = self._root
        match answer.choice:
            case "use":
                await asyncio.to_thread(self._store.lock.answer, root, record.id, "yes")
                return True
            case "never":
                await asyncio.to_thread(self._store.lock.answer, root, record.id, "never")
            case _:
                pass
        return False

    async def _again(self, record: Record) -> bool:
        """A directory of the person's own that is another one since they agreed to it."""
        shown: list[Consent] = []

        def look(about: Consent) -> bool:
            shown.append(about)
            return False

        def agree(about: Consent) -> bool:
            return about.now.digest == shown[-1].now.digest  # else it changed while they read

        try:
            await asyncio.to_thread(
                install_path, self._store, Path(record.folder), look, linked=True
            )
        except GatewrightError:
            if not shown:
                raise
        title = f"The files of the plugin {record.name} are others now. Use it as it is?"
        answer = await self._host.session.ask(_question(title, consent_text(shown[-1])))
        if answer.choice != USE:
            return False
        await asyncio.to_thread(install_path, self._store, Path(record.folder), agree, linked=True)
        return True

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()
        if self._asking is not None and not self._asking.done():
            self._asking.cancel()
            await asyncio.wait([self._asking])


def _key(why: str, record: Record) -> str:
    return f"{why} {record.id} {record.digest}"


def _told(missing: Iterable[str], offered: Iterable[Record], markets: Iterable[str]) -> list[str]:
    """Where nobody can be asked: what would have been."""
    told = [
        f"This project names the marketplace {name}, which was not added: "
        f"agent plugin marketplace add {name}"
        for name in markets
    ]
    told += [_missing(id) for id in missing]
    told += [
        f"This project names the plugin {each.id}, which is not used: "
        f"agent plugin enable {each.id} --scope project lets it."
        for each in offered
    ]
    return told


def _missing(id: str) -> str:
    return (
        f"This project names the plugin {id}, which is not installed: "
        f"agent plugin install {id} shows what it does, and asks."
    )


def _short(name: str) -> str:
    """A project may write anything there."""
    return in_line(escaped(name))[:NAME]


def _question(
    title: str,
    text: str,
    yes: str = "Use it",
    reason: str = "What is listed runs on this machine.",
) -> Ask:
    return Ask(
        kind="trust",
        title=title,
        body=(Text(text),),
        options=(
            Option(USE, yes, "y"),
            Option(LATER, "Not now", "n"),
            Option(NEVER, "Never in this project", "x"),
        ),
        reason=reason,
    )
