"""Flags of what is not there yet: taken from clients and scripts of others, offered to nobody.

Where nothing is asked of what is missing there is nothing to say; else one line says what is left
out. Whoever builds it takes its line out and lists the flag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from gatewright.agent.launch.options import LaunchOptions


class Idle(msgspec.Struct, frozen=True):
    """`lacks` is said where `asked` finds something in the options."""

    lacks: str
    asked: Callable[[LaunchOptions], bool]


def idle_flags(options: LaunchOptions) -> Iterator[str]:
    """One sentence for each given flag that changes nothing."""
    return (idle.lacks for idle in IDLE.values() if idle.asked(options))


IDLE: Mapping[str, Idle] = {
    "thinking_display": Idle(
        "Thinking is always summarized in this version: --thinking-display is left out.",
        lambda o: o.thinking_display not in ("", "summarized"),
    ),
    "betas": Idle(
        "Features of the API are not chosen in this version: --betas is left out.",
        lambda o: bool(o.betas),
    ),
    "task_budget": Idle(
        "--task-budget is left out in this version; --max-turns and --max-budget-usd hold.",
        lambda o: o.task_budget is not None,
    ),
    "permission_prompt_tool": Idle(
        "--permission-prompt-tool is stdio, or an MCP tool in print mode: mcp__server__tool.",
        lambda o: o.permission_prompt_tool not in ("", "stdio", o.prompt_tool),
    ),
}
