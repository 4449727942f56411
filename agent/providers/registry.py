"""From a model string to a provider ready to stream. What a type needs is imported only then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.errors import GatewrightError, SettingsError
from gatewright.agent.providers.catalog import (
    WIDE,
    WIDE_WINDOW,
    ModelFacts,
    load_catalog,
    split_wide,
)
from gatewright.agent.providers.presets import Endpoint, endpoint, first_of, load_presets
from gatewright.agent.providers.protocol import Provider
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.providers.shared import Sharing, alone, identity
from gatewright.agent.providers.unlisted import near, unpriced

if TYPE_CHECKING:
    from gatewright.agent.providers.listed import Listed

DEFAULT = "default"
BETAS = "anthropic-beta"
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
    "demo": "gatewright.agent.providers.demo.demo:open_demo",
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
    note: str = ""  # what the person should know of it
    aside: str = ""  # and who has just named it


class Chosen(msgspec.Struct, frozen=True):
    """A model string understood; `wide` where the largest window is asked for."""

    provider: str
    model: str
    wide: bool = False

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"


def open_provider(
    model: str,
    *,
    settings: Mapping[str, ProviderSettings],
    env: Mapping[str, str],
    sharing: Sharing = alone,
) -> Opened:
    """Raises `ProviderError` (no key) or `SettingsError` (no such provider), each one sentence."""
    chosen = choose(model, settings=settings, env=env)
    server = endpoint(chosen.provider, settings, env)
    facts = facts_of(server, env)
    factory = VENDORS if server.transport == "sdk" else FACTORIES.get(server.type)
    if factory is None or server.type not in FACTORIES:
        raise SettingsError(
            f"providers.{server.name}.type {server.type!r} is none of {', '.join(FACTORIES)}."
        )
    own, note, mark = facts(chosen.model), "", ""
    if chosen.wide:
        server, own, note, mark = _widened(server, own, chosen)
    module, _, attribute = factory.partition(":")
    make: Callable[[Endpoint, Facts, Mapping[str, str]], Provider] = vars(import_module(module))[
        attribute
    ]
    provider = sharing(identity(server, env), lambda: make(server, facts, env))
    note = note or ("" if own.known else _undescribed(server, chosen, own, env))
    name, aside = (
        f"{chosen.name}{mark}",
        "" if own.known or note else unpriced(server, chosen.model, own),
    )
    return Opened(provider, chosen.model, own, name, lack=server.lack, note=note, aside=aside)


def choose(
    model: str, *, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> Chosen:
    """`provider/model`, `provider/alias`, `provider`, `model` or `alias` as provider and model.

    `default` is what would answer if nobody had named a model.
    """
    catalog = load_catalog()
    name, mark = split_wide(catalog.meant(model.strip()))
    names = {**load_presets(), **settings}
    first, slash, rest = name.partition("/")
    first = first if first in names else provider_of(first)

    def chosen(provider: str, called: str) -> Chosen:
        bare, wide = split_wide(called)  # what names a tier may ask for it, too
        return Chosen(provider, bare, bool(mark or wide))

    if slash and first:
        alias = "medium" if rest == DEFAULT else rest
        return chosen(first, tier_of(first, alias, env) or rest)
    if name in names and (alone := tier_of(name, "medium", env)):
        return chosen(name, alone)
    active = active_provider(settings, env)
    if active and (tier := tier_of(active, name, env)):
        return chosen(active, tier)
    if name == DEFAULT and (usual := default_model(settings, env)):
        return choose(f"{usual}{mark}", settings=settings, env=env)
    described = any(name in own.models for own in settings.values())
    if not described and (name in catalog.aliases or name == DEFAULT):
        raise GatewrightError(
            f"{model!r} needs a provider with a key: set ANTHROPIC_API_KEY or OPENAI_API_KEY, "
            "or try --model demo, which needs none."
        )
    found, told = _owner(name, settings, env), told_provider(env)
    if told and (found is None or found[0] == _catalog_name(told)):
        return chosen(told, name)
    if found:
        return chosen(*found)
    raise SettingsError(_unknown(name, name.partition("/")[0] if slash else "", names))


def default_model(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str | None:
    """The model to use where none was named: what the environment says of the first provider with
    a key, else its medium tier."""
    active = _usual_provider(settings, env)
    if active is None:
        return None
    if variable := model_variable(settings, env):
        known, named = f"{active}/", env[variable].strip()
        return named if named.startswith(known) and active not in settings else known + named
    if tier := tier_of(active, "medium", env):
        return f"{active}/{tier}"
    described = settings[active].models if active in settings else {}
    return next((f"{active}/{model}" for model in described), None)


def model_variable(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str:
    """The variable that names the model where nobody else does; empty where none does."""
    preset = load_presets().get(_usual_provider(settings, env) or "")
    return preset.model_env if preset and env.get(preset.model_env, "").strip() else ""


def _usual_provider(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str | None:
    """The one in use, else one that a variable names a model of."""
    named = (name for name, one in load_presets().items() if env.get(one.model_env))
    return active_provider(settings, env) or next(named, None)


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


def key_source(server: Endpoint, env: Mapping[str, str], stored: Iterable[str]) -> str:
    """Where a key for it is found, never the key: a variable, the helper, a login; else nothing."""
    for variable in (server.api_key_env, server.token_env):
        if env.get(variable):
            return variable
    if server.api_key_helper:
        return "apiKeyHelper"
    return "stored key" if server.name in stored else ""


def _stored(env: Mapping[str, str]) -> tuple[str, ...]:
    from gatewright.agent.providers.keys.stored_keys import key_store  # noqa: PLC0415  lazy: 3 ms

    return key_store(env).names()


def facts_of(server: Endpoint, env: Mapping[str, str]) -> Facts:
    """Of a model that the catalogue lacks, what its server's own list said counts."""
    catalog = load_catalog()

    def unknown(model: str) -> ModelFacts:
        facts = ModelFacts(known=False)
        found = _listed(server, model, env)
        if found is None or not found.window:
            return facts
        output = min(found.max_output or facts.max_output, found.window // 2)
        return msgspec.structs.replace(facts, window=found.window, max_output=output)

    def known(model: str) -> ModelFacts:
        own = server.settings.models
        facts = catalog.facts(server.catalog, model, own, lambda: unknown(model))
        return msgspec.structs.replace(facts, sampled=True) if server.local else facts

    return known


def _listed(server: Endpoint, model: str, env: Mapping[str, str]) -> Listed | None:
    from gatewright.agent.providers.listed import (  # noqa: PLC0415  lazy: 1 ms, unknown models only
        model_lists,
    )

    models = model_lists(env).of(server.name, server.base_url)
    return next((one for one in models if one.name == model), None)


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


def provider_of(catalog_name: str) -> str:
    """The provider whose models are described under another name than its own."""
    presets = load_presets()
    if catalog_name in presets or not catalog_name:
        return catalog_name
    return next((n for n, preset in presets.items() if preset.catalog == catalog_name), "")


def _owner(
    model: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> tuple[str, str] | None:
    """The provider of a bare model name, and what the model is called there.

    Whoever describes it, one with a key first; then the server that the person put in the place of
    a provider's own; then whoever lists it, or has others like it, or answers anyway.
    """
    catalog = load_catalog()
    described = [(name, model) for name, own in settings.items() if model in own.models]
    owners = [*described]
    owners += [(provider_of(name) or name, called) for name, called in catalog.owners(model)]
    keyed = [owner for owner in owners if has_key(owner[0], settings, env)]
    if not keyed and len(owners) > 1:
        stored = _stored(env)
        keyed = [owner for owner in owners if owner[0] in stored]
    if first := next(iter([*keyed, *described]), None):
        return first
    relatives = [] if owners or "/" in model else _relatives(model)
    if len(relatives) == 1 and _keyed(relatives[0], settings, env):  # its maker
        return relatives[0], model
    if instead := _redirected(settings, env):
        return instead, model
    if owners:
        return owners[0]
    return _elsewhere(model, relatives, settings, env)


def _relatives(model: str) -> list[str]:
    return [provider_of(name) or name for name in load_catalog().relatives(model)]


def _keyed(name: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> bool:
    return has_key(name, settings, env) or name in _stored(env)


def _redirected(settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str:
    """The provider whose variable or setting names another address than its own."""
    own = [name for name, preset in load_presets().items() if preset.elsewhere]
    servers = (_endpoint_or_none(name, settings, env) for name in (*own, *_ORDER))
    return next((server.name for server in servers if server and server.elsewhere), "")


def _elsewhere(
    model: str,
    relatives: Sequence[str],
    settings: Mapping[str, ProviderSettings],
    env: Mapping[str, str],
) -> tuple[str, str] | None:
    """Where to send a name that nobody describes; None for what does not look like a full one."""
    if lister := _lister(model, settings, env):
        return lister, model
    if "/" in model or not any(not char.isalpha() for char in model):
        return None
    keyed = [name for name in relatives if _keyed(name, settings, env)]
    to = next(iter([*keyed, *relatives]), None) or active_provider(settings, env)
    return (to, model) if to else None


def _lister(model: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]) -> str:
    from gatewright.agent.providers.listed import (  # noqa: PLC0415  lazy: 1 ms, unknown models only
        model_lists,
    )

    names = model_lists(env).all()
    servers = (_endpoint_or_none(name, settings, env) for name in names)
    listing = (server.name for server in servers if server and _listed(server, model, env))
    return next(listing, "")


def _widened(
    server: Endpoint, facts: ModelFacts, chosen: Chosen
) -> tuple[Endpoint, ModelFacts, str, str]:
    """Server, facts, note and mark of the model with its largest window."""
    if facts.wide is not None:
        replace = msgspec.structs.replace
        headers = {name.lower(): value for name, value in server.headers.items()}
        betas = [*filter(None, [headers.get(BETAS, "")]), facts.wide.beta]
        wide = replace(server, headers={**headers, BETAS: ",".join(betas)})
        return wide, replace(facts, window=facts.wide.window), "", WIDE
    if not facts.known:
        return server, msgspec.structs.replace(facts, window=WIDE_WINDOW), "", WIDE
    if facts.window >= WIDE_WINDOW:
        return server, facts, "", ""
    note = f"{chosen.name} has no larger window than {facts.window // 1000}k: that one counts."
    return server, facts, note, ""


def _undescribed(
    server: Endpoint, chosen: Chosen, facts: ModelFacts, env: Mapping[str, str]
) -> str:
    """What to know of a model that a provider is not known to have; empty where none is known."""
    catalog, model = load_catalog(), chosen.model
    told = server.elsewhere or server.local or model in server.settings.models
    if told or not catalog.describes(server.catalog) or _listed(server, model, env):
        return ""
    known = [key.partition("/")[2] for key in catalog.models if key.startswith(server.catalog)]
    window, output = f"{facts.window // 1000}k", f"{facts.max_output // 1000}k"
    return (
        f"{model} is not in the catalogue and is sent to {server.name} as it is written, with a "
        f"window of {window} and an answer of {output} at most.{near(model, known)} "
        f"providers.{server.name}.models can describe it."
    )


def _unknown(model: str, provider: str, names: Mapping[str, object]) -> str:
    if provider:
        rest = f"/{model.partition('/')[2]}"
        hint = near(provider, list(names), rest)
        return f"There is no provider {provider!r}.{hint} `agent models` lists what there is."
    catalog = load_catalog()
    known = [key.partition("/")[2] for key in catalog.models]
    hint = near(model, [*catalog.aliases, *catalog.by_mode, *known])
    return f"There is no model {model!r}.{hint} Write it as provider/model, or see `agent models`."
