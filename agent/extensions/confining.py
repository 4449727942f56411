"""Plugs the sandbox in: commands are confined by the operating system, whatever the gate said."""

from __future__ import annotations

import math

from gatewright.agent.commands.registry import always
from gatewright.agent.commands.sandbox import Confinement, sandbox_command
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.upkeep import SHELL, SOON
from gatewright.agent.record.events import Unconfined
from gatewright.agent.record.journal import of_main
from gatewright.agent.session.start.thinking import Thinking
from gatewright.agent.settings.policy_settings import command_sandbox, own_of
from gatewright.permissions.sandbox.commands import CommandSandbox
from gatewright.tools.access import MAIN
from gatewright.tools.registry import TOOLS

SHELLS = frozenset(name for name, place in TOOLS.items() if place.startswith(f"{SHELL}:"))


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
    # Alone, a question that needs no command starts and ends nothing for one.
    after = SOON if host.around.interactive else math.inf
    thinking = Thinking(lambda: _stand_by(host, sandbox), SHELLS, after=after)
    return Contribution(
        parts=(sandbox, Confinement(sandbox.in_a_line)),
        commands=(always(sandbox_command(sandbox.panel, sandbox.restore)),),
        folds=(of_main(thinking.saw),),
        problems=tuple(sandbox.problems),
        close=(thinking.over, sandbox.close),
    )


async def _stand_by(host: Host, sandbox: CommandSandbox) -> None:
    """Have a shell wait inside for the main agent's next command, where it can run one."""
    agent = host.session.agent(MAIN)
    if agent is None or not any(spec.name in SHELLS for spec in host.tools.specs()):
        return
    from gatewright.tools.shell.environment import (  # noqa: PLC0415  lazy: 1 ms
        BashFinder,
        child_environment,
        scripted,
    )

    ctx = agent.context("")
    program, env = BashFinder()(ctx), child_environment(ctx.env, ctx.secrets)
    await sandbox.stand_by(scripted(program, ctx.where.cwd, env, ""), ctx.where.root)


SANDBOX = Extension(name="the sandbox", plug=plug_sandbox, needed=True)  # never open by an accident
