"""The small model beside another one, where that is known to cost less."""

from __future__ import annotations

from gatewright.agent.models.opener import small_name, understood
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.record.messages import Usage
from gatewright.agent.settings.workspace import Surroundings

USUAL = Usage(input=100_000, output=10_000)  # by which two models are compared


def smaller(around: Surroundings, name: str) -> str:
    """The small model, where the named one is known to cost more; else that one."""
    small = small_name(around, name)
    return small if small and _price(around, small) < _price(around, name) else name


def _price(around: Surroundings, name: str) -> float:
    chosen = understood(around, name)
    if chosen is None:
        return 0.0
    return load_catalog().facts(chosen.provider, chosen.model).cost(USUAL)
