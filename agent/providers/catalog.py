"""Facts about models as data: window, output limit, prices, capabilities, tiers.

Code never compares a model's name; a model nobody described gets defaults that are safe to send.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gatewright.agent.messages import Usage
from gatewright.agent.providers.settings import ModelSettings

_FILE = Path(__file__).with_name("catalog.json")
_MILLION = 1_000_000
_DATED = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}(-v\d+(:\d+)?)?$|-v\d+(:\d+)?$|:[a-z]+$")
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")
LADDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


class LongPrice(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What every token of a request costs whose input has more than `above` tokens."""

    above: int
    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


class ModelFacts(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Prices are dollars per million tokens. `thinking` is how it is asked for:

    `adaptive` and `budget` (Messages API), `reasoning` (an effort), or not at all.
    """

    window: int = 128_000
    max_output: int = 8_192
    input: float = 0.0
    output: float = 0.0
    cache_read: float | None = None
    cache_write: float | None = None
    long: LongPrice | None = None
    thinking: str = ""
    efforts: tuple[str, ...] = ()
    images: bool = True
    documents: bool = False
    tools: bool = True
    structured: bool = False
    known: bool = True

    def cost(self, usage: Usage) -> float:
        """Dollars for one response; zero where no price is known."""
        price = self
        read = self.input if self.cache_read is None else self.cache_read
        written = self.input if self.cache_write is None else self.cache_write
        sent = usage.input + usage.cache_read + usage.cache_write
        rates = (price.input, read, written, price.output)
        if self.long is not None and sent > self.long.above:
            long = self.long
            rates = (
                long.input,
                long.cache_read or long.input,
                long.cache_write or long.input,
                long.output,
            )
        counts = (usage.input, usage.cache_read, usage.cache_write, usage.output)
        return sum(rate * count for rate, count in zip(rates, counts, strict=True)) / _MILLION

    def effort(self, wanted: str) -> str:
        """The nearest level the model has, preferring less; empty when it has none."""
        if not wanted or not self.efforts or wanted not in LADDER:
            return ""
        rank = LADDER.index(wanted)
        below = [level for level in self.efforts if LADDER.index(level) <= rank]
        return below[-1] if below else self.efforts[0]


class Catalog(msgspec.Struct, frozen=True):
    models: dict[str, ModelFacts]
    tiers: dict[str, dict[str, str]]
    aliases: dict[str, str]

    def facts(
        self, provider: str, model: str, extra: Mapping[str, ModelSettings] | None = None
    ) -> ModelFacts:
        """What is known of a model under a provider's catalogue name, with the user's additions."""
        found = next(
            (self.models[key] for key in _keys(provider, model) if key in self.models), None
        ) or self._elsewhere(model)
        return _extended(found or ModelFacts(known=False), (extra or {}).get(model))

    def tier(self, provider: str, alias: str) -> str | None:
        """The provider's model for `small`, `opus` and so on; None if the word is no alias."""
        return self.tiers.get(provider, {}).get(self.aliases.get(alias, ""))

    def providers_of(self, model: str) -> tuple[str, ...]:
        """The providers that describe exactly this model."""
        return tuple(key.partition("/")[0] for key in self.models if key.partition("/")[2] == model)

    def _elsewhere(self, model: str) -> ModelFacts | None:
        """The same model served by somebody else: a router, a cloud, a gateway."""
        bare = set(_names(model.rpartition("/")[2]))
        return next(
            (
                msgspec.structs.replace(facts, documents=False)
                for key, facts in self.models.items()
                if key.rpartition("/")[2] in bare
            ),
            None,
        )


@functools.cache
def load_catalog() -> Catalog:
    return msgspec.json.decode(_FILE.read_bytes(), type=Catalog)


def _names(model: str) -> list[str]:
    """A model's name as written, and without date, version, tag or the maker in front of it."""
    bare = _DATED.sub("", model)
    short = bare.rpartition("anthropic.")[2]
    return [model, bare, short, _DATED.sub("", short), _DOTTED.sub("-", short)]


def _keys(provider: str, model: str) -> list[str]:
    return [f"{provider}/{name}" for name in _names(model)]


def _extended(facts: ModelFacts, extra: ModelSettings | None) -> ModelFacts:
    if extra is None:
        return facts
    given = {
        name: value for name, value in msgspec.structs.asdict(extra).items() if value is not None
    }
    if {"input", "output"} & given.keys():
        given["long"] = None
    return msgspec.structs.replace(facts, **given)
