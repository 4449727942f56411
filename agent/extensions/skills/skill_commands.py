"""Skills and command files as slash commands: what a line names, and what it comes to.

Typing one is a yes to it: nobody is asked, but a deny rule stands above that, and each command of
its text is judged like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gatewright.agent.commands.outcome import Outcome, Problem, Say, Scope, Submit
from gatewright.agent.commands.registry import Command, CommandContext
from gatewright.agent.errors import SessionError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.skills.invoking import Invoker
from gatewright.agent.extensions.skills.session_skills import denies
from gatewright.agent.text.printable import escaped
from gatewright.skills.model import Skill
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Text
from gatewright.tools.protocol import TextContent, ToolFailure, ToolResult

if TYPE_CHECKING:
    from gatewright.agent.extensions.skills.order import Order


MOST = 6  # in one line
SUMMARY = 300  # characters


class SkillCommands:
    def __init__(self, host: Host, invoker: Invoker) -> None:
        self._host, self._invoker = host, invoker

    def now(self) -> Sequence[Command]:
        found = self._invoker.book.now()
        return [self._command(skill, found.called(skill)) for skill in found.every]

    def _command(self, skill: Skill, called: str) -> Command:
        """Who types one that is off, or only the model's, is told so."""
        said = skill.said
        about = " ".join(said.description.split())[:SUMMARY] or f"The {skill.form} {skill.name}"
        whose = f" (for {skill.nested})" if skill.nested else ""
        hint = said.argument_hint or " ".join(f"[{name}]" for name in said.arguments)
        others = self._others(skill, called)
        return Command(
            name=called,
            summary=escaped(about + whose),
            args=escaped(hint),
            aliases=others,
            source=skill.whose,
            kind="skill" if skill.form == "skill" else "command file",
            hidden=not said.user_invocable or self._invoker.book.show(skill) == "off",
            run=partial(self._run, skill),
        )

    def _others(self, skill: Skill, called: str) -> tuple[str, ...]:
        """All that leads to it besides, as its book knows."""
        names = [skill.qualified]
        if skill.form == "command":
            names += [f"command:{skill.name}", skill.name.rpartition(":")[2]]
        found = self._invoker.book.last()
        return tuple(
            name for name in dict.fromkeys(names) if name != called and found.find(name) == skill
        )

    async def _run(self, skill: Skill, context: CommandContext) -> Outcome:
        from gatewright.agent.extensions.skills.order import together  # noqa: PLC0415  lazy

        orders, wrong = self._orders(skill, context)
        if wrong:
            return Problem.of(wrong)
        forks = context.front.typed and self._invoker.forks() is not None
        if orders[0].skill.said.fork and forks:  # else it is followed here, bounded as the turn is
            return await self._forked(orders[0])
        if any(order.skill.said.fork for order in orders):
            self._host.warn(f"/{context.name} is followed here: no other agents are started.")
        for order in orders:
            if order.skill.withheld:
                self._host.warn(escaped(_withheld(order)))
        scopes = [await self._invoker.scope(order) for order in orders]
        scope = together(scopes) if len(scopes) > 1 else scopes[0]
        line = context.raw.strip() or f"/{context.name} {context.args}".rstrip()
        return Submit(line, _beginning(scope, self._invoker, orders))

    def _orders(self, skill: Skill, context: CommandContext) -> tuple[list[Order], str]:
        """All that the line begins with, each with the text behind them; or why it is not run."""
        found, rest, typed = [skill], context.args, context.front.typed
        while rest.startswith("/"):
            word, _, behind = rest.partition(" ")
            other = self._invoker.book.last().find(word[1:])
            if other is None:
                break
            found.append(other)
            rest = behind.lstrip()
        if len(found) > MOST:
            return [], f"A line begins with {MOST} skills at most."
        if len(found) > 1 and any(each.said.fork for each in found):
            return [], "A skill that another agent works on stands alone in its line."
        for each in found:
            if refusal := self._refusal(each):
                return [], refusal
        return [self._invoker.order(each, rest, typed=typed) for each in found], ""

    def _refusal(self, skill: Skill) -> str:
        book = self._invoker.book
        called = book.last().called(skill)
        if refusal := book.refusal(called, typed=True):
            return refusal
        rules = self._host.policy.rules().deny
        denied = denies(rules, skill.name) or denies(rules, skill.qualified)
        return f"A rule denies Skill({skill.name})." if denied else ""

    async def _forked(self, order: Order) -> Outcome:
        """Its report stands under the line, and the model has it with the next message."""
        session = self._host.session
        main = session.agent(MAIN)
        assert main is not None
        try:
            result = await main.runner.alone(partial(self._reported, order))
        except (SessionError, ToolFailure) as error:
            return Problem.of(escaped(str(error)))
        text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        session.tell(f"The person ran /{order.called}, and this came of it:\n{text}", wakes=False)
        blocks = result.view or (Text(text),)
        return Say(blocks) if result.ok else Problem(blocks)

    async def _reported(self, order: Order) -> ToolResult:
        main, forks = self._host.session.agent(MAIN), self._invoker.forks()
        assert main is not None and forks is not None
        scope = await self._invoker.scope(order)
        done = ToolResult.failed("It ended without a word.")
        async for item in self._invoker.forked(forks, order, scope, main.context(order.call_id)):
            if isinstance(item, ToolResult):
                done = item
        return done


def _withheld(order: Order) -> str:
    fields = ", ".join(order.skill.withheld)
    verb = "does" if len(order.skill.withheld) == 1 else "do"
    return (
        f"/{order.called}: {fields} {verb} not count, for this project is not trusted; "
        "`agent trust add` trusts it."
    )


def _beginning(scope: Scope, invoker: Invoker, orders: Sequence[Order]) -> Scope:
    return replace(scope, begin=partial(invoker.begun, orders), line=True)
