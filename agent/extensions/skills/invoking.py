"""Invokes skills: by the model's call, and by a line of the person.

What an invocation makes of the session (its scope, hooks, a directory that may be read) begins once
nothing of it was refused, but for its rules: they count for its own commands already.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gatewright.agent.commands.outcome import Begun, Scope
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.agents.agent_tools import Agents
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.hooks import Hooks
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.skills.invoked import Invoked
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.agent.plugins.parts import Plugin, PluginParts
from gatewright.agent.record.events import SkillInvoked
from gatewright.agent.record.ids import new_id
from gatewright.agent.session.scopes import believed
from gatewright.agent.text.printable import escaped
from gatewright.skills.book import SkillBook
from gatewright.skills.model import Skill, SkillError
from gatewright.skills.source import About
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Text
from gatewright.tools.counted import counted
from gatewright.tools.protocol import (
    Content,
    Progress,
    Run,
    TextContent,
    ToolContext,
    ToolFailure,
    ToolResult,
)

if TYPE_CHECKING:
    from gatewright.agent.extensions.skills.forking import Forks
    from gatewright.agent.extensions.skills.order import Order
    from gatewright.agent.extensions.skills.rendering import Body, Rendering

CAP = 400_000  # characters of a result: a body with what it attaches
PLUGIN = "plugin"  # an origin
AGAIN = (
    "The skill {name} was invoked before with this very text, which you still have above: do what "
    "it says."
)


class Invoker:
    """`Invoking` for the tools, and what the commands of people need."""

    def __init__(self, host: Host, book: SkillBook, uses: Uses, invoked: Invoked) -> None:
        self._host, self.book, self._uses, self._invoked = host, book, uses, invoked
        self._rendering: Rendering | None = None
        self._forks: Forks | None = None
        self._noting: set[asyncio.Task[None]] = set()

    # by the model

    def about(self, name: str) -> About:
        from gatewright.agent.extensions.skills.order import by  # noqa: PLC0415  lazy

        skill = self._found(name)
        called = self.book.last().called(skill)
        said = by(skill, called, self._host.around.where)
        # A plugin's by its whole name: what is allowed of it covers no other of its short one.
        name = skill.qualified if skill.origin == PLUGIN else called
        return About(name, skill.origin, said)

    async def invoke(self, name: str, arguments: str, ctx: ToolContext) -> Run:
        skill = self._found(name)
        order = self.order(skill, arguments, ctx.call_id, agent=ctx.agent)
        scope = await self.scope(order)
        if skill.said.fork and (forks := self.forks()) is not None:
            items = self.forked(forks, order, scope, ctx)
        else:
            self._join(order, scope)
            items = self._watched(order, ctx)
        async with aclosing(items) as found:
            async for item in found:
                yield item

    async def forked(
        self, forks: Forks, order: Order, scope: Scope, ctx: ToolContext
    ) -> AsyncGenerator[Progress | ToolResult, None]:
        """What it brings is its agent's; here it counts while its text is made."""
        view = self._host.policy.view(order.agent)
        before = view.mark()
        try:
            self._host.policy.scope(believed(scope), order.agent, joins=True)
            body = await self._body(order, ctx)
        finally:
            view.back(before)
        self._entered(order, body.files)
        async with aclosing(forks.run(order, scope, body.text, ctx)) as items:
            async for item in items:
                yield item

    async def _watched(
        self, order: Order, ctx: ToolContext
    ) -> AsyncGenerator[Progress | ToolResult, None]:
        body = await self._body(order, ctx)
        if self._invoked.has(order.agent, order.called, body.text):
            text = AGAIN.format(name=order.called)
            yield ToolResult.text(text, summary="again", view=(Text(text, "dim"),))
            return
        self._entered(order, body.files)
        files = f" · {counted(body.files, 'file')}" if body.files else ""
        line = f"{order.skill.origin}{files}"
        content = (*body.content, *self._variants(order))
        yield ToolResult(ok=True, content=content, summary=line, cap=CAP)

    # by the person

    async def begun(self, orders: Sequence[Order]) -> Begun:
        """The texts of a line, in its turn: all of them, or why it is not sent."""
        found: list[tuple[Order, Body]] = []
        main = self._host.session.agent(MAIN)
        assert main is not None
        for order in orders:
            ctx = main.context(order.call_id)
            try:
                found.append((order, await self._body(order, ctx)))
            except ToolFailure as failure:
                return Begun(refused=str(failure))
        before: list[tuple[Content, ...]] = []
        told: list[SkillInvoked] = []
        for order, body in found:
            self._work(order)
            if self._invoked.has(MAIN, order.called, body.text):
                before.append((TextContent(AGAIN.format(name=order.called)),))
                continue
            told.append(self._event(order, body.files))
            before.append((*body.content, *self._variants(order)))
        return Begun(before=tuple(before), told=tuple(told))

    async def preloaded(self, name: str) -> str:
        """The text that an agent begins with. Raises ToolFailure saying why there is none.

        Nobody is asked about it, so what would be asked about is not there.
        """
        skill = self._found(name)
        if not skill.trusted:
            raise ToolFailure("it comes from a project that is not trusted.")
        order = replace(self.order(skill, "", "preloaded"), preloaded=True)
        main = self._host.session.agent(MAIN)
        assert main is not None
        return (await self._body(order, main.context(order.call_id))).text

    # of either

    def order(
        self,
        skill: Skill,
        arguments: str,
        call_id: str = "",
        agent: str = MAIN,
        *,
        typed: bool = True,
    ) -> Order:
        """Without a call it is the person's, unless nobody `typed` it."""
        from gatewright.agent.extensions.skills.order import Order  # noqa: PLC0415  lazy
        from gatewright.agent.extensions.skills.values import values_of  # noqa: PLC0415  lazy

        host = self._host
        living = host.session.agent(agent)
        where = living.where if living is not None else host.around.where
        effort = living.models.effort if living is not None else ""
        return Order(
            skill=skill,
            called=self.book.last().called(skill),
            arguments=arguments,
            values=values_of(host, skill, effort),
            where=where,
            call_id=call_id or f"skill-{new_id()[:8]}",
            agent=agent,
            typed=typed and not call_id,
        )

    async def scope(self, order: Order) -> Scope:
        from gatewright.agent.extensions.skills.order import scope_of  # noqa: PLC0415  lazy

        said = order.skill.said
        model = "" if said.model == "inherit" else said.model
        effort = "" if said.effort == "inherit" else said.effort
        if (model or effort) and order.skill.trusted and (why := await self._no(model, effort)):
            self._host.warn(escaped(f"/{order.called}: {why} Your own model answers."))
            model = effort = ""
        enforced = self._host.around.settings.skills.enforce_allowed_tools
        return scope_of(order, enforced=enforced, model=(model, effort))

    def forks(self) -> Forks | None:
        """None where no agents are started: then it is followed here."""
        agents = part_of(self._host.brought, Agents)
        if agents is None:
            return None
        if self._forks is None:
            from gatewright.agent.extensions.skills.forking import Forks  # noqa: PLC0415  lazy: with the first

            self._forks = Forks(self._host, agents)
        return self._forks

    def _found(self, name: str) -> Skill:
        """For the model. Raises ToolFailure saying why not."""
        if refusal := self.book.refusal(name):
            raise ToolFailure(refusal)
        skill = self.book.last().find(name)
        if skill is None:
            raise ToolFailure(f"There is no skill {name[:80]!r}.")
        return skill

    async def _no(self, model: str, effort: str) -> str:
        """Why they cannot be used; opening one asks nobody anything."""
        main = self._host.session.agent(MAIN)
        own = main.models.name if main is not None else ""
        try:
            opened = await asyncio.to_thread(self._host.open_model, model or own, effort)
        except GatewrightError as error:
            return str(error)
        await opened.provider.close()
        return ""

    async def _body(self, order: Order, ctx: ToolContext) -> Body:
        if self._rendering is None:
            from gatewright.agent.extensions.skills.rendering import Rendering  # noqa: PLC0415  lazy: with the first

            self._rendering = Rendering(self._host)
        try:
            template = await asyncio.to_thread(self.book.text, order.skill)
        except SkillError as error:
            raise ToolFailure(str(error)) from None
        await self._as_agreed(order)
        self._show(order.skill)
        return await self._rendering.body(order, template, ctx)

    async def _as_agreed(self, order: Order) -> None:
        """Of a plugin, which was agreed to as it is. Looked at once its text was read."""
        if (plugin := self._plugin_of(order.skill)) is not None:
            from gatewright.agent.plugins.gathering import unchanged  # noqa: PLC0415  lazy: 12 ms

            if not await asyncio.to_thread(unchanged, plugin):
                raise ToolFailure(
                    f"The files of the plugin {plugin.name} are others now: /reload-plugins, typed "
                    "by the person, looks at them again."
                )

    def _plugin_of(self, skill: Skill) -> Plugin | None:
        plugins = part_of(self._host.brought, PluginParts) if skill.origin == "plugin" else None
        return plugins.find(skill.whose) if plugins is not None else None

    def _variants(self, order: Order) -> Sequence[Content]:
        """Those of the same name for other directories: the bare name was said."""
        others = [each for each in self.book.last().others(order.skill) if each.nested]
        if not others or order.called != order.skill.name:
            return ()
        names = ", ".join(f"{each.qualified} (for {each.nested})" for each in others)
        return (TextContent(f"Skills of that name for other directories: {names}."),)

    def _join(self, order: Order, scope: Scope) -> None:
        agent = self._host.session.agent(order.agent)
        models = agent.models if agent is not None else None
        self._host.session.scopes.join(scope, order.agent, models)

    def _entered(self, order: Order, files: int) -> None:
        self._host.journal.publish(self._event(order, files), order.agent)
        self._work(order)

    def _event(self, order: Order, files: int) -> SkillInvoked:
        return SkillInvoked(
            name=order.called,
            origin=order.skill.origin,
            path=str(order.skill.file),
            arguments=len(order.arguments),
            files=files,
            call_id="" if order.typed else order.call_id,
        )

    def _work(self, order: Order) -> None:
        """Its hooks count from here to the session's end; once more, it was used."""
        skill = order.skill
        hooks = part_of(self._host.brought, Hooks)
        if skill.trusted and skill.said.hooks and hooks is not None:
            hooks.bring_skill(str(skill.file), skill.said.hooks, order.called)
        noting = asyncio.create_task(self._used(skill), name="a use of a skill")
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)

    async def _used(self, skill: Skill) -> None:
        with suppress(GatewrightError, OSError):  # how often it was used is not worth a word
            await asyncio.to_thread(self._uses.note, skill.qualified)

    async def close(self) -> None:
        if self._noting:
            await asyncio.wait(self._noting)

    def _show(self, skill: Skill) -> None:
        """Its directory may be read from now on, by whoever has a word to be trusted."""
        from gatewright.permissions.sandbox.commands import CommandSandbox  # noqa: PLC0415  lazy
        from gatewright.permissions.shown import show  # noqa: PLC0415  lazy

        if skill.form != "skill" or not skill.trusted or skill.origin == "mcp":
            return
        if skill.origin != "project":  # whose directory is read as all of the project
            sandbox = part_of(self._host.brought, CommandSandbox)
            show(self._host.policy, skill.folder, sandbox)
            if (plugin := self._plugin_of(skill)) is not None:
                show(self._host.policy, plugin.data, sandbox)  # its texts name what it keeps

    def shown_again(self) -> None:
        """Those that were at work in the session that goes on."""
        files: Sequence[Path] = tuple(self._invoked.files)
        known = {skill.file: skill for skill in self.book.now().every} if files else {}
        for file in files:
            if (skill := known.get(file)) is not None:
                self._show(skill)
