"""What of the policy is one agent's own: its mode, what it was refused, and the scopes it is in.

Rules, grants and the sandbox are the session's. A mode of its own never lets an agent do more than
its parent may right now, in any column; what a scope forbids binds those below it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeAlias

from gatewright.permissions import modes
from gatewright.permissions.request import Refused
from gatewright.permissions.rulebook.rules import Rule, RuleSet, RuleTexts, parse_rule
from gatewright.tools.access import MAIN

REMEMBERED = 256  # refused calls of one agent
DECLINED = 2  # noes of a person that end the run of an agent
NO = "The person said no to this call."
NO_WAY_ROUND = (
    "Do not try to reach the same effect with another tool or command: go on without it, and say "
    "in your report what was not done. Another no ends your work."
)

Tools = tuple[Rule, ...]
Mark = tuple[RuleTexts, Tools | None, tuple[Tools, ...], Mapping[str, str]]
# Of the mode of a session: that of an agent below it, and whether edits inside run besides.
Leading: TypeAlias = Callable[[str], tuple[str, bool]]
Build = Callable[[RuleTexts], RuleSet]


class Scoped(Protocol):
    """What a command or a kind of agent brings; `only` are all its tools, None leaves all."""

    @property
    def allow(self) -> tuple[str, ...]: ...
    @property
    def ask(self) -> tuple[str, ...]: ...
    @property
    def deny(self) -> tuple[str, ...]: ...
    @property
    def only(self) -> tuple[str, ...] | None: ...
    @property
    def kept_to(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def named(self) -> Mapping[str, str]: ...
    @property
    def agreed(self) -> tuple[str, ...]: ...


def _tools(texts: Sequence[str]) -> tuple[Rule, ...]:
    return tuple(filter(None, (parse_rule(text, "allow", "command")[0] for text in texts)))


class View:
    def __init__(
        self,
        parent: Callable[[], str],
        rules: Callable[[], RuleSet],
        build: Build,
        above: Callable[[], View] | None = None,
    ) -> None:
        self._parent = parent
        self._above = above
        self._rules = rules
        self._build = build
        self._own = ""
        self.memory = ""  # a directory that it reads and changes unasked
        self._freed = False
        self._leads: Leading | None = None
        self.most = ""  # while nobody typed what it does: it may also do no more than this mode
        self.scope = RuleTexts()
        self._only: tuple[Rule, ...] | None = None  # the tools of its scope; None: all
        self._kept_to: tuple[tuple[Rule, ...], ...] = ()  # by skills
        self.named: Mapping[str, str] = {}  # whose a rule of the scope is
        self._own_tools: tuple[tuple[Rule, ...], ...] = ()
        self._scoped: tuple[RuleSet, RuleTexts, RuleSet] | None = None  # made from, made
        self._refused: dict[str, int] = {}
        self._declined = 0  # by a person

    @property
    def mode(self) -> str:
        """Its own, as far as the parent's mode of this moment lets it; else the parent's."""
        if self._leads is not None:
            mode, _ = self._leads(self._mode_above())
            return modes.tightest(mode, self._own) if self._own else mode
        parent = self._parent()
        if self._freed and not modes.is_ceiling(parent):
            return self._own
        return modes.tightest(parent, self._own) if self._own else parent

    @property
    def edits(self) -> bool:
        """Edits inside run in its mode, whatever that says of edits."""
        if self._leads is not None:
            mode, edits = self._leads(self._mode_above())
            return edits and self.mode == mode
        above = self._above() if self._above is not None else None
        return above is not None and above.edits and self.mode == above.mode

    def _mode_above(self) -> str:
        return self._above().mode if self._above is not None else self._parent()

    def lead(self, leads: Leading, mode: str = "") -> str:
        """Work in what a table makes of the mode above, at each call; `mode` only tightens it."""
        self._own = modes.resolve(mode) if mode else ""
        self._leads = leads
        return self.mode

    def keep(self, mode: str, *, freed: bool = False) -> str:
        """Work in a mode of its own from now on; empty follows the parent. ValueError as `set`.

        One that is `freed` by the person's own settings may do more than its parent.
        """
        self._own = modes.resolve(mode) if mode else ""
        self._leads = None
        self._freed = freed and bool(self._own)
        return self.mode

    # --- the scope of a command or skill, until the person's next message ---

    def enter(self, scope: Scoped) -> None:
        """In place of the one before; an empty one ends it. `only` names all tools it has."""
        self.scope, self._only, self._kept_to, self.named = RuleTexts(), None, (), {}
        self._only = None if scope.only is None else _tools(scope.only)
        self.join(scope)

    def join(self, scope: Scoped) -> None:
        """Besides the one before: what they allow and deny adds up, and each limit holds."""
        before = self.scope
        self.scope = RuleTexts(
            tuple(dict.fromkeys((*before.allow, *scope.allow))),
            tuple(dict.fromkeys((*before.ask, *scope.ask))),
            tuple(dict.fromkeys((*before.deny, *scope.deny))),
            agreed=tuple(dict.fromkeys((*before.agreed, *scope.agreed))),
        )
        self._kept_to = (*self._kept_to, *map(_tools, scope.kept_to))
        self.named = {**self.named, **scope.named}

    def mark(self) -> Mark:
        """What is in force, for `back`."""
        return self.scope, self._only, self._kept_to, self.named

    def back(self, mark: Mark) -> None:
        self.scope, self._only, self._kept_to, self.named = mark

    def kept_to(self) -> tuple[tuple[Rule, ...], ...]:
        """Lists of tools that skills keep to, its own and those of whoever started it."""
        above = self._above().kept_to() if self._above is not None else ()
        return (*above, *self._kept_to)

    def limit(self, only: Sequence[str]) -> None:
        """Name all tools that it has as long as it lives; those it starts have their own."""
        self._own_tools = (_tools(only),)

    def limits(self) -> tuple[tuple[Rule, ...], ...]:
        """Lists of tools, each of which has to name one that is called."""
        return (*self._bound(), *self._own_tools)

    def _bound(self) -> tuple[tuple[Rule, ...], ...]:
        """Those that scopes name, its own and of those above it."""
        above = self._above()._bound() if self._above is not None else ()
        return above if self._only is None else (*above, self._only)

    def rules(self) -> RuleSet:
        rules, scope = self._rules(), self._in_force()
        if not (scope.allow or scope.ask or scope.deny or scope.agreed):
            return rules
        if self._scoped is None or self._scoped[0] is not rules or self._scoped[1] != scope:
            self._scoped = (rules, scope, self._build(scope))
        return self._scoped[2]

    def _in_force(self) -> RuleTexts:
        """What it allows is its own; what it asks and denies is also of whoever started it."""
        if self._above is None:
            return self.scope
        above, own = self._above()._in_force(), self.scope
        return RuleTexts(own.allow, above.ask + own.ask, above.deny + own.deny, agreed=own.agreed)

    # --- refusals ---

    def refused(self, key: str) -> int:
        """How often in all."""
        count = self._refused.get(key, 0) + 1
        if len(self._refused) > REMEMBERED:
            self._refused.clear()
        self._refused[key] = count
        return count

    def granted(self, key: str) -> None:
        self._refused.pop(key, None)

    def declined(self, agent: str) -> Refused:
        """A person's plain no: it ends the turn, of an agent that others started the second one."""
        self._declined += 1
        if agent == MAIN:
            return Refused(NO, ends_turn=True, plain=True)
        if self._declined < DECLINED:
            return Refused(f"{NO} {NO_WAY_ROUND}")
        return Refused(f"{NO} It was the second time, so this agent is stopped.", ends_turn=True)


