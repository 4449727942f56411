"""What becomes of an agent that works for a plan: its answer, its mode, where it is written."""

from __future__ import annotations

import msgspec

from gatewright.agent.agents.joined import Joined
from gatewright.agent.agents.life import Order
from gatewright.agent.models.model import OpenModel
from gatewright.agent.session.children import AgentSpec
from gatewright.agent.turn.structured_answer import enforceable
from gatewright.permissions import modes
from gatewright.tools.protocol import JsonObject, ToolSpec

Tools = tuple[ToolSpec, ...]


def answered_by(
    joined: Joined | None, opened: OpenModel, tools: Tools
) -> tuple[JsonObject | None, Tools]:
    """The schema that its model's API holds it to, or else a tool that takes the answer."""
    if joined is None or joined.schema is None:
        return None, tools
    if opened.structured and enforceable(joined.schema):
        return joined.schema, tools
    if joined.answers_by is None:
        return None, tools
    return None, tuple(sorted((*tools, joined.answers_by), key=lambda spec: spec.name))


def tighter(order: Order) -> str:
    """The mode that both its definition and whoever starts it let it have; empty for neither's."""
    own, asked = order.kind.mode, order.mode
    return modes.tightest(own, asked) if own and asked else own or asked


def joining(spec: AgentSpec, joined: Joined | None) -> AgentSpec:
    if joined is None:
        return spec
    return msgspec.structs.replace(
        spec,
        leads=joined.leads,
        folder=joined.folder,
        budgets=joined.budgets,
        called=joined.called,
    )
