"""Which plugins count here: what settings say of each, and what the person said to a project.

A project's word is an offer. It turns a plugin off for itself, and turns none on by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.plugins.lock_file import answers_of
from gatewright.agent.plugins.record import Answer, Lock
from gatewright.agent.settings.layers.sources import Loaded
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import COMMITTED, Source
from gatewright.tools.system.untyped_json import obj

KEY = "enabledPlugins"
MARKETS = "extraKnownMarketplaces"


class Enabled(msgspec.Struct, frozen=True, kw_only=True):
    """By id. `offered`: the project names them, and the person has said nothing yet.

    `markets` are marketplaces of which that is true, by name, with what the project says of each.
    """

    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    markets: Mapping[str, Any] = {}
    managed: frozenset[str] = frozenset()  # those that only an administrator changes


def any_named(loaded: Loaded) -> bool:
    """Whether settings speak of plugins at all."""
    settings = loaded.settings
    return bool(settings.enabled_plugins or settings.extra_known_marketplaces)


def enabled(
    loaded: Loaded, places: Places, lock: Lock, *, trusted: bool, bare: bool = False
) -> Enabled:
    said = _by_layer(loaded, places)
    managed, user = said[Source.MANAGED], {**said[Source.USER], **said[Source.FLAG]}
    if bare:
        user = {}
    project: Mapping[str, bool] = {}
    if trusted and not bare:
        project = {**said[Source.PROJECT], **said[Source.LOCAL]}
    answers = answers_of(lock, places.root)
    on: list[str] = []
    off: list[str] = []
    offered: list[str] = []
    for id in sorted({*managed, *user, *project}):
        if id in managed:
            (on if managed[id] else off).append(id)
        elif said[Source.FLAG].get(id) is not None and not bare:
            (on if said[Source.FLAG][id] else off).append(id)
        elif id in project and not project[id]:
            off.append(id)
        elif user.get(id) or (id in project and answers.get(id) == "yes"):
            on.append(id)
        elif id in project and answers.get(id) != "never":
            offered.append(id)
        else:
            off.append(id)
    return Enabled(
        on=tuple(on),
        off=tuple(off),
        offered=tuple(offered),
        markets=_markets(loaded, places, answers) if trusted and not bare else {},
        managed=frozenset(managed),
    )


def market_key(name: str) -> str:
    """Under which the answer to a project's marketplace is kept, beside those to its plugins."""
    return f"@{name}"


def _markets(
    loaded: Loaded, places: Places, answers: Mapping[str, Answer]
) -> Mapping[str, Mapping[str, Any]]:
    """Those that nobody but the project names."""
    files, theirs, ours = _files(places), dict[str, Any](), set[str]()
    for path, values in loaded.valid.items():
        said = obj(values.get(MARKETS))
        if files.get(path, Source.FLAG) in COMMITTED:
            theirs |= said
        else:
            ours |= said.keys()
    return {
        name: raw
        for name, raw in sorted(theirs.items())
        if name not in ours and market_key(name) not in answers
    }


def _files(places: Places) -> Mapping[Path | None, Source]:
    """Where a project is the home itself, its file is the person's."""
    sources = (Source.PROJECT, Source.LOCAL, Source.USER, Source.MANAGED)
    return {places.file(source): source for source in sources}


def _by_layer(loaded: Loaded, places: Places) -> Mapping[Source, Mapping[str, bool]]:
    """What each layer says for itself; what no file of ours says is a flag's."""
    files = _files(places)
    found: dict[Source, dict[str, bool]] = {source: {} for source in Source}
    for path, values in loaded.valid.items():
        found[files.get(path, Source.FLAG)] |= _switches(values)
    return found


def _switches(values: Mapping[str, Any]) -> dict[str, bool]:
    said = obj(values.get(KEY))
    return {id: on for id, on in said.items() if isinstance(on, bool)}
