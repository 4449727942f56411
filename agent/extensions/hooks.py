"""Plugs hooks in: the person's own programs at the points of a session."""

from __future__ import annotations

from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.settings.workspace import Surroundings


def configured(around: Surroundings) -> bool:
    """Whether any file says anything of hooks, trusted or not."""
    return bool(around.loaded.hooks)


async def plug_hooks(host: Host) -> Contribution:
    from gatewright.agent.extensions.hook_session import open_hooks  # noqa: PLC0415  lazy: 15 ms

    return await open_hooks(host)


HOOKS = Extension(name="hooks", plug=plug_hooks, wanted=configured, needed=True)
