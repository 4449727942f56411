"""What of the policy is one agent's own: its mode, what it was refused, and the scopes it is in.

Rules, grants and the sandbox are the session's. A mode of its own never lets an agent do more than
its parent may right now, in any column.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gatewright.permissions import modes
from gatewright.permissions.rulebook.rules import RuleSet, RuleTexts
from gatewright.tools.access import MAIN

REMEMBERED = 256  # refused calls of one agent

Build = Callable[[RuleTexts], RuleSet]


class View:
    def __init__(
        self, parent: Callable[[], str], rules: Callable[[], RuleSet], build: Build
    ) -> None:
        self._parent = parent
        self._rules = rules
        self._build = build
        self._own = ""
        self.scope = RuleTexts()
        self._scoped: tuple[RuleSet, RuleSet] | None = None  # made from, made
        self._refused: dict[str, int] = {}

    @property
    def mode(self) -> str:
        """Its own, as far as the parent's mode of this moment lets it; else the parent's."""
        parent = self._parent()
        return modes.tightest(parent, self._own) if self._own else parent

    def keep(self, mode: str) -> str:
        """Work in a mode of its own from now on; empty follows the parent. ValueError as `set`."""
        self._own = modes.resolve(mode) if mode else ""
        return self.mode

    # --- the scope of a command or skill, until the person's next message ---

    def enter(self, scope: RuleTexts) -> None:
        """In place of the one before; an empty one ends it."""
        self.scope = scope
        self._scoped = None

    def rules(self) -> RuleSet:
        rules = self._rules()
        if not (self.scope.allow or self.scope.ask or self.scope.deny):
            return rules
        if self._scoped is None or self._scoped[0] is not rules:
            self._scoped = (rules, self._build(self.scope))
        return self._scoped[1]

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


class Views:
    """One for each agent that called something, by its path; a child's is below its parent's."""

    def __init__(self, mode: Callable[[], str], rules: Callable[[], RuleSet], build: Build) -> None:
        self._mode = mode
        self._rules = rules
        self._build = build
        self._views: dict[str, View] = {}

    def of(self, agent: str) -> View:
        if (known := self._views.get(agent)) is not None:
            return known
        above = agent.rpartition("/")[0]
        parent = self._mode
        if agent != MAIN:
            parent = partial(self._above, above or MAIN)
        made = self._views[agent] = View(parent, self._rules, self._build)
        return made

    def _above(self, agent: str) -> str:
        return modes.for_child(self.of(agent).mode)

    def forget(self, agent: str) -> None:
        """The agent is gone, with all below it."""
        for path in [each for each in self._views if each == agent or each.startswith(f"{agent}/")]:
            if path != MAIN:
                del self._views[path]
