"""Runs that were cut off when the process of their session ended: said once, and nothing starts."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.extensions.host import Host
from gatewright.agent.record.agent_costs import WHOLE
from gatewright.agent.record.events import UserMessage, WorkflowEnded, WorkflowStarted
from gatewright.agent.record.events_of_agents import AgentCost
from gatewright.agent.workflows.runs.past import Past, read_past
from gatewright.agent.workflows.runs.told import AGAIN
from gatewright.tools.protocol import TextContent

WHY = "The process of its session ended."


async def tell_cut_off(host: Host) -> None:
    open: dict[str, WorkflowStarted] = {}
    for envelope in host.base.start.stored:
        match envelope.event:
            case WorkflowStarted() as started:
                open[started.run] = started
            case WorkflowEnded(run=run):
                open.pop(run, None)
            case _:
                pass
    for started in open.values():
        past = await asyncio.to_thread(read_past, Path(started.script).parent)
        host.publish(_ended(started, past))
        text = (
            f"Workflow {in_line(started.name)} (run {started.run}) was interrupted: {WHY} "
            f"{AGAIN.format(id=started.run)}"
        )
        host.publish(UserMessage(content=(TextContent(text),), hidden=True, source="job"))


def _ended(started: WorkflowStarted, past: Past) -> WorkflowEnded:
    settled = [slot.settled for slot in past.slots.values() if slot.settled is not None]
    cost = AgentCost(
        path=f"{started.run}{WHOLE}",
        kind=f"workflow {started.name}",
        usage=past.usage,
        cost=past.cost,
        count=max(1, len(settled)),
    )
    return WorkflowEnded(
        run=started.run,
        name=started.name,
        status="interrupted",
        task=started.task,
        call_id=started.call_id,
        why=WHY,
        script=started.script,
        ok=sum(each.ok for each in settled),
        failed=sum(not each.ok for each in settled),
        usage=past.usage,
        cost=past.cost,
        costs=(cost,),
    )
