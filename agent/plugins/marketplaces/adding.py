"""Adds and refreshes marketplaces: fetched aside, looked through, and only then they count.

Whatever goes wrong on the way, what was known of a marketplace before stays as it was.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.lookalike import looks_like
from gatewright.agent.plugins.marketplaces.allowed import Allowed
from gatewright.agent.plugins.marketplaces.known import Known, KnownMarkets
from gatewright.agent.plugins.marketplaces.market import (
    BYTES,
    FILES,
    BadMarket,
    Market,
    market_in,
    market_of,
    read_market,
)
from gatewright.agent.plugins.sources.fetching import Fetched, Ways, fetch
from gatewright.agent.plugins.sources.limits import Clock, SourceError
from gatewright.agent.plugins.sources.source import (
    FileSource,
    GitSource,
    LocalSource,
    Source,
    read,
    written,
)
from gatewright.agent.plugins.store import Store
from gatewright.tools.system.untyped_json import obj

# Another marketplace has the name: whether the new one takes its place.
Replaces: TypeAlias = Callable[[Known, Known], bool]


class Seen(msgspec.Struct, frozen=True):
    """A marketplace as it was fetched now; `new`: it was not there, or it is another by now."""

    known: Known
    market: Market
    new: bool


class Adding(msgspec.Struct, frozen=True, kw_only=True):
    """What adding needs: where things are kept, how they are reached, what is allowed."""

    store: Store
    markets: KnownMarkets
    ways: Ways
    allowed: Allowed

    async def add(
        self, source: Source, replaces: Replaces, *, file: str = "", name: str = ""
    ) -> Seen:
        """`name` is what it must call itself, where somebody said so. Raises GatewrightError."""
        return await self._take(source, file, replaces, name)

    async def refresh(self, known: Known) -> Seen:
        """Raises GatewrightError; then what it said before stays."""
        try:
            return await self._take(known.origin(self.ways.env), known.file, _yes, known.name)
        except GatewrightError as error:
            raise GatewrightError(f"{known.name} could not be refreshed: {error}") from error

    async def _take(self, source: Source, file: str, replaces: Replaces, name: str) -> Seen:
        if why := self.allowed.refusal(source, self.ways.env):
            raise GatewrightError(why)
        if isinstance(source, LocalSource) or _here(source):
            return self._linked(source, file, replaces, name)
        with self.store.aside() as aside:
            tree = aside / "market"
            tree.mkdir()
            fetched = await self._fetched(source, tree, aside)
            market = market_in(tree, self.ways.env, file)
            known = Known(
                name=market.name,
                source=written(source),
                said=source.said(),
                resolved=fetched.resolved,
                folder=f"{market.name}.{secrets.token_hex(6)}",
                file=file,
                updated_at=time.time(),
            )
            before = self._may_be(known, market, replaces, name)
            self._keep(known, tree)
        return Seen(known, market, before is None or before.resolved != known.resolved)

    def _linked(self, source: Source, file: str, replaces: Replaces, name: str) -> Seen:
        """One of this machine is read where it is."""
        place = Path(source.said())
        if isinstance(source, FileSource):
            market = read_market(place, self.ways.env)
        elif not place.is_dir():
            raise SourceError(f"There is no directory {place}.")
        else:
            market = market_in(place, self.ways.env, file)
        known = Known(
            name=market.name,
            source=written(source),
            said=source.said(),
            folder=str(place),
            file=file,
            linked=True,
            updated_at=time.time(),
        )
        before = self._may_be(known, market, replaces, name)
        self._keep(known, None)
        return Seen(known, market, before is None)

    async def _fetched(self, source: Source, tree: Path, aside: Path) -> Fetched:
        if isinstance(source, FileSource):
            return await self._list(source, tree)
        return await fetch(source, tree, msgspec.structs.replace(self.ways, scratch=aside))

    async def _list(self, source: FileSource, tree: Path) -> Fetched:
        """Its list alone: what lies beside it there is not fetched."""
        from gatewright.agent.plugins.sources.download import Downloads  # noqa: PLC0415  lazy: 30 ms

        net = Downloads(self.ways.env, Clock(self.ways.limits), near=self.ways.near)
        try:
            data = await net.bytes_of(source.where, BYTES)
        finally:
            await net.close()
        market_of(data, self.ways.env)
        path = tree / FILES[0]
        path.parent.mkdir()
        path.write_bytes(data)
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        return Fetched(folder=tree, resolved=digest, pinned=source)

    def _may_be(self, known: Known, market: Market, replaces: Replaces, name: str) -> Known | None:
        """What was there before under its name. Raises where it may not take that place."""
        if name and market.name != name:
            raise BadMarket(f"{known.said} calls itself {market.name}, not {name}.")
        every = self.markets.every()
        if other := looks_like(market.name, every):
            raise BadMarket(
                f"{market.name} looks like {other}, which was added: one of them may be meant to "
                f"be taken for the other. agent plugin marketplace remove {other} makes room."
            )
        before = every.get(market.name)
        if before is not None and before.said != known.said and not replaces(before, known):
            raise GatewrightError(
                f"There is a marketplace {market.name} already, from {before.said}: it stays."
            )
        return before

    def _keep(self, known: Known, tree: Path | None) -> None:
        try:
            self.markets.keep(known, tree)
        except OSError as error:
            raise GatewrightError(
                f"{known.name} cannot be kept: {error.strerror or error}. Nothing changed."
            ) from error


def market_source(raw: Any, env: Mapping[str, str], root: Path) -> tuple[Source, str]:
    """What settings say of a marketplace, and which file of it is the list. Raises SourceError.

    In a repository `path` names that file, not a directory that alone counts. A directory is
    meant from the project's `root`.
    """
    inner = obj(raw).get("source")
    source = read(inner if isinstance(inner, dict) else raw, env)
    if isinstance(source, GitSource) and source.path.endswith(".json"):
        return msgspec.structs.replace(source, path=""), source.path
    if isinstance(source, LocalSource):
        return LocalSource(str(root / Path(source.path).expanduser())), ""
    if _here(source):
        return FileSource(str(root / Path(source.said()).expanduser())), ""
    return source, ""


def _yes(before: Known, now: Known) -> bool:
    """A refresh replaces what was there."""
    del before, now
    return True


def _here(source: Source) -> bool:
    return isinstance(source, FileSource) and "://" not in source.where
