"""The plugins of a session that are on now, for whoever loads something of them."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.plugins.parts import Plugin, PluginParts


def plugins_of(brought: Sequence[Contribution]) -> Sequence[Plugin]:
    """In their order; none where the session has no plugins at all."""
    parts = part_of(brought, PluginParts)
    return parts.plugins if parts is not None else ()
