"""Gets a plugin from a marketplace or an address: fetched aside, agreed to, then installed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.consent import Agreed
from gatewright.agent.plugins.installing import Installed, install_tree
from gatewright.agent.plugins.marketplaces.adding import Adding, Seen
from gatewright.agent.plugins.marketplaces.finding import Offered, offered
from gatewright.agent.plugins.marketplaces.known import Known
from gatewright.agent.plugins.marketplaces.market import Entry
from gatewright.agent.plugins.record import DIRECT, Record, id_of
from gatewright.agent.plugins.sources.fetching import Fetched, fetch
from gatewright.agent.plugins.sources.source import GitSource, Source, read, written

# What an entry may add to a manifest, and what of it is about the list alone.
_LISTED: Final = frozenset({"name", "category", "tags"})


class Getting(msgspec.Struct, frozen=True):
    """Installs from elsewhere. Raises GatewrightError; what was there before stays then."""

    adding: Adding

    def offered(self) -> Offered:
        ways = self.adding.ways
        return offered(self.adding.store.folder.parent, ways.env, self.adding.allowed)

    async def refreshed(self, names: frozenset[str]) -> dict[str, GatewrightError]:
        """Ask these marketplaces what they have now; by name, why one could not be asked."""
        failed: dict[str, GatewrightError] = {}
        for known in self.adding.markets.every().values():
            if known.name in names:
                try:
                    await self.adding.refresh(known)
                except GatewrightError as error:
                    failed[known.name] = error
        return failed

    async def install(self, text: str, agreed: Agreed, *, sha: str = "") -> Installed:
        """NAME or NAME@MARKET, of a marketplace that is refreshed first."""
        name, market = id_of(text)
        known, _ = self.offered().find(name, market)
        await self._fresh(known)
        return await self.of_market(name, known.name, agreed, sha=sha)

    async def of_market(
        self, name: str, market: str, agreed: Agreed, *, sha: str = ""
    ) -> Installed:
        """As the marketplace says by now, without asking it again."""
        known, entry = self.offered().find(name, market)
        if entry.source is None:
            raise GatewrightError(f"{entry.id} cannot be installed: {entry.problem}")
        record = Record(
            name=entry.name,
            market=known.name,
            version=entry.version,
            publisher=entry.publisher,
            source=written(entry.source),
            said=_said(entry, known),
            entry=_adds(entry),
        )
        return await self._install(_at(entry.source, sha), record, agreed, known)

    async def direct(self, source: Source, agreed: Agreed) -> Installed:
        """From an address that the person named."""
        if self.adding.allowed.only is not None:
            raise GatewrightError("Your administrator allows plugins of marketplaces alone.")
        if why := self.adding.allowed.refusal(source, self.adding.ways.env):
            raise GatewrightError(why)
        record = Record(name="", market=DIRECT, source=written(source), said=source.said())
        return await self._install(source, record, agreed, None)

    async def again(self, record: Record, agreed: Agreed) -> Installed:
        """What its source has by now; where a commit was named that counts, there is no other."""
        if record.market == DIRECT:
            return await self.direct(read(dict(record.source), self.adding.ways.env), agreed)
        return await self.of_market(record.name, record.market, agreed)

    async def _fresh(self, known: Known) -> Seen | None:
        """What it lists now; where nobody answers, what it listed last would be a guess."""
        return await self.adding.refresh(known)

    async def _install(
        self, source: Source, record: Record, agreed: Agreed, known: Known | None
    ) -> Installed:
        ways = self.adding.ways
        if known is not None:
            markets = self.adding.markets
            ways = msgspec.structs.replace(ways, base=markets.base(known), near=markets.near(known))
            if why := self.adding.allowed.refusal(known.origin(ways.env), ways.env):
                raise GatewrightError(why)
        with self.adding.store.aside() as aside:
            tree = aside / (record.name or "plugin")
            tree.mkdir()
            ways = msgspec.structs.replace(ways, scratch=aside)
            fetched = await fetch(source, tree, ways)
            full = msgspec.structs.replace(record, resolved=_resolved(fetched, known))
            return await asyncio.to_thread(install_tree, self.adding.store, tree, full, agreed)


def _resolved(fetched: Fetched, known: Known | None) -> str:
    """The commit or digest; what lies in its marketplace is as that was."""
    if fetched.resolved:
        return fetched.resolved
    return known.resolved if known is not None else ""


def _at(source: Source, sha: str) -> Source:
    if not sha:
        return source
    if not isinstance(source, GitSource):
        raise GatewrightError(f"--sha names a commit, and {source.said()} is no repository.")
    if source.sha and source.sha != sha.lower():
        raise GatewrightError(f"Its marketplace names another commit: {source.sha}.")
    return read({**written(source), "sha": sha}, {})


def _said(entry: Entry, known: Known) -> str:
    assert entry.source is not None
    source = entry.source.said()
    return f"{source} of {known.said}" if source.startswith(".") else source


def _adds(entry: Entry) -> Mapping[str, Any]:
    return {key: value for key, value in entry.said.items() if key not in _LISTED}
