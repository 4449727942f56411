"""Plugs the sandbox in: commands are confined by the operating system, whatever the gate said."""

from __future__ import annotations

from gatewright.agent.commands.registry import always
from gatewright.agent.commands.sandbox import Confinement, sandbox_command
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import Unconfined
from gatewright.agent.settings.policy_settings import command_sandbox, own_of


async def plug_sandbox(host: Host) -> Contribution:
    sandbox = command_sandbox(
        host.around,
        host.policy,
        own_of(host.base),
        warn=host.warn,
        unconfined=lambda why: host.publish(Unconfined(why=why)),
    )
    elsewhere = host.live.settled
    host.live.settled = lambda path: sandbox.settled(path) and elsewhere(path)
    host.live.listen(
        lambda now: sandbox.take(
            now.settings.sandbox, (now.where.root, *now.where.added), lambda: now.secrets
        )
    )
    return Contribution(
        parts=(sandbox, Confinement(sandbox.in_a_line)),
        commands=(always(sandbox_command(sandbox.panel, sandbox.restore)),),
        problems=tuple(sandbox.problems),
        close=(sandbox.close,),
    )


SANDBOX = Extension(name="the sandbox", plug=plug_sandbox, needed=True)  # never open by an accident
