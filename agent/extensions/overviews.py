"""Plugs in what people look through and change: models, settings, rules."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.commands.registry import Command
from gatewright.agent.commands.rules.rule_editor import PermissionBook
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.settings.overview import SettingsBook


async def plug_overviews(host: Host) -> Contribution:
    def trusting() -> Sequence[Command]:
        from gatewright.agent.commands.rules.trusting import trust_commands  # noqa: PLC0415  with the list

        return trust_commands(host.live, lambda about: host.session.ask(about))

    return Contribution(
        commands=(trusting,),
        parts=(
            ModelBook(lambda: host.around),
            SettingsBook(host.live),
            PermissionBook(host.policy, host.live, lambda text: host.session.submit(text)),
        ),
    )


OVERVIEWS = Extension(name="overviews", plug=plug_overviews, needed=True)