class Views:
    """One for each agent that called something, by its path; a child's is below its parent's."""

    def __init__(self, mode: Callable[[], str], rules: Callable[[], RuleSet], build: Build) -> None:
        self._mode = mode
        self._rules = rules
        self._build = build
        self._views: dict[str, View] = {}
        self._begun: set[str] = set()
        self._gone: set[str] = set()  # that are kept for those below them

    def of(self, agent: str) -> View:
        if (known := self._views.get(agent)) is not None:
            return known
        parent, above = self._mode, None
        if agent != MAIN:
            starter = agent.rpartition("/")[0] or MAIN
            parent, above = partial(self._above, starter), partial(self.of, starter)
        made = self._views[agent] = View(parent, self._rules, self._build, above)
        return made

    def _above(self, agent: str) -> str:
        return modes.for_child(self.of(agent).mode)

    def begins(self, agent: str) -> View:
        """It starts or goes on: nothing of a run before is left."""
        self._gone.discard(agent)
        self._views.pop(agent, None)
        self._begun.add(agent)
        made = self.of(agent)
        if agent != MAIN:  # begun by nobody's word it stays so, whatever its parent does later
            made.most = self.of(agent.rpartition("/")[0] or MAIN).most
        return made

    def heeds(self, path: str, sender: str) -> None:
        """It works on what that one says: bound as that one is, where nobody typed it."""
        most, view = self.of(sender).most, self.of(path)
        if most and path != MAIN:
            view.most = modes.tightest(view.most, most) if view.most else most

    def stands(self, agent: str) -> bool:
        """Whether what it is bound by is known: it works, or one below it does."""
        return agent in self._begun

    def forget(self, agent: str) -> None:
        """The agent is gone; what it was bound by stays while one below it is there."""
        if agent != MAIN:
            self._gone.add(agent)
        for path in sorted(self._gone, key=lambda path: -path.count("/")):
            if not any(each.startswith(f"{path}/") for each in self._views):
                self._views.pop(path, None)
                self._begun.discard(path)
                self._gone.discard(path)
