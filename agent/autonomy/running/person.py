"""Whether it is the person who asks, and no command that a session runs: that one starts, shows,
stops and answers no session."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from gatewright.agent.errors import GatewrightError
from gatewright.agent.settings.paths import own_home
from gatewright.tools.system.lifetimes import child_of_a_session

REFUSED = (
    "Sessions in the background are started, shown and ended by the person, in a terminal of their "
    "own: {why}."
)
INSIDE = "this runs inside a session"


def require_person(env: Mapping[str, str]) -> None:
    """Raises GatewrightError."""
    if env.get("GATEWRIGHT") == "1":
        raise GatewrightError(REFUSED.format(why=INSIDE))
    if sys.platform == "linux":  # elsewhere nobody sees whose child this is
        kept = os.path.realpath(own_home(env) / "projects")
        if why := child_of_a_session(os.getpid(), kept):
            raise GatewrightError(REFUSED.format(why=why))
