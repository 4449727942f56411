"""How plugins are reached from the command line: what is kept where, and what is allowed."""

from __future__ import annotations

import os

from gatewright.agent.plugins.marketplaces.adding import Adding
from gatewright.agent.plugins.marketplaces.allowed import Allowed
from gatewright.agent.plugins.marketplaces.getting import Getting
from gatewright.agent.plugins.marketplaces.known import KnownMarkets
from gatewright.agent.plugins.sources.fetching import Ways
from gatewright.agent.plugins.store import Store
from gatewright.agent.subcommands.place import Here


def getting(at: Here) -> Getting:
    """For the person who types it here."""
    home = at.places.home
    return Getting(
        Adding(
            store=Store(home),
            markets=KnownMarkets(home, os.environ),
            ways=Ways(env=os.environ, avoid=(at.places.root,)),
            allowed=Allowed.by(at.loaded.settings),
        )
    )
