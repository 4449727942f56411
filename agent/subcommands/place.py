"""What a sub-command works on: the current directory's places, and the settings there."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.starting import require_directory
from gatewright.agent.settings.layers.sources import Loaded, load
from gatewright.agent.settings.paths import Places, places
from gatewright.agent.settings.session_secrets import providers_of, secrets_of
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.trust import TrustStore
from gatewright.tools.system.project import FOLDER
from gatewright.tools.system.secrets import Secrets

if TYPE_CHECKING:
    from gatewright.agent.settings.rulefile import Behavior


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


class Scope(StrEnum):
    USER = "user"
    PROJECT = "project"
    LOCAL = "local"

    @property
    def source(self) -> Source:
        return Source(self)


def file_of(place: Here, scope: Scope) -> Path:
    """The settings file that is meant."""
    path = place.places.file(scope.source)
    assert path is not None
    return path


def own_folder(scope: Scope, name: str, what: str) -> Path:
    """Where files of the person's own with such a name are kept. Raises GatewrightError."""
    place = here().places
    if scope is Scope.USER:
        return place.home / name
    if scope is Scope.PROJECT:
        return place.root / FOLDER / name
    raise GatewrightError(f"{what} is kept with --scope user or --scope project.")


def wrong_rule(rule: str, behavior: Behavior, source: str) -> str:
    """Why a text is no rule; empty where it is one."""
    from gatewright.permissions.rulebook.rules import parse_rule  # noqa: PLC0415  lazy: 5 ms

    return parse_rule(rule, behavior, source)[1]


def refuse_inside_session() -> None:
    """Raise where a command of a session runs us: a model must not loosen its own rules."""
    if os.environ.get("GATEWRIGHT") == "1":
        raise GatewrightError(
            "Settings and trust are changed by the person, in a terminal of their own."
        )
