"""From a model string to a provider ready to stream. What a type needs is imported only then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

import msgspec

from gatewright.agent.errors import GatewrightError, SettingsError
from gatewright.agent.providers.catalog import ModelFacts, load_catalog
from gatewright.agent.providers.presets import Endpoint, endpoint, first_of, load_presets
from gatewright.agent.providers.protocol import Provider
from gatewright.agent.providers.settings import ProviderSettings

VENDORS = "gatewright.agent.providers.vendors:open_vendor"
FACTORIES = {  # type -> who makes the provider; 0 ms until one is asked for
    "anthropic": "gatewright.agent.providers.direct:open_direct",
    "openai": "gatewright.agent.providers.direct:open_direct",
    "openai-responses": "gatewright.agent.providers.direct:open_direct",
    "bedrock": VENDORS,
    "vertex": VENDORS,
    "foundry": VENDORS,
    "azure": VENDORS,
    "azure-responses": VENDORS,
    "demo": "gatewright.agent.providers.demo:open_demo",
}
_ORDER = ("anthropic", "openai")  # where both have a key

Facts = Callable[[str], ModelFacts]


class Opened(msgspec.Struct, frozen=True):
    """`model` is the name as the server knows it; `name` is `provider/model`."""

    provider: Provider
    model: str
    facts: ModelFacts
    name: str = ""
    lack: str = ""  # of the server, where its models write calls as text


class Chosen(msgspec.Struct, frozen=True):
    """A model string understood."""

    provider: str
    model: str


def open_provider(
    model: str, *, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> Opened:
    """Raises `ProviderError` (no key) or `SettingsError` (no such provider), each one sentence."""
    chosen = choose(model, settings=settings, env=env)
    server = endpoint(chosen.provider, settings, env)
    facts = facts_of(server)
    factory = VENDORS if server.transport == "sdk" else FACTORIES.get(server.type)
    if factory is None or server.type not in FACTORIES:
        raise SettingsError(
            f"providers.{server.name}.type {server.type!r} is none of {', '.join(FACTORIES)}."
        )
    module, _, attribute = factory.partition(":")
    make: Callable[[Endpoint, Facts, Mapping[str, str]], Provider] = vars(import_module(module))[
        attribute
    ]
    provider = make(server, facts, env)
    name = f"{chosen.provider}/{chosen.model}"
    return Opened(provider, chosen.model, facts(chosen.model), name, server.lack)


def choose(
    model: str, *, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> Chosen:
    """`provider/model`, `provider/alias`, `provider`, `model` or `alias` as provider and model."""
    catalog = load_catalog()
    names = {**load_presets(), **settings}
    first, slash, rest = model.strip().partition("/")
    if slash and first in names:
        return Chosen(first, tier_of(first, rest, env) or rest)
    if model in names and (alone := tier_of(model, "medium", env)):
        return Chosen(model, alone)
    active = active_provider(settings, env)
    if active and (tier := tier_of(active, model, env)):
        return Chosen(active, tier)
    owner, told = _owner(model, settings, env), told_provider(env)
    if told and owner in (None, _catalog_name(told)):
        return Chosen(told, model)
    if owner:
        return Chosen(owner, model)
    if model in catalog.aliases:
        raise GatewrightError(
            f"{model!r} needs a provider with a key: set ANTHROPIC_API_KEY or OPENAI_API_KEY, "
            "or try --model demo, which needs none."
        )
    raise SettingsError(_unknown(model, first if slash else "", names))


def default_model(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str | None:
    """The model to use where none was named: what the environment says of the first provider with
    a key, else its medium tier."""
    presets = load_presets()
    active = active_provider(settings, env)
    if active is None:
        active = next((name for name, one in presets.items() if env.get(one.model_env)), None)
        if active is None:
            return None
    if active in presets and (named := env.get(presets[active].model_env, "").strip()):
        known = f"{active}/"
        return named if named.startswith(known) and active not in settings else known + named
    if tier := tier_of(active, "medium", env):
        return f"{active}/{tier}"
    described = settings[active].models if active in settings else {}
    return next((f"{active}/{model}" for model in described), None)


def active_provider(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str | None:
    """The first provider that has a key: the user's own, then Anthropic, OpenAI, the rest.

    Local servers and clouds are never chosen on their own, but a variable may name a cloud.
    """
    if told := told_provider(env):
        return told
    presets = load_presets()
    own = [name for name in settings if name not in presets]
    ordered = list(dict.fromkeys([*own, *_ORDER, *presets]))
    if found := next((name for name in ordered if has_key(name, settings, env)), None):
        return found
    stored = _stored(env)
    return next((name for name in ordered if name in stored), None)


def told_provider(env: Mapping[str, str]) -> str | None:
    """The provider that a variable switches on."""
    return next(
        (name for name, one in load_presets().items() if _on(env.get(one.chosen_env, ""))), None
    )


def _on(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "on")


def tier_of(provider: str, alias: str, env: Mapping[str, str]) -> str | None:
    """The provider's model for `small`, `opus` and so on, which the environment may name; None if
    the word is no alias."""
    catalog, preset = load_catalog(), load_presets().get(provider)
    tier = catalog.aliases.get(alias, "")
    named = first_of(preset.tier_env.get(tier, ()), env) if preset else ""
    return named or catalog.tier(_catalog_name(provider), alias)


def has_key(name: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> bool:
    """A key is configured. Stored keys are not looked up here: that may ask the keyring."""
    server = _endpoint_or_none(name, settings, env)
    if server is None or server.local:
        return False
    variables = (server.api_key_env, server.token_env)
    return bool(server.api_key_helper or any(env.get(variable) for variable in variables))


def _stored(env: Mapping[str, str]) -> tuple[str, ...]:
    from gatewright.agent.providers.keys import key_store  # noqa: PLC0415  lazy: 3 ms

    return key_store(env).names()


def facts_of(server: Endpoint) -> Facts:
    catalog = load_catalog()
    return lambda model: catalog.facts(server.catalog, model, server.settings.models)


def _endpoint_or_none(
    name: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> Endpoint | None:
    try:
        return endpoint(name, settings, env)
    except SettingsError:
        return None


def _catalog_name(provider: str) -> str:
    preset = load_presets().get(provider)
    return (preset.catalog if preset else "") or provider


def _owner(
    model: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> str | None:
    """The provider of a bare model name: one with a key first."""
    described = [name for name, own in settings.items() if model in own.models]
    owners = [*described, *load_catalog().providers_of(model)]
    with_key = [name for name in owners if has_key(name, settings, env)]
    return next(iter([*with_key, *owners]), None)


def _unknown(model: str, provider: str, names: Mapping[str, object]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 5 ms, on a typing error only

    if provider:
        near = get_close_matches(provider, list(names), n=1)
        hint = f" Did you mean {near[0]}/{model.partition('/')[2]}?" if near else ""
        return f"There is no provider {provider!r}.{hint} `agent models` lists what there is."
    known = [key.partition("/")[2] for key in load_catalog().models]
    near = get_close_matches(model, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no model {model!r}.{hint} Write it as provider/model, or see `agent models`."
