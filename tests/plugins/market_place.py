"""A home with what is kept of plugins, and what marketplaces and plugins are made of."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gatewright.agent.plugins.consent import Consent
from gatewright.agent.plugins.installing import Installed
from gatewright.agent.plugins.marketplaces.adding import Adding
from gatewright.agent.plugins.marketplaces.allowed import Allowed
from gatewright.agent.plugins.marketplaces.getting import Getting
from gatewright.agent.plugins.marketplaces.known import KnownMarkets
from gatewright.agent.plugins.marketplaces.market import Market
from gatewright.agent.plugins.marketplaces.updating import Updated, only_new, update
from gatewright.agent.plugins.sources.fetching import Ways
from gatewright.agent.plugins.sources.source import (
    Source,
)
from gatewright.agent.plugins.store import Store

MANIFEST = ".claude-plugin/plugin.json"
LIST = ".claude-plugin/marketplace.json"
ENV = {"HOME": "/nonexistent", "PATH": os.environ["PATH"]}


def plugin(name: str, version: str = "1.0.0", hook: str = "") -> dict[str, str]:
    files = {
        MANIFEST: json.dumps({"name": name, "version": version}),
        "skills/s/SKILL.md": f"---\ndescription: {version}\n---\nText\n",
    }
    if hook:
        handler = {"type": "command", "command": hook}
        files["hooks/hooks.json"] = json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}})
    return files


def listed(*entries: Mapping[str, Any], name: str = "tools", **more: Any) -> str:
    return json.dumps({"name": name, "owner": {"name": "Me"}, "plugins": [*entries], **more})


def below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


class Person:
    """Whoever is asked: says what it was told to, and keeps what it was shown."""

    def __init__(self, *, says: bool = True) -> None:
        self.says = says
        self.saw: list[Consent] = []

    def __call__(self, about: Consent) -> bool:
        self.saw.append(about)
        return self.says


class Place:
    """A home with what is kept of plugins."""

    def __init__(self, home: Path, allowed: Allowed | None = None) -> None:
        home.mkdir(exist_ok=True)
        self.home = home
        self.store = Store(home)
        self.markets = KnownMarkets(home, ENV)
        adding = Adding(
            store=self.store, markets=self.markets, ways=Ways(env=ENV), allowed=allowed or Allowed()
        )
        self.getting = Getting(adding)

    def add(self, source: Source, *, replaces: bool = False, **more: str) -> Market:
        adding = self.getting.adding
        return asyncio.run(adding.add(source, lambda _, __: replaces, **more)).market

    def install(self, text: str, person: Person | None = None, **more: str) -> Installed:
        return asyncio.run(self.getting.install(text, person or Person(), **more))

    def update(self, person: Person | None = None) -> list[Updated]:
        records = [*self.store.lock.read().plugins.values()]
        settings = self.home / "settings.json"
        agreed = only_new(person or Person())
        return asyncio.run(update(self.getting, records, agreed, settings))

    def text(self, id: str, name: str) -> str:
        root = self.store.root(self.store.lock.read().plugins[id])
        return (root / name).read_text(encoding="utf-8")

    def state(self) -> dict[str, str]:
        """All that counts: what is named by the two lists, and no leftovers."""
        kept = {"lock.json", "markets.json"}
        found = {
            str(path.relative_to(self.home)): path.read_text(encoding="utf-8")
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and (path.name in kept or "store" in path.parts)
        }
        aside = self.home / "plugins/aside"
        assert not aside.exists() or not [*aside.iterdir()], "something was left aside"
        return found
