"""What the person set up for the screen: its settings, own themes, what was sent before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gatewright.agent.errors import SettingsError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.live_settings import starting
from gatewright.agent.settings.schema import Ui
from gatewright.agent.settings.themes import FOLDER
from gatewright.agent.settings.traits import Source
from gatewright.agent.settings.workspace import survey
from gatewright.agent.transcript.place import project_folder


class Looks(msgspec.Struct, frozen=True):
    ui: Ui
    themes: Path
    history: Path
    sessions: Path
    own_settings: Path

    def keep_theme(self, name: str) -> None:
        """A file that cannot be changed costs only the memory of the choice."""
        from gatewright.agent.settings.edit import set_value  # noqa: PLC0415  lazy: 9 ms

        with contextlib.suppress(SettingsError):
            set_value(self.own_settings, "ui.theme", name)


def themes_of_plugins(options: LaunchOptions) -> Mapping[str, Path]:
    """Their files by name; each time as settings and plugins are now."""
    from gatewright.agent.extensions.plugins.themes_of_plugins import plugin_themes  # noqa: PLC0415  only where one is asked for

    return plugin_themes(starting(survey(options, os.environ, interactive=True)))


def looks(options: LaunchOptions) -> Looks:
    around = starting(survey(options, os.environ, interactive=True))
    places = around.places
    sent = project_folder(places.state / "sent", around.where.cwd)
    own = places.file(Source.USER) or places.home / "settings.json"
    return Looks(
        ui=around.settings.ui,
        themes=places.home / FOLDER,
        history=sent.with_suffix(".jsonl"),
        sessions=project_folder(places.home, around.where.cwd),
        own_settings=own,
    )
