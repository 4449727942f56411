"""What a command brought with its message: in force from there to the person's next message.

Kept in memory alone, so that a resumed session never has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from gatewright.agent.commands.outcome import Scope
from gatewright.agent.models.in_use import Models
from gatewright.agent.record.events import AnyEvent, Noticed
from gatewright.agent.session.inbox import Input
from gatewright.tools.access import MAIN

NOTHING = Scope(by="")


class ScopedRules(Protocol):
    """The rules in force, some of which end with a message."""

    def scope(self, scope: Scope, agent: str = MAIN) -> Sequence[str]:
        """Its rules besides all others, in place of those of the scope before.

        Returns what of them does not count, a sentence each.
        """
        ...


class Scopes:
    def __init__(
        self, rules: ScopedRules, models: Models, publish: Callable[[AnyEvent], None]
    ) -> None:
        self._rules = rules
        self._models = models
        self._publish = publish
        self.now: Scope | None = None

    def taken(self, item: Input) -> None:
        """An input is taken up: one of the person's own ends what an earlier command brought."""
        if item.hidden or (item.scope is None and self.now is None):
            return
        scope = self.now = believed(item.scope) if item.scope is not None else None
        if scope is None:
            self._rules.scope(NOTHING)
            self._models.scope()
            return
        for problem in self._rules.scope(scope):
            self._publish(Noticed(text=problem, tone="warning"))
        self._models.scope(scope.model, scope.effort)
        if told := sentence(scope):
            self._publish(Noticed(text=told, tone="dim"))


def believed(scope: Scope) -> Scope:
    """Of whoever is not trusted, what forbids and asks; it chooses no model that costs more."""
    if scope.trusted:
        return scope
    return replace(scope, allow=(), model="", effort="")


def sentence(scope: Scope) -> str:
    """What is in force, for the person; empty where nothing is."""
    lists = (("allows", scope.allow), ("asks for", scope.ask), ("denies", scope.deny))
    facts = [f"{verb} {', '.join(rules)}" for verb, rules in lists if rules]
    if scope.only is not None:
        facts.append(f"lets be called only {', '.join(scope.only) or 'no tool'}")
    if scope.model or scope.effort:
        level = f" ({scope.effort} effort)" if scope.effort else ""
        facts.append(f"is answered by {scope.model or 'your model'}{level}")
    return f"/{scope.by} until your next message: {'; '.join(facts)}" if facts else ""
