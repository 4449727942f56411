"""What an agent has besides its kind that works for a plan: others with it have the same.

Whoever has such a plan says it when it starts one; nothing of it is said by the agent's model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.session.children import Leading
from gatewright.agent.turn.budget import Limiting
from gatewright.tools.protocol import JsonObject, ToolSpec

if TYPE_CHECKING:
    from gatewright.agent.agents.life import Life


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    leads: Leading  # of the session's mode, at each call: its own
    folder: Path  # where what it says is written
    said: str = ""  # a section of its prompt, the same for all of them
    told: str = ""  # to this one, before its prompt
    called: str = ""  # how a question of it names it
    budgets: tuple[Limiting, ...] = ()
    schema: JsonObject | None = None  # of its answer: its model's API enforces it, if it can
    answers_by: ToolSpec | None = None  # else it gives its answer through this tool
    missing: Callable[[Life], str] | None = None  # what its answer lacks: it goes on with that
