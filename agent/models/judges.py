"""Which model judges calls in auto mode: one that was measured, or that the person accepts."""

from __future__ import annotations

import msgspec

from gatewright.agent.models.opener import understood, wanted_model
from gatewright.agent.models.smaller import smaller
from gatewright.agent.providers.catalog import Catalog, ModelFacts, load_catalog
from gatewright.agent.providers.registry import Chosen
from gatewright.agent.record.messages import Usage
from gatewright.agent.settings.workspace import Surroundings

USUAL = Usage(input=2_000, cache_read=20_000, output=60)  # by which two models are compared
DISABLED = "Auto mode is disabled by your settings (permissions.disableAutoMode)."
NONE = (
    "Auto mode is not available: no model of this provider was measured as a judge. "
    "`agent auto-mode eval --model NAME` measures one; `agent config set autoMode.unmeasured true` "
    "lets one judge that was not."
)
NAMED = (
    "Auto mode is not available: {model} was not measured as a judge. `agent auto-mode eval "
    "--model {model}` measures it; `agent config set autoMode.unmeasured true` accepts it as it is."
)
UNMEASURED = (
    "Auto mode: {model} judges, which nobody measured. What it lets run may be wrong; the sandbox "
    "and your deny and ask rules hold all the same."
)


class Found(msgspec.Struct, frozen=True):
    """Who judges; without a name `lack` says why nobody does."""

    model: str = ""
    measured: bool = False
    lack: str = ""


def judge_for(around: Surroundings, answering: str = "") -> Found:
    """`answering` is the model the session works with, where that is known."""
    settings = around.settings.auto_mode
    if around.settings.permissions.disable_auto_mode:
        return Found(lack=DISABLED)
    if settings.model:
        return _named(around, settings.model)
    catalog = load_catalog()
    if not settings.unmeasured and not any(facts.judges for facts in catalog.models.values()):
        return Found(lack=NONE)  # most starts: nothing is looked up for them
    wanted = understood(around, answering or wanted_model(around, ""))
    if wanted is None:
        return Found(lack=NONE)
    own = _measured(catalog, wanted)
    if own:
        return Found(own, measured=True)
    if settings.unmeasured:
        return Found(smaller(around, wanted.name))
    return Found(lack=NONE)


def _named(around: Surroundings, name: str) -> Found:
    chosen = understood(around, name)
    if chosen is None:
        return Found(
            lack=f"Auto mode is not available: there is no model {name!r} (autoMode.model)."
        )
    measured = load_catalog().facts(chosen.provider, chosen.model).judges
    if measured or around.settings.auto_mode.unmeasured:
        return Found(chosen.name, measured)
    return Found(lack=NAMED.format(model=chosen.name))


def _measured(catalog: Catalog, wanted: Chosen) -> str:
    """The cheapest of its provider, else itself."""
    lead = f"{wanted.provider}/"
    fit: list[tuple[float, str]] = [
        (facts.cost(USUAL), name)
        for name, facts in catalog.models.items()
        if facts.judges and name.startswith(lead)
    ]
    if fit:
        return min(fit)[1]
    facts: ModelFacts = catalog.facts(wanted.provider, wanted.model)
    return wanted.name if facts.judges else ""
