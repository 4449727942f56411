"""The model servers known by name; the user's settings of the same name are laid over them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.settings import ProviderSettings

_FILE = Path(__file__).with_name("presets.json")


class Preset(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """`elsewhere` is the type spoken at any other base URL than this one's own; `catalog` the name
    under which its models are described, `keyPage` where a person gets a key."""

    type: str
    elsewhere: str = ""
    base_url: str = ""
    base_url_env: str = ""
    api_key_env: str = ""
    token_env: str = ""
    key_page: str = ""
    catalog: str = ""
    transport: str = "http"
    local: bool = False
    quirks: dict[str, Any] = {}


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model server, fully decided but for its key."""

    name: str
    type: str
    base_url: str
    api_key_env: str
    token_env: str
    api_key_helper: str
    headers: Mapping[str, str]
    quirks: Quirks
    catalog: str
    transport: str
    local: bool
    settings: ProviderSettings


@functools.cache
def load_presets() -> dict[str, Preset]:
    return msgspec.json.decode(_FILE.read_bytes(), type=dict[str, Preset])


def endpoint(
    name: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> Endpoint:
    """Preset, environment and settings in one; settings win. Raises SettingsError."""
    own = settings.get(name, ProviderSettings())
    preset = load_presets().get(name) or Preset(type=own.type or "openai")
    base_url = own.base_url or env.get(preset.base_url_env, "") or preset.base_url
    spoken = preset.type
    if preset.elsewhere and base_url.rstrip("/") != preset.base_url.rstrip("/"):
        spoken = preset.elsewhere
    kind = own.type or spoken
    if not base_url and preset.transport == "http" and own.transport != "sdk":
        raise SettingsError(f"Provider {name!r} has no address: set providers.{name}.baseUrl.")
    return Endpoint(
        name=name,
        type=kind,
        base_url=base_url,
        api_key_env=own.api_key_env or preset.api_key_env,
        token_env=preset.token_env,
        api_key_helper=own.api_key_helper,
        headers=own.headers,
        quirks=_quirks(name, preset, own),
        catalog=preset.catalog or name,
        transport=own.transport or preset.transport,
        local=preset.local,
        settings=own,
    )


def _quirks(name: str, preset: Preset, own: ProviderSettings) -> Quirks:
    base = preset.quirks
    if not preset.api_key_env and not own.api_key_env and not own.api_key_helper:
        base = {**base, "keyRequired": False}
    try:
        return msgspec.convert({**base, **own.quirks}, Quirks)
    except msgspec.ValidationError as error:
        raise SettingsError(f"providers.{name}.quirks: {error}.") from error
