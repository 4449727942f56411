"""Models and keys for people: which can be used now, what they cost, where a key comes from.

A key goes in here and never comes out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gatewright.agent.errors import GatewrightError, SettingsError
from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.keys.stored_keys import KeyStore, key_store
from gatewright.agent.providers.presets import Endpoint, endpoint, load_presets
from gatewright.agent.providers.registry import (
    choose,
    default_model,
    facts_of,
    key_source,
    model_variable,
)
from gatewright.agent.settings.layers.flag_values import MODEL_ENV
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import Surroundings

if TYPE_CHECKING:
    from gatewright.agent.providers.listing import LocalServer

FIRST = ("anthropic", "openai")
KEY_LIMIT = 8192
ASKING_SECONDS = 1.5  # for what only the servers themselves know


Check: TypeAlias = Callable[[Endpoint, str, Mapping[str, str]], Awaitable[str]]


async def _ask_server(server: Endpoint, key: str, env: Mapping[str, str]) -> str:
    from gatewright.agent.providers.listing import try_key  # noqa: PLC0415  lazy: 15 ms

    return await try_key(server, key, env)


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
        check: Check = _ask_server,
    ) -> None:
        self._around = around
        self._keys = store
        self._check = check
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

    def lacks(self, model: str) -> bool:
        """Whether nothing can answer: no model, or none of those that its key opens."""
        around = self._around()
        model = model or around.settings.model
        model = model or default_model(around.providers, around.env) or ""  # a key may have come
        if not model:
            return True
        try:
            server = self._endpoint(
                choose(model, settings=around.providers, env=around.env).provider
            )
            wanted = server.transport == "http" and server.quirks.key_required
            return wanted and not self._why(server, self._store().names())
        except SettingsError:
            return False  # a name or an address that is wrong is told where it is used
        except GatewrightError:
            return True

    def usual(self, provider: str) -> str:
        """The provider's model where none is named; empty where it has none."""
        resolved = self.resolved(provider)
        return resolved if resolved != provider else ""

    def answering(self, model: str) -> str:
        """The model and where it comes from, in a line; empty where nothing can answer."""
        return "" if self.lacks(model) else f"{self.resolved(model)}  ({self._named_by(model)})"

    def _named_by(self, model: str) -> str:
        """Who chose this very model; `this session` where what was set names another one."""
        around, name = self._around(), self.resolved(model)
        if around.options.model:
            carried = around.options.carried_model
            named, source = around.options.model, "this session" if carried else "--model"
        elif (layers := around.loaded.provenance.get("model")) == (Source.CLI,):
            named, source = around.settings.model, MODEL_ENV  # the flags' layer, and no flag
        elif layers:
            named, source = around.settings.model, f"{', '.join(layers)} settings"
        else:
            named = default_model(around.providers, around.env) or model
            source = model_variable(around.providers, around.env) or self._by_key(name)
        return source if self.resolved(named) == name else "this session"

    def _by_key(self, name: str) -> str:
        provider = name.partition("/")[0]
        found = next((one.found for one in self.key_places() if one.provider == provider), "")
        return f"default, {found}" if found else "default"

    async def nearby(self) -> tuple[LocalServer, ...]:
        """Model servers at the usual ports of this machine, and nowhere else."""
        from gatewright.agent.providers.listing import local_servers  # noqa: PLC0415  lazy: 15 ms

        around = self._around()
        return await local_servers(around.providers, around.env, here=True)

    # keys

    async def check(self, provider: str, key: str) -> str:
        """Why the key could not be tried, else nothing. Raises GatewrightError: it is wrong."""
        return await self._check(self._endpoint(provider), one_key(key), self._around().env)

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
            if server.name in stored or server.api_key_helper or _takes_key(server)
        ]  # fmt: skip
        return sorted(places, key=lambda place: (not place.found, not place.page))

    def stored(self) -> tuple[str, ...]:
        """The providers whose key was stored by a login."""
        return self._store().names()

    def keep(self, provider: str, key: str) -> str:
        """Store a key; says where it went. May ask the keyring. Raises GatewrightError."""
        key = one_key(key)
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


def one_key(text: str) -> str:
    """The key in what somebody typed. Raises GatewrightError."""
    key = text.strip()
    blank = any(char.isspace() or not char.isprintable() for char in key)
    if not key or blank or len(key) > KEY_LIMIT:
        raise GatewrightError("That is no key: give one line without spaces.")
    return key


def _takes_key(server: Endpoint) -> bool:
    """A server of this machine asks for none; who wants one there writes down where it is."""
    return bool(server.api_key_env) and not server.local


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
