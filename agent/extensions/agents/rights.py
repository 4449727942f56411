"""Which of two agents may do something that the other may not: by mode, tools, denials and skills.

What cannot be told counts as more. It is asked about who writes, and permits nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gatewright.agent.agents.agent_specs import AGENT
from gatewright.agent.agents.kind import AgentKind, AgentKinds
from gatewright.agent.agents.lineage import id_of
from gatewright.agent.agents.own_tools import MAINS, names, own_tools
from gatewright.agent.agents.roster import Roster
from gatewright.agent.extensions.host import Host
from gatewright.permissions import modes
from gatewright.tools.access import MAIN


class May(msgspec.Struct, frozen=True):
    """`tools` are names, or rules where only a part of one may be used."""

    mode: str
    tools: frozenset[str]
    denied: frozenset[str]  # parts of tools
    freed: frozenset[str] = frozenset()  # what skills allow it, and servers of its type alone
    held: frozenset[str] = frozenset()  # what skills forbid it

    def more_than(self, other: May) -> bool:
        if modes.looser(self.mode, other.mode) or other.denied - self.denied:
            return True
        if self.freed - other.freed or other.held - self.held:
            return True
        return any(not {each, each.partition("(")[0]} & other.tools for each in self.tools)


class Rights:
    """`mode_of` is the mode of a kind and of the call that starts it, and whether it is freed."""

    def __init__(
        self,
        host: Host,
        kinds: AgentKinds,
        roster: Roster,
        mode_of: Callable[[str, str], tuple[str, bool]],
    ) -> None:
        self._host, self._kinds, self._roster, self._mode_of = host, kinds, roster, mode_of

    def freer(self, path: str, than: str) -> bool:
        one, other = self._may(path), self._may(than)
        return one is None or other is None or one.more_than(other)

    def _may(self, path: str) -> May | None:
        host = self._host
        offered = host.tools.for_agents()
        if path == MAIN:
            mode, has = modes.for_child(host.policy.current()), host.tools.main_has
            tools = frozenset(spec.name for spec in offered if has(spec.name)) - MAINS
            return May(mode, tools, _parts(host.kind), *self._by_skills(path))
        member = self._roster.by_id(id_of(path))
        kind = self._kinds.find(member.kind) if member is not None else None
        parent = path.rpartition("/")[0]
        above = self._may(parent)
        if member is None or kind is None or above is None:
            return None
        found = (spec.name for spec in own_tools(kind, offered, named=True, deepest=False))
        own = frozenset(part for name in found for part in _as_said(kind, name))
        if parent != MAIN:  # what a session as an agent is limited to binds that one alone
            own = frozenset(each for each in own if {each, each.partition("(")[0]} & above.tools)
        freed, held = self._by_skills(path)
        return May(
            self._mode(kind, member.mode, above.mode),
            own,
            above.denied | _parts(kind),
            freed | {f"{kind.name}: {server}" for server in kind.inline_servers},
            held | above.held,
        )

    def _by_skills(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """What those in force allow and forbid; nothing is in force of one that has ended."""
        policy = self._host.policy
        if path != MAIN and not policy.views.stands(path):
            return frozenset(), frozenset()
        view = policy.view(path)
        scope = view.scope
        forbids = (rule for rule in scope.deny if rule in view.named)
        return frozenset((*scope.allow, *scope.agreed)), frozenset(
            [*forbids, *map(str, view.kept_to())]
        )

    def _mode(self, kind: AgentKind, asked: str, above: str) -> str:
        own, freed = self._mode_of(kind.mode, asked)
        if freed and not modes.is_ceiling(above):
            return own
        return modes.tightest(above, own) if own else above


def _as_said(kind: AgentKind, tool: str) -> tuple[str, ...]:
    """The tool, or the rules for parts of it that its definition has instead."""
    if tool == AGENT and kind.starts is not None:
        return tuple(f"{AGENT}({each})" for each in kind.starts)
    said = [each for each in kind.tools or () if names(each, tool)]
    whole = not said or any("(" not in each for each in said)
    return (tool,) if whole else tuple(said)


def _parts(kind: AgentKind | None) -> frozenset[str]:
    return frozenset(each for each in (kind.denied if kind else ()) if "(" in each)
