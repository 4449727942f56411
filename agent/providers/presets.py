"""The model servers known by name; the user's settings of the same name are laid over them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.settings import ProviderSettings

EVERYWHERE = ("", "0.0.0.0", "[::]")  # where a server listens, and nobody can be asked
_FILE = Path(__file__).with_name("presets.json")


class Preset(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """`elsewhere` is the type spoken at any other base URL than this one's own; `catalog` the name
    under which its models are described, `keyPage` where a person gets a key, `keyCheck` the path
    that needs a key where the list of models needs none.

    Variables are those that its own and other programs know: `hostEnv` holds a host and a port,
    `chosenEnv` says that this server is the one to use, `modelEnv` its usual model, and `tierEnv`
    the model of a tier; of several the first that is set counts.
    """

    type: str
    elsewhere: str = ""
    base_url: str = ""
    base_url_env: tuple[str, ...] = ()
    host_env: str = ""
    api_key_env: str = ""
    other_key_env: str = ""
    token_env: str = ""
    chosen_env: str = ""
    model_env: str = ""
    tier_env: dict[str, tuple[str, ...]] = {}
    key_page: str = ""
    key_check: str = ""
    catalog: str = ""
    transport: str = "http"
    local: bool = False
    lack: str = ""
    quirks: dict[str, Any] = {}

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Where a key for this server may be."""
        return tuple(filter(None, (self.api_key_env, self.other_key_env, self.token_env)))


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
    lack: str = ""
    key_check: str = ""
    elsewhere: bool = False  # at another address than the preset's own


@functools.cache
def load_presets() -> dict[str, Preset]:
    return msgspec.json.decode(_FILE.read_bytes(), type=dict[str, Preset])


def endpoint(
    name: str, settings: Mapping[str, ProviderSettings], env: Mapping[str, str]
) -> Endpoint:
    """Preset, environment and settings in one; settings win. Raises SettingsError."""
    own = settings.get(name, ProviderSettings())
    preset = load_presets().get(name) or Preset(type=own.type or "openai")
    base_url = own.base_url or _named_address(preset, env) or preset.base_url
    elsewhere = base_url.rstrip("/") != preset.base_url.rstrip("/")
    spoken = preset.elsewhere if preset.elsewhere and elsewhere else preset.type
    kind = own.type or spoken
    if not base_url and preset.transport == "http" and own.transport != "sdk":
        raise SettingsError(f"Provider {name!r} has no address: set providers.{name}.baseUrl.")
    return Endpoint(
        name=name,
        type=kind,
        base_url=base_url,
        api_key_env=own.api_key_env or _key_env(preset, env),
        token_env=preset.token_env,
        api_key_helper=own.api_key_helper,
        headers=own.headers,
        quirks=_quirks(name, preset, own, elsewhere=elsewhere),
        catalog=preset.catalog or name,
        transport=own.transport or preset.transport,
        local=preset.local,
        settings=own,
        lack=preset.lack,
        key_check="" if elsewhere else preset.key_check,
        elsewhere=elsewhere,
    )


def first_of(names: Iterable[str], env: Mapping[str, str]) -> str:
    """What the first variable that is set says."""
    return next((value for name in names if (value := env.get(name, "").strip())), "")


def _key_env(preset: Preset, env: Mapping[str, str]) -> str:
    """The variable that holds a key; the usual one where none does."""
    usual, other = preset.api_key_env, preset.other_key_env
    return other if other and env.get(other) and not env.get(usual) else usual


def _named_address(preset: Preset, env: Mapping[str, str]) -> str:
    if address := first_of(preset.base_url_env, env):
        return address
    host = env.get(preset.host_env, "").strip()
    return _address_of(host, preset.base_url) if host else ""


def _address_of(host: str, usual: str) -> str:
    """`host`, `host:port`, `:port` or a URL, as a server is told where to listen.

    What it leaves out is as usual; a server that listens everywhere is asked on this machine.
    """
    known = urlsplit(usual)
    scheme, separator, rest = host.partition("://")
    if not separator:
        scheme, rest = known.scheme, host
    place, _, path = rest.partition("/")
    if place.count(":") > 1 and not place.startswith("["):
        place = f"[{place}]"
    name, colon, port = place.rpartition(":")
    if not colon or place.endswith("]"):  # no port, or an IPv6 address alone
        name, port = place, ""
    if name in EVERYWHERE:
        name = known.hostname or ""
    port = port or ("" if separator else str(known.port))
    joined = f"{scheme}://{name}:{port}" if port else f"{scheme}://{name}"
    return f"{joined}/{path.strip('/')}".rstrip("/") + known.path


def _quirks(name: str, preset: Preset, own: ProviderSettings, *, elsewhere: bool) -> Quirks:
    base = preset.quirks
    keyless = not preset.api_key_env and not own.api_key_env and not own.api_key_helper
    if keyless or (elsewhere and preset.elsewhere):  # who imitates an API may want no key
        base = {**base, "keyRequired": False}
    try:
        return msgspec.convert({**base, **own.quirks}, Quirks)
    except msgspec.ValidationError as error:
        raise SettingsError(f"providers.{name}.quirks: {error}.") from error
