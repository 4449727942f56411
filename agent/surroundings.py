"""What the machine, the settings and the command line say, read once before anything is built."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.options import LaunchOptions
from gatewright.agent.providers.settings import ProviderSettings
from gatewright.agent.settings.paths import Places, places, user_home
from gatewright.agent.settings.schema import Settings
from gatewright.agent.settings.sources import Loaded, load
from gatewright.agent.settings.trust import TrustStore
from gatewright.tools.access import Where


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    options: LaunchOptions
    env: Mapping[str, str]  # what commands of the session see
    where: Where
    places: Places
    loaded: Loaded
    trusted: bool
    interactive: bool

    providers: Mapping[str, ProviderSettings]

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    def seen_from(self, where: Where) -> Where:
        """The place a call is made from, with the directories that are open now."""
        return msgspec.structs.replace(where, added=self.where.added)


def survey(options: LaunchOptions, env: Mapping[str, str], *, interactive: bool) -> Surroundings:
    cwd = Path(os.path.realpath(options.cwd or "."))
    found = places(cwd, env)
    trusted = options.trust or TrustStore(found, env).trusts(found.root)
    loaded = load(found, options, env=env, trusted=trusted)
    home = user_home(env)
    added = loaded.settings.permissions.additional_directories
    where = Where(
        cwd=cwd,
        root=found.root,
        home=home,
        added=tuple(Path(os.path.realpath(expanded(text, cwd, home))) for text in added),
    )
    return Surroundings(
        options=options,
        env={**env, **loaded.settings.env},
        where=where,
        places=found,
        loaded=loaded,
        trusted=trusted,
        interactive=interactive,
        providers=_providers(loaded.settings),
    )


def _providers(settings: Settings) -> Mapping[str, ProviderSettings]:
    try:
        return msgspec.convert(settings.providers, dict[str, ProviderSettings])
    except msgspec.ValidationError as error:
        raise SettingsError(f"settings.json, providers: {error}.") from error


def expanded(text: str, cwd: Path, home: Path) -> Path:
    """A directory as settings and people write it."""
    return home / text[2:] if text.startswith("~/") or text == "~" else cwd / text
