"""Asks about plugins that a project names, and about linked ones whose files are others now.

Per plugin, in a trusted project alone, and nothing of one is fetched, read or run before a yes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.plugins.consent import Consent, consent_text
from gatewright.agent.plugins.gathering import Gathered
from gatewright.agent.plugins.installing import install_path
from gatewright.agent.plugins.record import Record
from gatewright.agent.plugins.store import Store
from gatewright.agent.text.printable import escaped
from gatewright.tools.blocks import Text
from gatewright.tools.interact import Ask, Option

USE, LATER, NEVER = "use", "later", "never"


class Offers:
    """`reload` is called once an answer changed what is on."""

    def __init__(self, host: Host, store: Store, reload: Callable[[], Awaitable[str]]) -> None:
        self._host, self._store, self._reload = host, store, reload
        self._alone = not (host.around.interactive and host.around.options.has_screen)
        self._asked: set[str] = set()  # in this session
        self._waiting: list[tuple[str, Record]] = []  # an offer of the project, or changed
        self._asking: asyncio.Task[None] | None = None

    def take(self, found: Gathered) -> list[str]:
        """Ask about what is new, later; what to tell whoever cannot be asked."""
        told: list[str] = []
        missing = [id for id in found.chosen.offered if id not in found.lock.plugins]
        offered = [found.lock.plugins[id] for id in found.chosen.offered if id not in missing]
        told += [
            f"This project names the plugin {id}, which is not installed: "
            f"agent plugin install {id} shows what it does, and asks."
            for id in missing
        ]
        if self._alone:
            told += [
                f"This project names the plugin {each.id}, which is not used: "
                f"agent plugin enable {each.id} --scope project lets it."
                for each in offered
            ]
            return told
        waiting = [("offer", each) for each in offered]
        waiting += [("changed", each) for each in found.changed]
        self._waiting = [pair for pair in waiting if _key(*pair) not in self._asked]
        if self._waiting and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask(), name="asking about plugins")
        return told

    async def _ask(self) -> None:
        await self._host.joined.wait()
        used = False
        while self._waiting:
            why, record = self._waiting.pop(0)
            self._asked.add(_key(why, record))
            try:
                used |= await (self._offer(record) if why == "offer" else self._again(record))
            except GatewrightError as error:
                self._host.warn(escaped(str(error)))
        if used:
            self._host.warn(await self._reload())

    async def _offer(self, record: Record) -> bool:
        """Installed by the person, and turned on by the project."""
        text = consent_text(Consent(now=record))
        title = f"Use the plugin {record.name} here? This project names it."
        answer = await self._host.session.ask(_question(title, text))
        root = self._host.around.where.root
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
        if self._asking is not None and not self._asking.done():
            self._asking.cancel()
            await asyncio.wait([self._asking])


def _key(why: str, record: Record) -> str:
    return f"{why} {record.id} {record.digest}"


def _question(title: str, text: str) -> Ask:
    return Ask(
        kind="trust",
        title=title,
        body=(Text(text),),
        options=(
            Option(USE, "Use it", "y"),
            Option(LATER, "Not now", "n"),
            Option(NEVER, "Never in this project", "x"),
        ),
        reason="What is listed runs on this machine.",
    )
