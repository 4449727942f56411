"""What all added marketplaces offer, looked through offline: for the panel, search and install."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.plugins.marketplaces.allowed import Allowed
from gatewright.agent.plugins.marketplaces.known import Known, KnownMarkets
from gatewright.agent.plugins.marketplaces.market import Entry, Market
from gatewright.agent.plugins.sources.limits import SourceError

MOST: Final = 200
_NAME, _WORDS, _ABOUT = 3, 2, 1


class Offered(msgspec.Struct, frozen=True):
    """`problems` names marketplaces that cannot be used now, with the reason."""

    markets: tuple[tuple[Known, Market], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def entries(self) -> Iterator[Entry]:
        return (entry for _, market in self.markets for entry in market.entries)

    def find(self, name: str, market: str = "") -> tuple[Known, Entry]:
        """The plugin that is meant. Raises GatewrightError."""
        if market and market not in {known.name for known, _ in self.markets}:
            for called, why in self.problems:
                if called == market:
                    raise GatewrightError(f"{market} cannot be used: {why}")
            near = _nearest(market, [known.name for known, _ in self.markets])
            how = near or " agent plugin marketplace add SOURCE adds one."
            raise GatewrightError(f"There is no marketplace {market}.{how}")
        found = [
            (known, entry)
            for known, each in self.markets
            if market in ("", known.name) and (entry := each.find(name)) is not None
        ]
        if not found:
            raise GatewrightError(
                f"There is no plugin {name}{f' in {market}' if market else ''}.{self._near(name)}"
            )
        if len(found) > 1:
            names = ", ".join(entry.id for _, entry in found)
            raise GatewrightError(f"{name} is in several marketplaces: {names}. Say which.")
        return found[0]

    def _near(self, name: str) -> str:
        if self.markets:
            return _nearest(name, [entry.name for entry in self.entries])
        return " No marketplace was added: agent plugin marketplace add SOURCE adds one."


def _nearest(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  5 ms, on a typing error only

    near = get_close_matches(name, names, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def offered(home: Path, env: Mapping[str, str], allowed: Allowed) -> Offered:
    """Reads files alone. Raises GatewrightError where the list of marketplaces is broken."""
    book = KnownMarkets(home, env)
    markets: list[tuple[Known, Market]] = []
    problems: list[tuple[str, str]] = []
    for known in book.every().values():
        try:
            if why := allowed.refusal(known.origin(env), env):
                raise SourceError(why)
            markets.append((known, book.market(known)))
        except GatewrightError as error:
            problems.append((known.name, str(error)))
    return Offered(tuple(markets), tuple(problems))


def searched(entries: Iterator[Entry], text: str) -> list[Entry]:
    """Those that every word is found in, the best first."""
    words = text.casefold().split()
    ranked = [(rank, entry) for entry in entries if (rank := _rank(entry, words))]
    ranked.sort(key=lambda pair: (-pair[0], pair[1].name))
    return [entry for _, entry in ranked[:MOST]]


def _rank(entry: Entry, words: list[str]) -> int:
    tags = " ".join((*entry.words, entry.category)).casefold()
    about = entry.description.casefold()
    total = 0 if words else 1
    for word in words:
        rank = _NAME * (word in entry.name) + _WORDS * (word in tags) + _ABOUT * (word in about)
        if not rank:
            return 0
        total += rank + _NAME * (word == entry.name)
    return total
