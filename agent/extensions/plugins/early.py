"""What plugins say of the session itself, before it is put together: which agent it is."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.plugins.plugin_extension import wanted
from gatewright.agent.plugins.parts import Plugin
from gatewright.agent.settings.workspace import Surroundings

AGENT = "agent"


def early_plugins(around: Surroundings, *, named: str) -> Sequence[Plugin]:
    """Those that are on, where one of them may be what is `named`, or says it where nobody does."""
    if not wanted(around) or (named and ":" not in named):
        return ()
    from gatewright.agent.extensions.plugins.plugin_session import ground_of  # noqa: PLC0415  lazy: 12 ms
    from gatewright.agent.plugins.gathering import gathered  # noqa: PLC0415
    from gatewright.agent.plugins.store import Store  # noqa: PLC0415

    ground = ground_of(around)
    if not named and not ground.folders:
        try:
            records = Store(around.places.home).lock.read().plugins.values()
        except GatewrightError:
            return ()  # which is told where it is read again
        if not any(AGENT in record.settings for record in records):
            return ()
    return gathered(ground).plugins


def agent_said(plugins: Sequence[Plugin]) -> str:
    """The first that one of them says, as one of its own; empty where none does."""
    for plugin in plugins:
        if said := plugin.settings.get(AGENT, "").strip():
            return said if ":" in said else f"{plugin.name}:{said}"
    return ""
