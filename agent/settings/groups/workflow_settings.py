"""Settings of workflows: whether there are any, how many agents at once, what a run may cost."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from gatewright.agent.settings.traits import Section, chosen, personal, setting


class Workflows(Section, frozen=True):
    enabled: Annotated[bool, personal("Offer workflows: scripts that run many agents.")] = True
    max_concurrent: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=16)] | None,
        personal("Agents of workflows that work at once; without it twice the cores, 4 to 16."),
    ] = None
    max_agents: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=1000)] | None,
        setting("Agents one run may call, 1000 at most.", "lower"),
    ] = None
    max_budget_usd: Annotated[
        Annotated[float, msgspec.Meta(gt=0)] | None, setting("Dollars one run may cost.", "lower")
    ] = None
    print_budget_usd: Annotated[
        Annotated[float, msgspec.Meta(gt=0)],
        personal("Dollars of a run that starts unasked in print mode and names no budget."),
    ] = 10.0
    memory_mb: Annotated[
        Annotated[int, msgspec.Meta(ge=16, le=512)],
        personal("Megabytes that a script may take, in its own process."),
    ] = 64
    size: Annotated[
        Literal["small", "medium", "large", "unrestricted"],
        chosen("How large a workflow the model is told to write: 5, 15, 50 agents, or any."),
    ] = "medium"
