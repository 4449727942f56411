"""What runs of workflows used: sums by phase and model that outlive the process, and count once."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.agent.record.agent_costs import WHOLE, AgentCosts
from gatewright.agent.record.events import AssistantMessage, Cleared, Envelope, WorkflowEnded
from gatewright.agent.record.events_of_agents import AgentCost
from gatewright.agent.record.messages import Usage
from gatewright.tools.access import MAIN

FIND = AgentCost(path="wf_1/Find/m", kind="workflow look", label="Find · m")
CHECK = AgentCost(path="wf_1/Check/m", kind="workflow look", label="Check · m")
USED = Usage(input=10)


def said(agent: str, cost: float = 1.0) -> Envelope:
    event = AssistantMessage(id="m", model="m", parts=(), usage=USED, cost=cost)
    return Envelope(seq=1, uuid="u", parent="", timestamp=0.0, agent=agent, event=event)


def played() -> AgentCosts:
    """Two agents find, one checks."""
    costs = AgentCosts()
    for path, sum in (("main/a1", FIND), ("main/a2", FIND), ("main/a3", CHECK)):
        costs.join(path, sum)
        costs.saw(said(path))
        costs.leave(path)
    return costs


def ended(costs: AgentCosts, *given: AgentCost) -> WorkflowEnded:
    event = WorkflowEnded(run="wf_1", name="look", status="done", costs=given)
    stamped = costs.stamped(event, MAIN)
    assert isinstance(stamped, WorkflowEnded)
    return stamped


def test_what_each_phase_used_is_in_its_end_and_restores_it() -> None:
    costs = played()
    assert [(one.kind, one.count, one.cost) for one in costs.kinds()] == [("workflow look", 3, 3.0)]
    event = ended(costs)
    assert [(one.label, one.cost) for one in event.costs] == [("Find · m", 2.0), ("Check · m", 1.0)]
    again = AgentCosts.after([event])
    assert (again.cost, again.usage) == (3.0, Usage(input=30))
    assert again.all == costs.all
    assert AgentCosts.after([event, event]).cost == 3.0, "a run that went on says it again"


def test_a_run_that_was_cut_off_counts_what_no_boundary_carried() -> None:
    costs = played()
    boundary = costs.stamped(Cleared(), MAIN)
    whole = AgentCost(path=f"wf_1{WHOLE}", kind="workflow look", usage=Usage(input=50), cost=5.0)
    event = ended(AgentCosts.after([boundary]), whole)
    assert event.costs == (whole,)
    assert AgentCosts.after([event]).cost == 5.0
    both = AgentCosts.after([boundary, event])
    assert both.cost == pytest.approx(5.0)
    assert both.usage == Usage(input=50)
    assert AgentCosts.after([boundary, event, event]).cost == pytest.approx(5.0)


def test_agents_that_count_together_leave_nothing_behind() -> None:
    costs = AgentCosts()
    for n in range(3000):
        costs.join(f"main/a{n}", FIND)
        costs.saw(said(f"main/a{n}", 0.5))
        costs.leave(f"main/a{n}")
    assert len(costs.all) == 1
    assert costs.cost == pytest.approx(1500)
    assert costs.all[0].count == 3000
    assert msgspec.json.encode(costs.all)
