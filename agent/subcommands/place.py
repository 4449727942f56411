"""What a sub-command works on: the current directory's places, and the settings there."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.starting import require_directory
from gatewright.agent.settings.layers.sources import Loaded, load
from gatewright.agent.settings.paths import Places, places
from gatewright.agent.settings.session_secrets import providers_of, secrets_of
from gatewright.agent.settings.trust import TrustStore
from gatewright.tools.system.secrets import Secrets


class Here(msgspec.Struct, frozen=True):
    places: Places
    trust: TrustStore
    trusted: bool
    loaded: Loaded

    @property
    def secrets(self) -> Secrets:
        settings = self.loaded.settings
        return secrets_of(settings, providers_of(settings), os.environ)


def here() -> Here:
    """Raises GatewrightError where the current directory is gone."""
    require_directory()
    found = places(Path.cwd(), os.environ)
    store = TrustStore(found, os.environ)
    trusted = store.trusts(found.root)
    return Here(found, store, trusted, load(found, env=os.environ, trusted=trusted))


def refuse_inside_session() -> None:
    """Raise where a command of a session runs us: a model must not loosen its own rules."""
    if os.environ.get("GATEWRIGHT") == "1":
        raise GatewrightError(
            "Settings and trust are changed by the person, in a terminal of their own."
        )
