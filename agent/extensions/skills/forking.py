"""Skills that another agent works on: `context: fork`. Only what it says at its end comes back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from gatewright.agent.agents.agent_specs import AGENT
from gatewright.agent.agents.agent_tool import AgentTool, Asked
from gatewright.agent.commands.outcome import Scope
from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.skills.order import Order
from gatewright.tools.protocol import Progress, ToolContext, ToolFailure, ToolResult


class Forks:
    def __init__(self, host: Host, agents: Agents) -> None:
        self._host, self._agents = host, agents

    async def run(
        self, order: Order, scope: Scope, text: str, ctx: ToolContext
    ) -> AsyncGenerator[Progress | ToolResult, None]:
        """Raises ToolFailure: there is no such type of agent, or no more may be started."""
        said, tool = order.skill.said, self._agents.opened().tools[AGENT]
        if not isinstance(tool, AgentTool):
            raise ToolFailure("There are no agents here.")
        asked = Asked(
            description=f"Skill {order.called}",
            prompt=text,
            subagent_type=said.agent,
            model=scope.model,
            run_in_background=said.background and self._host.around.interactive,
        )
        handed = tool.handed_over(asked, ctx, effort=scope.effort, scope=scope)
        async with aclosing(handed) as items:
            async for item in items:
                yield item
