"""Plugs in the commands of every session, and what people look through and change with them."""

from __future__ import annotations

from gatewright.agent.commands.core import built_in
from gatewright.agent.commands.rule_editor import PermissionBook
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.settings.overview import SettingsBook


async def plug_overviews(host: Host) -> Contribution:
    return Contribution(
        commands=built_in(),
        parts=(
            ModelBook(lambda: host.around),
            SettingsBook(host.live),
            PermissionBook(host.policy, host.live),
        ),
    )


OVERVIEWS = Extension(name="commands", plug=plug_overviews, needed=True)
