"""Which tools an agent has: its kind's share of the session's, less what only the main one has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from gatewright.agent.agents.agent_specs import AGENT, SEND
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.commands.outcome import Scope
from gatewright.tools.protocol import ToolSpec

# Of the main agent alone: they speak with the person, or follow work that it alone may start.
MAINS = frozenset(
    {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "Workflow", "TaskOutput", "TodoWrite",
     "TeamCreate", "TeamDelete", "EnterWorktree", "LeaveWorktree"}
)  # fmt: skip
SEARCHING = ("ToolSearch", "CallTool")


def names(pattern: str, tool: str) -> bool:
    """Whether a name of a definition means this tool."""
    wanted = pattern.partition("(")[0].strip().removesuffix("__*").casefold()
    name = tool.casefold()
    if wanted in ("*", name) or (wanted == "task" and name == "agent"):
        return True
    return wanted.startswith("mcp__") and name.startswith(f"{wanted}__")


def _any(patterns: Iterable[str], tool: str) -> bool:
    return any(names(pattern, tool) for pattern in patterns)


def own_tools(
    kind: AgentKind, offered: Sequence[ToolSpec], *, named: bool, deepest: bool
) -> tuple[ToolSpec, ...]:
    """Its array: denied first, then what its kind names. `named`: others can write to it."""
    found: list[ToolSpec] = []
    wholly = [each for each in kind.denied if "(" not in each]  # of the others the gate judges
    for spec in offered:
        name = spec.name
        if name in MAINS or _any(wholly, name) or _foreign(kind, name):
            continue
        if (name == AGENT and deepest) or (name == SEND and not named):
            continue
        if kind.tools is None or (name == SEND and named) or _any(_with_search(kind.tools), name):
            found.append(spec)
    return tuple(found)


def _with_search(tools: Sequence[str]) -> Sequence[str]:
    """Tools of servers may be such as are searched for."""
    return (*tools, *SEARCHING) if any(each.startswith("mcp__") for each in tools) else tools


def _foreign(kind: AgentKind, name: str) -> bool:
    """A tool of a server that its kind does not see."""
    if not kind.servers or not name.startswith("mcp__"):
        return False
    return not any(name.startswith(f"mcp__{server.replace(':', '_')}__") for server in kind.servers)


def scope_of(kind: AgentKind) -> Scope:
    """What the gate holds it to, whatever it is offered. It only forbids."""
    only = kind.tools
    if only is not None:
        only = (*only, *SEARCHING, SEND)
        if "*" in only:
            only = None
    deny = tuple(dict.fromkeys((*sorted(MAINS - {"TodoWrite"}), *kind.denied)))
    return Scope(by=kind.name, deny=deny, only=only)


def held_to(kind: AgentKind, brought: Scope | None) -> Scope:
    """With what a skill brings that it works on: that may also allow, as far as it is trusted."""
    own = scope_of(kind)
    if brought is None:
        return own
    return replace(
        brought, by=kind.name, deny=(*own.deny, *brought.deny), only=own.only, model="", effort=""
    )
