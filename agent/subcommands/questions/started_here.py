"""What a session started here would stand on, without one: where it is, and what rules deny."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.policy_settings import policy_config
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.permissions.policy import Policy
from gatewright.permissions.rulebook.rules import Rule


class Started(NamedTuple):
    around: Surroundings
    denied: Callable[[], Sequence[Rule]]


def started_here() -> Started:
    """Raises GatewrightError where the current directory is gone."""
    around = survey(LaunchOptions(), os.environ, interactive=False)
    policy = Policy(policy_config(around, "default"))
    return Started(around, lambda: policy.rules().deny)
