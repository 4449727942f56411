"""What a command brought with its message: in force from there to the person's next message.

Kept in memory alone, so that a resumed session never has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from gatewright.agent.commands.outcome import Begun, Scope
from gatewright.agent.models.in_use import Models
from gatewright.agent.record.events import AnyEvent, InputRefused, Noticed
from gatewright.agent.session.inbox import NOBODYS, Input
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content

NOTHING = Scope(by="")


class ScopedRules(Protocol):
    """The rules in force, some of which end with a message."""

    def scope(self, scope: Scope, agent: str = MAIN, *, joins: bool = False) -> Sequence[str]:
        """Its rules besides all others, in place of those of the scope before unless it `joins`.

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
        self._begun: dict[str, Begun] = {}  # by the input that is about to be taken up

    async def begins(self, item: Input) -> InputRefused | None:
        """Make what an input brings, where that takes work; why it is not taken up, if so."""
        scope = item.scope
        if scope is None or scope.begin is None:
            return None
        self._enter(scope)  # what is done for it is done within it
        try:
            begun = await scope.begin()
        except asyncio.CancelledError:  # the person's Esc is about this and ends nothing else
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            begun = Begun(refused="Interrupted.")
        if begun.refused:
            self._enter(None)
            return InputRefused(item.text, begun.refused, begun.declined)
        self._begun[item.id] = begun
        return None

    def before(self, item: Input) -> Sequence[tuple[Content, ...]]:
        """What goes before it, hidden."""
        begun = self._begun.get(item.id)
        if begun is None:
            return ()
        for event in begun.told:
            self._publish(event)
        return begun.before

    def taken(self, item: Input) -> None:
        """An input is taken up: the person's own ends what an earlier command brought, and so does
        what began by itself.
        """
        if self._begun.pop(item.id, None) is not None:
            return
        begins = item.scope is not None or item.source in NOBODYS
        if (item.hidden and not begins) or (item.scope is None and self.now is None):
            return
        self._enter(item.scope)

    def join(self, scope: Scope, agent: str = MAIN, models: Models | None = None) -> None:
        """Besides what is in force, from now on: what they allow, deny and limit adds up.

        Of another agent's it holds until that ends.
        """
        scope = believed(scope)
        if agent == MAIN:
            self.now = scope
        self._tell(scope, self._rules.scope(scope, agent, joins=True))
        if models is not None and (scope.model or scope.effort):
            models.also(scope.model, scope.effort)

    def _enter(self, scope: Scope | None) -> None:
        """In place of the one before."""
        self.now = None if scope is None else believed(scope)
        if self.now is None:
            self._rules.scope(NOTHING)
            self._models.scope()
            return
        problems = self._rules.scope(self.now)
        self._models.scope(self.now.model, self.now.effort)
        self._tell(self.now, problems)

    def _tell(self, scope: Scope, problems: Sequence[str]) -> None:
        for problem in problems:
            self._publish(Noticed(text=problem, tone="warning"))
        if scope.wide:
            what = "is too broad to allow, so it still asks"
            if len(scope.wide) > 1:
                what = "are too broad to allow, so they still ask"
            text = f"/{scope.by}: {', '.join(scope.wide)} {what}."
            self._publish(Noticed(text=text, tone="warning"))
        if told := sentence(scope):
            self._publish(Noticed(text=told, tone="dim"))


def believed(scope: Scope) -> Scope:
    """Of whoever is not trusted, what forbids and asks; it chooses no model that costs more."""
    if scope.trusted:
        return scope
    return replace(scope, allow=(), agreed=(), model="", effort="")


def sentence(scope: Scope) -> str:
    """What is in force, for the person; empty where nothing is."""
    lists = (("allows", scope.allow), ("asks for", scope.ask), ("denies", scope.deny))
    facts = [f"{verb} {', '.join(rules)}" for verb, rules in lists if rules]
    if scope.only is not None:
        facts.append(f"lets be called only {', '.join(scope.only) or 'no tool'}")
    facts += [f"keeps to {', '.join(names)}" for names in scope.kept_to]
    if scope.model or scope.effort:
        level = f" ({scope.effort} effort)" if scope.effort else ""
        facts.append(f"is answered by {scope.model or 'your model'}{level}")
    return f"/{scope.by} until your next message: {'; '.join(facts)}" if facts else ""
