"""A session that is itself an agent of some type: `--agent NAME`, or the setting `agent`.

Its definition becomes what the command line would have said, as far as that says nothing; what it
may call is held to by the gate, besides.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.client.brought import Brought
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.agent_types.session_kinds import GivenKinds, book_of
from gatewright.agent.extensions.contribution import Root
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.early import agent_said, early_plugins
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings import modes
from gatewright.agent.settings.workspace import Surroundings
from gatewright.permissions.rulebook.tools_table import canonical
from gatewright.tools.access import MAIN

if TYPE_CHECKING:
    from gatewright.agent.session.session import Session

Number = TypeVar("Number", int, float)
# What a session has in any case: its own conversation with the person, and finding tools.
KEPT = ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ToolSearch", "CallTool")


class MainAgent:
    def __init__(self, kind: AgentKind, options: LaunchOptions) -> None:
        self.kind, self.options = kind, options
        self._running: asyncio.Task[None] | None = None

    def limits(self) -> tuple[str, ...] | None:
        """All that it may call, by name; None where that is everything."""
        if self.kind.tools is None:
            return None
        return tuple(dict.fromkeys((*self.kind.tools, *KEPT)))

    def takes_over(self, host: Host) -> None:
        host.kind, host.tools.main_has = self.kind, self.has
        if (only := self.limits()) is not None:
            host.policy.view(MAIN).limit(only)

    def begins(self, session: Session, how: str) -> None:
        """Say what it begins with, as if the person had; a session that goes on has begun."""
        if text := self.kind.initial_prompt if how == "startup" else "":
            if text.startswith("/"):
                self._running = asyncio.create_task(_run(session, text), name="initial prompt")
            else:
                session.submit(text, typed="")

    def has(self, tool: str) -> bool:
        """Whether it is worth offering."""
        only = self.limits()
        return only is None or any(_covers(name, tool) for name in only)


def main_agent(around: Surroundings, client: Brought) -> MainAgent | None:
    """None for a session as always. Raises SessionError where there is no such type here."""
    options = around.options
    name = options.agent or around.settings.agent
    if options.served:
        return None
    plugins = early_plugins(around, named=name)
    said = name or agent_said(plugins)
    if not said:
        return None
    given = GivenKinds(around, client.agents)
    roots = tuple(Root(each.root, each.origin) for each in plugins)
    book = book_of(lambda: around, given, tuple, roots=lambda: roots, plugins=lambda: plugins)
    kind = book.find(said)
    if kind is None and not name:
        return None  # a plugin's word ends no session
    if kind is None or kind.withheld:
        by = "--agent" if options.agent else "the setting agent"
        raise SessionError(f"{by}: {book.refusal(said)}")
    return MainAgent(kind, _as(kind, options))


async def _run(session: Session, line: str) -> None:
    await session.run_command(line)


def _as(kind: AgentKind, options: LaunchOptions) -> LaunchOptions:
    """What the command line says comes first; of limits the lower one."""
    told = options.system_prompt is not None or options.system_prompt_file
    return replace(
        options,
        system_prompt=options.system_prompt if told else kind.prompt or None,
        model=options.model or kind.model,
        effort=options.effort or kind.effort,
        mode=options.mode or _mode(kind),
        max_turns=_lower(options.max_turns, kind.max_turns),
        max_budget_usd=_lower(options.max_budget_usd, kind.max_budget_usd),
        disallowed_tools=(*options.disallowed_tools, *kind.denied),
        mcp_config=(*options.mcp_config, *_servers(kind)),
    )


def _servers(kind: AgentKind) -> tuple[str, ...]:
    if not kind.inline_servers:
        return ()
    return (msgspec.json.encode({"mcpServers": kind.inline_servers}).decode(),)


def _mode(kind: AgentKind) -> str:
    """Of a project's definition only one that loosens nothing."""
    tightens = modes.freedom(kind.mode) <= modes.freedom("default")
    return kind.mode if tightens or kind.origin != "project" else ""


def _lower(given: Number | None, defined: Number) -> Number | None:
    return min(filter(None, (given, defined)), default=None)


def _covers(name: str, tool: str) -> bool:
    """Whether a name or rule of a definition is about this tool."""
    name = canonical(name.partition("(")[0].strip())
    if name.startswith("mcp__"):
        return tool == name or tool.startswith(f"{name.removesuffix('__*')}__")
    return name in ("*", tool)
