"""Facts about models as data: window, output limit, prices, capabilities, tiers.

Code never compares a model's name; a model nobody described gets defaults that are safe to send.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from gatewright.agent.providers.settings import ModelSettings
from gatewright.agent.record.messages import Usage
from gatewright.tools.system.patterns import later

_FILE = Path(__file__).with_name("catalog.json")
_MILLION = 1_000_000
_DATED = later(r"[-@]\d{4}-?\d{2}-?\d{2}(-v\d+(:\d+)?)?$|-v\d+(:\d+)?$|:[a-z]+$")
_DOTTED = later(r"(?<=\d)\.(?=\d)")
_FAMILY = later(r"[a-z]{2,}", re.IGNORECASE)
WIDE = "[1m]"
WIDE_WINDOW = 1_000_000
LADDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


class LongPrice(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What every token of a request costs whose input has more than `above` tokens."""

    above: int
    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


class Wide(msgspec.Struct, frozen=True):
    """A larger window than the usual one, which a request must ask for by this beta's name."""

    window: int
    beta: str


class ByMode(msgspec.Struct, frozen=True):
    """An alias whose model depends on whether the session plans."""

    plan: str
    otherwise: str


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
    wide: Wide | None = None
    thinking: str = ""
    efforts: tuple[str, ...] = ()
    images: bool = True
    documents: bool = False
    tools: bool = True
    structured: bool = False
    sampled: bool = (
        False  # a schema binds what is sampled alone: no part of the prompt, with limits
    )
    judges: bool = False  # measured with `agent auto-mode eval`, and good enough
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

    def most_output(self, wanted: int) -> int:
        """How long an answer may be of which so many tokens are wanted."""
        return min(wanted, self.max_output) if self.known else wanted

    def effort(self, wanted: str) -> str:
        """The nearest level the model has, preferring less; empty when it has none."""
        if not wanted or not self.efforts or wanted not in LADDER:
            return ""
        rank = LADDER.index(wanted)
        below = [level for level in self.efforts if LADDER.index(level) <= rank]
        return below[-1] if below else self.efforts[0]


_UNKNOWN = ModelFacts(known=False)


class Catalog(msgspec.Struct, frozen=True, rename="camel"):
    models: dict[str, ModelFacts]
    tiers: dict[str, dict[str, str]]
    aliases: dict[str, str]
    by_mode: dict[str, ByMode] = {}

    def facts(
        self,
        provider: str,
        model: str,
        extra: Mapping[str, ModelSettings] | None = None,
        unknown: Callable[[], ModelFacts] = lambda: _UNKNOWN,
    ) -> ModelFacts:
        """What is known of a model under a provider's catalogue name, with the user's additions.

        `unknown` is asked for what to take where nothing is described.
        """
        found = next(
            (self.models[key] for key in _keys(provider, model) if key in self.models), None
        ) or self._elsewhere(model)
        return _extended(found or unknown(), (extra or {}).get(model))

    def meant(self, alias: str, *, planning: bool = False) -> str:
        """The name to look up for one that depends on the mode; any other as it is."""
        provider, slash, word = alias.rpartition("/")
        name, mark = split_wide(word)
        pair = self.by_mode.get(name)
        if pair is None:
            return alias
        return f"{provider}{slash}{pair.plan if planning else pair.otherwise}{mark}"

    def describes(self, provider: str) -> bool:
        return any(key.startswith(f"{provider}/") for key in self.models)

    def tier(self, provider: str, alias: str) -> str | None:
        """The provider's model for `small`, `opus` and so on; None if the word is no alias."""
        return self.tiers.get(provider, {}).get(self.aliases.get(alias, ""))

    def owners(self, model: str) -> tuple[tuple[str, str], ...]:
        """The providers that describe this model, and what it is called there.

        A date or a tag behind the name is sent as it is; digits parted otherwise are not.
        """
        bare, dashed = _DATED.sub("", model), _DOTTED.sub("-", model)
        for looked_up, called in ((model, model), (bare, model), (dashed, dashed)):
            keys = [key for key in self.models if key.partition("/")[2] == looked_up]
            if keys:
                return tuple((key.partition("/")[0], called) for key in keys)
        return ()

    def relatives(self, model: str) -> tuple[str, ...]:
        """The providers that describe models of the same family: whose name begins alike."""
        family = _family(model)
        found = (key.partition("/")[0] for key in self.models if _family(key) == family)
        return tuple(dict.fromkeys(found)) if family else ()

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


def split_wide(model: str) -> tuple[str, str]:
    """The name, and the mark behind it that asks for the largest window."""
    bare = model.removesuffix(WIDE)
    return bare, model[len(bare) :]


def _family(model: str) -> str:
    begins = _FAMILY.match(model.rpartition("/")[2])
    return begins.group().lower() if begins else ""


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
