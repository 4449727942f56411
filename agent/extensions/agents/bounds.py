"""What binds an agent besides its own type: all that stand above it, working or not, and where.

Who started it may have ended before it goes on; what that one was held to binds it again. Where it
cannot be told any more the agent does not go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gatewright.agent.agents.crew import Crew
from gatewright.agent.agents.kind import AgentKind, AgentKinds
from gatewright.agent.agents.lineage import id_of
from gatewright.agent.agents.own_tools import held_to
from gatewright.agent.extensions.host import Host
from gatewright.agent.session.scopes import believed
from gatewright.tools.access import MAIN, Where
from gatewright.tools.protocol import ToolFailure


class Bounds:
    """`mode_of` is the mode of a kind and of the call that starts it, and whether it is freed."""

    def __init__(
        self,
        host: Host,
        kinds: AgentKinds,
        crew: Crew,
        mode_of: Callable[[str, str], tuple[str, bool]],
    ) -> None:
        self._host, self._kinds, self._crew, self._mode_of = host, kinds, crew, mode_of
        # Of those that work for somebody else's plan: their kinds, by path.
        self.elsewhere: Callable[[str], AgentKind | None] = _nobody

    def starts(self, owner: str) -> Sequence[str] | None:
        """What that agent may start: what its own type says, and that of each above it.

        None for everything. What a session as an agent is limited to binds that session alone.
        """
        if owner == MAIN:
            return self._host.kind.starts if self._host.kind is not None else None
        limits: list[tuple[str, ...]] = []
        while owner not in ("", MAIN):
            starts = self._kind(owner).starts
            if starts is not None:
                limits.append(starts)
            owner = owner.rpartition("/")[0]
        if not limits:
            return None
        return tuple(name for name in limits[0] if all(name in each for each in limits))

    def where(self, path: str, *, isolated: bool) -> Where:
        """Where it goes on: with who started it, as far as that is there. Raises ToolFailure.

        It never leaves another one's work tree for the person's checkout.
        """
        starter = path.rpartition("/")[0]
        while starter not in ("", MAIN) and not isolated:
            if (agent := self._host.session.agent(starter)) is not None:
                return agent.where
            member = self._crew.roster.by_id(id_of(starter))
            if (
                member is None
                or member.isolation
                or member.worktree
                or self._kind(starter).isolation
            ):
                called = id_of(starter) if member is None else member.name or member.id
                raise ToolFailure(
                    f"It worked in the work tree of {called}, which has ended: have that one go on."
                )
            starter = starter.rpartition("/")[0]
        main = self._host.session.agent(MAIN)
        assert main is not None
        return main.where

    def begin(self, path: str) -> None:
        """Before anything of its run. Raises ToolFailure: what binds it is not known any more."""
        self._host.policy.views.begins(path)
        try:
            self._above(path)
        except ToolFailure:
            self.end(path)
            raise

    def end(self, path: str) -> None:
        """It never came to a run."""
        self._host.policy.forget(path)

    def _above(self, path: str) -> None:
        policy, starter = self._host.policy, path.rpartition("/")[0]
        if starter in ("", MAIN) or policy.views.stands(starter):
            return
        self._above(starter)
        kind, member = self._kind(starter), self._crew.roster.by_id(id_of(starter))
        mode, freed = self._mode_of(kind.mode, "" if member is None else member.mode)
        policy.views.begins(starter).keep(mode, freed=freed)
        scope = None if member is None else member.scope
        policy.scope(believed(held_to(kind, scope)), starter)  # said when it was started
        policy.forget(starter)  # which it is once nobody is below it

    def _kind(self, path: str) -> AgentKind:
        if (life := self._crew.lives.get(path)) is not None:
            return life.order.kind
        if (kind := self.elsewhere(path)) is not None:
            return kind
        member = self._crew.roster.by_id(id_of(path))
        kind = self._kinds.find(member.kind) if member is not None else None
        if kind is None or kind.withheld:
            name = "that is not known" if member is None else member.kind
            raise ToolFailure(
                f"It was started by an agent of the type {name}, which is not there any more: what "
                "it may do cannot be told."
            )
        return kind


def _nobody(path: str) -> AgentKind | None:
    del path
    return None
