"""A kind of agent: what its definition says, checked, and the book in which kinds are found.

Whoever starts one takes it as it is. What a definition may not do where it stands is not in it any
more, and `withheld` names it: such a kind is shown, and not started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import msgspec

from gatewright.tools.protocol import JsonObject

if TYPE_CHECKING:
    from gatewright.agent.turn.turns import Elsewhere

Origin: TypeAlias = Literal["builtin", "managed", "flag", "project", "user", "plugin"]
MemoryPlace: TypeAlias = Literal["", "user", "project", "local"]

DEFAULT_KIND = "general-purpose"
WORKTREE = "worktree"  # the one isolation there is


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """Another agent, in which turns run: its program, and what its sandbox opens to it."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    network: tuple[str, ...] = ()  # names that it may reach
    write: tuple[str, ...] = ()  # directories of its own


class AgentKind(msgspec.Struct, frozen=True, kw_only=True):
    """`tools` are names, `mcp__server` for all of a server's; None is every tool there is."""

    name: str
    description: str
    prompt: str  # its system prompt, without what every agent is told
    origin: Origin = "builtin"
    path: Path | None = None  # the file; None where no file says it
    trusted: bool = True  # whether it may act: false for a project's that nobody trusts yet
    withheld: tuple[str, ...] = ()  # fields that count once the project is trusted
    tools: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()  # never these, whatever `tools` says
    starts: tuple[str, ...] | None = None  # kinds it may start itself; None: all
    model: str = ""  # empty: its parent's
    prefers_small: bool = False  # the small model, where its parent's is a larger one
    effort: str = ""
    max_turns: int = 0  # 0: the default
    max_budget_usd: float = 0.0
    mode: str = ""  # a permission mode by its id, an upper bound; empty follows the parent
    skills: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()  # of the session's, by name: the others it does not see
    inline_servers: Mapping[str, JsonObject] = {}  # connected for it alone
    required_servers: tuple[str, ...] = ()
    hooks: Mapping[str, object] = {}  # as settings write them
    memory: MemoryPlace = ""
    background: bool = False
    isolation: Literal["", "worktree"] = ""
    color: str = ""
    initial_prompt: str = ""  # of the main agent only
    omit_memory: bool = False  # no instruction files
    omit_git: bool = False  # nothing of what git says
    omit_id: bool = False  # its report ends without the line that names it
    acp: Program | None = None  # another program that does the work


class AgentKinds(Protocol):
    """All kinds of a session, read at the first use and again when a file changed."""

    def find(self, name: str) -> AgentKind | None:
        """The one with the name; None also for one that a setting or rule takes away."""
        ...

    def offered(self) -> Sequence[AgentKind]:
        """Those that may be started, by name."""
        ...

    def problems(self) -> Sequence[str]:
        """What is wrong with definitions, for the person: file, line and what to do."""
        ...


class OtherPrograms:
    """What an extension brings that runs agents' turns in other programs; a part of it."""

    def refusal(self, kind: AgentKind) -> str:
        """Why no such agent can be started here; empty where one can."""
        raise NotImplementedError

    def turns(self, agent: str, kind: AgentKind, opening: str, *, tree: bool) -> Elsewhere:
        """Who runs the turns of the agent at that path; `tree`: it has a work tree of its own."""
        raise NotImplementedError
