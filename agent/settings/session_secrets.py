"""The session's secrets by what settings say: kept from commands, masked in text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.settings.schema import Settings
from gatewright.tools.system.secrets import KEEP, Secrets, kept_by, secret_name, secret_value


def providers_of(settings: Settings) -> Mapping[str, ProviderSettings]:
    try:
        return msgspec.convert(settings.providers, dict[str, ProviderSettings])
    except msgspec.ValidationError as error:
        raise SettingsError(f"settings.json, providers: {error}.") from error


def secrets_of(
    settings: Settings, providers: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> Secrets:
    """Presets need no row: a test holds that each of their variables tells by its name."""
    own = providers.values()
    named = {settings.web.search_key_env, *(one.api_key_env for one in own)} - {""}
    return Secrets(
        named=frozenset(named),
        kept=kept_by(env) | frozenset(settings.sandbox.keep_env),
        values=frozenset(_in_headers(own)),
    )


def set_by(settings: Settings) -> Mapping[str, str]:
    """What settings set. Which secrets commands may have is said elsewhere: by the person alone."""
    return {name: value for name, value in settings.env.items() if name != KEEP}


def _in_headers(providers: Iterable[ProviderSettings]) -> Iterator[str]:
    """A header's key, with and without the scheme in front of it."""
    for provider in providers:
        for name, value in provider.headers.items():
            if secret_name(name) or secret_value(value):
                yield value
                yield value.rpartition(" ")[2]
