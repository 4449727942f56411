"""What an agent is opened with besides its model: other turns, what its file says, its tree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec.structs import replace

from gatewright.agent.agents.kind import OtherPrograms
from gatewright.agent.agents.life import Order
from gatewright.agent.agents.telling import system_prompt
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.session.children import AgentSpec
from gatewright.agent.worktrees.isolated import Isolated


def elsewhere(host: Host, order: Order, spec: AgentSpec, remembered: str) -> AgentSpec:
    """With turns that run in the program that its definition names. Raises GatewrightError."""
    kind = order.kind
    others = part_of(host.brought, OtherPrograms)
    if others is None:
        raise GatewrightError(f"{kind.name} cannot be started: no other program is started here.")
    if why := others.refusal(kind):
        raise GatewrightError(f"{kind.name} cannot be started: {why}")
    if order.joined is not None and order.joined.schema is not None:
        raise GatewrightError(
            f"{kind.name} is another program, which gives no answer of a set shape: use another "
            "type of agent for this call."
        )
    opening = "\n\n".join(system_prompt(kind, (remembered,)))
    turns = others.turns(order.path, kind, opening, tree=spec.where is not order.where)
    return replace(spec, turns=turns, limits=replace(spec.limits, requests=kind.max_turns))


async def left_of(tree: Isolated) -> tuple[str, str, str]:
    """Where its work is now, on which branch, and what is in it; nothing where nothing was."""
    left = await tree.finish()
    return (str(left.record.path), left.record.short, left.diffstat) if left.kept else ("", "", "")


def about(order: Order, model: str) -> Mapping[str, str]:
    kind = order.kind
    return {
        "parent": order.parent,
        "call": order.call_id,
        "kind": kind.name,
        "name": order.name,
        "description": order.description,
        "model": model,
        "prompt": hashlib.blake2b(order.prompt.encode(), digest_size=16).hexdigest(),
        "source": str(kind.path) if kind.path is not None else kind.origin,
        "worktree": order.worktree,
        "mode": order.mode,
        "isolation": order.isolation,
    }
