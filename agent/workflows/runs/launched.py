"""What a run is given: what it runs, and what it needs of the session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.workflows.runs.money import Allowed
from gatewright.agent.workflows.runs.past import Chosen, RunFile
from gatewright.agent.workflows.runs.run_port import AgentPort, FindNested, OpenEngine
from gatewright.agent.workflows.runs.scheduler import Scheduler
from gatewright.agent.workflows.script.checked import Checked

if TYPE_CHECKING:
    from gatewright.agent.workflows.runs.run import Run


class Launched(msgspec.Struct, frozen=True, kw_only=True):
    """What is run. `chosen` is what counts of an earlier start, where it goes on."""

    file: RunFile
    checked: Checked
    folder: Path
    script: Path
    allowed: Allowed = Allowed()
    args: object = msgspec.UNSET
    chosen: Chosen | None = None
    call_id: str = ""
    began: float = 0.0


class RunPorts(msgspec.Struct, frozen=True, kw_only=True):
    agents: AgentPort
    engine: OpenEngine
    nested: FindNested
    scheduler: Scheduler
    clock: Callable[[], float]
    time: Callable[[], float]  # seconds since the epoch
    tell: Callable[[str], object]  # the person
    moved: Callable[[Run, int], object]  # a call, or with zero the run itself
    ended: Callable[[Run], object]
    leaving: Callable[[], bool]  # the session ends
