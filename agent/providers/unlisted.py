"""What people are told of a name that no list has: the nearest one, and what is not known of it."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.presets import Endpoint


def unpriced(server: Endpoint, model: str, facts: ModelFacts) -> str:
    """What to know of a name that only the server behind another address may know."""
    catalog = load_catalog()
    if not server.elsewhere or server.local or not catalog.describes(server.catalog):
        return ""
    known = [key.partition("/")[2] for key in catalog.models if key.startswith(server.catalog)]
    return (
        f"{model} is in no list here and is sent to the address that {server.name} has "
        "here, as it is written. "
        f"What it costs is not known, and its window is taken for {facts.window // 1000}k."
        f"{near(model, known)} providers.{server.name}.models can describe it."
    )


def near(given: str, known: Sequence[str], rest: str = "") -> str:
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 5 ms, on a typing error only

    found = get_close_matches(given, known, n=1)
    return f" Did you mean {found[0]}{rest}?" if found else ""
