"""Models and keys for people: which can be used now, what they cost, where a key comes from.

A key goes in here and never comes out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from gatewright.agent.errors import GatewrightError, SettingsError
from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.keys import KeyStore, key_store
from gatewright.agent.providers.presets import Endpoint, endpoint, load_presets
from gatewright.agent.providers.registry import choose, facts_of, key_source
from gatewright.agent.surroundings import Surroundings

FIRST = ("anthropic", "openai")
KEY_LIMIT = 8192
ASKING_SECONDS = 1.5  # for what only the servers themselves know


def _nobody() -> None:
    """Nobody uses a key yet."""


class Usable(msgspec.Struct, frozen=True):
    """A model as `provider/model`, and why it can be used: a key, this machine."""

    name: str
    facts: ModelFacts
    why: str


class KeyPlace(msgspec.Struct, frozen=True):
    """Where a provider's key is taken from; `found` is empty where there is none."""

    provider: str
    variable: str
    found: str
    page: str


class ModelBook:
    """`around` are the surroundings in force when it is asked."""

    def __init__(
        self,
        around: Callable[[], Surroundings],
        store: Callable[[Mapping[str, str]], KeyStore] = key_store,
    ) -> None:
        self._around = around
        self._keys = store
        self.changed: Callable[[], None] = _nobody  # a key came or went

    async def usable(self) -> list[Usable]:
        """Providers with a key first, then servers on this machine, then what needs neither."""
        servers, around = list(self._servers()), self._around()
        stored = set(self._store().names())
        keyed = [(server, self._why(server, stored)) for server in servers if not server.local]
        described = [
            Usable(f"{server.name}/{model}", facts_of(server, around.env)(model), why)
            for server, why in _once(keyed)
            for model in _described(server)
        ]
        silent = [server for server, why in keyed if why and not _described(server)]
        asked = [server for server in servers if server.local] + silent
        free = [server for server in servers if server.transport == "none"]
        return [
            *described,
            *await self._listed(asked),
            *(Usable(f"{server.name}/{server.name}", ModelFacts(known=False), "no key needed")
              for server in free),
        ]  # fmt: skip

    def resolved(self, model: str) -> str:
        """The model as `provider/model`, or as it was written where that is not known."""
        around = self._around()
        try:
            chosen = choose(model, settings=around.providers, env=around.env)
        except GatewrightError:
            return model
        return chosen.name

    def facts(self, model: str) -> ModelFacts:
        around = self._around()
        provider, _, name = self.resolved(model).partition("/")
        try:
            return facts_of(self._endpoint(provider), around.env)(name)
        except SettingsError:
            return ModelFacts(known=False)

    def effort(self, model: str, chosen: str) -> str:
        """The level in force; empty where the model decides."""
        return self.facts(model).effort(chosen or self._around().settings.effort)

    # keys

    def key_places(self) -> list[KeyPlace]:
        """The providers that take a key, those that have one first, then the well-known."""
        stored = set(self._store().names())
        pages = {name: preset.key_page for name, preset in load_presets().items()}
        places = [
            KeyPlace(
                server.name, server.api_key_env, self._why(server, stored),
                pages.get(server.name, ""),
            )
            for server in self._servers()
            if server.api_key_env or server.api_key_helper or server.name in stored
        ]  # fmt: skip
        return sorted(places, key=lambda place: (not place.found, not place.page))

    def stored(self) -> tuple[str, ...]:
        """The providers whose key was stored by a login."""
        return self._store().names()

    def keep(self, provider: str, key: str) -> str:
        """Store a key; says where it went. May ask the keyring. Raises GatewrightError."""
        key = key.strip()
        blank = any(char.isspace() or not char.isprintable() for char in key)
        if not key or blank or len(key) > KEY_LIMIT:
            raise GatewrightError("That is no key: give one line without spaces.")
        place = self._store().put(provider, key)
        self.changed()
        return "the system's keyring" if place == "keyring" else "a file only you can read"

    def forget(self, provider: str) -> bool:
        """Forget a stored key; False when there was none. May ask the keyring."""
        dropped = self._store().drop(provider)
        self.changed()
        return dropped

    def _store(self) -> KeyStore:
        return self._keys(self._around().env)

    def _servers(self) -> Iterator[Endpoint]:
        presets, own = load_presets(), self._around().providers
        added = [name for name in own if name not in presets]
        for name in dict.fromkeys([*added, *FIRST, *presets]):
            try:
                yield self._endpoint(name)
            except SettingsError:
                continue

    def _endpoint(self, name: str) -> Endpoint:
        around = self._around()
        return endpoint(name, around.providers, around.env)

    def _why(self, server: Endpoint, stored: Iterable[str]) -> str:
        return key_source(server, self._around().env, stored)

    async def _listed(self, servers: list[Endpoint]) -> list[Usable]:
        """What the servers themselves list; who does not answer soon is left out."""
        from gatewright.agent.providers.listing import look  # noqa: PLC0415  lazy: 15 ms

        around = self._around()
        asking = [asyncio.ensure_future(look(server, around.env)) for server in servers]
        if not asking:
            return []
        _, late = await asyncio.wait(asking, timeout=ASKING_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        return [
            Usable(f"{server.name}/{model}", facts_of(server, around.env)(model), _place(server))
            for server, task in zip(servers, asking, strict=True)
            if task not in late
            for model in task.result() or ()
        ]


def _place(server: Endpoint) -> str:
    return "this machine" if server.local else "key"


def _once(keyed: list[tuple[Endpoint, str]]) -> Iterator[tuple[Endpoint, str]]:
    """Without other ways to the same models with the same key."""
    seen: set[str] = set()
    for server, why in keyed:
        if why and f"{server.catalog} {why}" not in seen:
            seen.add(f"{server.catalog} {why}")
            yield server, why


def _described(server: Endpoint) -> list[str]:
    prefix = f"{server.catalog}/"
    known = [name[len(prefix) :] for name in load_catalog().models if name.startswith(prefix)]
    return list(dict.fromkeys([*server.settings.models, *known]))
