"""Adapts agents: kinds, models, prompts and modes of those that a session starts."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.agents.agent_specs import AGENT, SEND, TASK
from gatewright.agent.agents.agent_tool import AgentTool, TaskTool
from gatewright.agent.agents.copied import Copies
from gatewright.agent.agents.crew import Crew, CrewLimits, CrewPorts, Opened
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.agents.life import Life, Order
from gatewright.agent.agents.lineage import told, told_in
from gatewright.agent.agents.own_tools import held_to, own_tools
from gatewright.agent.agents.recovered import Recovered, conversation_of, recovered
from gatewright.agent.agents.roster import Member
from gatewright.agent.agents.send_message import Mail, SendMessage
from gatewright.agent.agents.stop_marks import StopMarks
from gatewright.agent.agents.telling import siblings, system_prompt
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.agent_types.plugging import AgentTypes
from gatewright.agent.extensions.agents.bounds import Bounds
from gatewright.agent.extensions.agents.joining import answered_by, joining, tighter
from gatewright.agent.extensions.agents.opening import about, elsewhere, left_of
from gatewright.agent.extensions.agents.rights import Rights
from gatewright.agent.extensions.contribution import part_of
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.servers.plugging import McpServers
from gatewright.agent.extensions.skills.skill_session import SessionSkills
from gatewright.agent.extensions.worktrees import SessionTrees
from gatewright.agent.models.opener import SMALL_WINDOW
from gatewright.agent.models.smaller import smaller
from gatewright.agent.record.events import AgentFinished, Cleared, Envelope, UserMessage
from gatewright.agent.session.children import AgentRun, AgentSpec
from gatewright.agent.session.jobs import OwnJobs
from gatewright.agent.session.start.base import CLOCK
from gatewright.agent.session.writers import agents_before, agents_folder
from gatewright.agent.text.printable import escaped
from gatewright.agent.turn.limits import Limits
from gatewright.agent.worktrees.isolated import Isolated
from gatewright.permissions import modes
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent, Tool, ToolFailure, ToolSpec

TURNS = 200  # requests of an agent whose kind says nothing of them
MODEL_ENV = "GATEWRIGHT_SUBAGENT_MODEL"
Prefix = tuple[tuple[str, ...], tuple[ToolSpec, ...]]


class AgentSession:
    """Implements `Starting` and `Reviving` for the tools, and what the crew needs."""

    def __init__(self, host: Host, types: AgentTypes, loop: asyncio.AbstractEventLoop) -> None:
        self._host, self._kinds, self._brings = host, types.book, types.brings
        self._marks = StopMarks(agents_folder(host.base), loop.time)
        self._making = asyncio.Lock()
        self._prefixes: dict[tuple[object, ...], tuple[AgentKind, Prefix]] = {}
        self.lost: Mapping[str, str] = {}
        self.copies: Copies | None = None  # of the agents of the session that this one copies
        self.ports = CrewPorts(
            journal=host.journal,
            clock=CLOCK,
            loop=loop,
            jobs=self._jobs,
            spawn=self.spawn,
            opened=self.opened,
            kept=host.barriers,
            limits=self._limits,
            new_id=lambda: f"a{secrets.token_hex(6)}",
            reports=host.base.start.path.with_suffix("") / "spill",
        )
        self.crew = Crew(self.ports)
        self._rights = Rights(host, self._kinds, self.crew.roster, self._mode_of)
        self.freer, self.heeds = self._rights.freer, host.policy.views.heeds
        self.bounds = Bounds(host, self._kinds, self.crew, self._mode_of)
        self.mail = Mail(self.crew, self, self._tell_main)
        agent = AgentTool(self.crew, self)
        self.tools: dict[str, Tool[Any]] = {
            AGENT: agent, TASK: TaskTool(), SEND: SendMessage(self.mail),
        }  # fmt: skip

    def _limits(self) -> CrewLimits:
        said = self._host.around.settings.agents
        return CrewLimits(said.max_depth, said.max_running, said.max_per_session)

    def saw(self, envelope: Envelope) -> None:
        if envelope.agent == MAIN and isinstance(envelope.event, Cleared):
            self._prefixes.clear()
        if envelope.agent == MAIN and self.copies is not None:
            self.copies.saw(envelope.event)
        self.crew.saw(envelope)
        life = self.crew.lives.get(envelope.agent)
        if life is not None and life.running and self._marks.asks(life.path):
            self.crew.stop(life, "person")
        if isinstance(envelope.event, AgentFinished):
            self.over(envelope.event.child)

    def over(self, path: str) -> None:
        """That agent has ended: what its type brought for it goes."""
        self._marks.forget(path)
        self._brings.end(path)

    # what may be started

    def kind(self, name: str, owner: str) -> AgentKind:
        if refusal := self._kinds.refusal(name):
            raise ToolFailure(refusal)
        found = self._kinds.find(name)
        assert found is not None
        starts = self.bounds.starts(owner)
        if starts is not None and found.name not in starts:
            there = ", ".join(starts) or "none"
            raise ToolFailure(f"This agent may not start {found.name}. It may start: {there}.")
        return found

    async def ready(self, kind: AgentKind, owner: str) -> None:
        tools = self._host.tools
        if kind.required_servers:
            if (mcp := part_of(self._host.brought, McpServers)) is not None:
                await mcp.needed(kind.required_servers)
            specs = [spec.name for spec in tools.specs()]
            missing = [
                server
                for server in kind.required_servers
                if server not in kind.inline_servers
                and not any(name.startswith(f"mcp__{server.replace(':', '_')}__") for name in specs)
            ]
            if missing:
                raise ToolFailure(
                    f"{kind.name} needs the MCP server {', '.join(missing)}, which is not there."
                )
        deepest = owner.count("/") + 1 >= self.crew.limits.depth
        has = own_tools(kind, tools.for_agents(), named=False, deepest=deepest)
        if not has and not kind.inline_servers:
            raise ToolFailure(f"Nothing is left of the tools of {kind.name} here.")

    def model(self, kind: AgentKind, asked: str, owner: str) -> str:
        around = self._host.around
        named = around.own_env.get(MODEL_ENV, "") or asked or kind.model
        if named and named != "inherit":
            return named
        agent = self._host.session.agent(owner)
        own = agent.models.name if agent is not None else ""
        return smaller(around, own) if kind.prefers_small else own

    def mode(self, asked: str) -> str:
        try:
            return modes.resolve(asked) if asked else ""
        except ValueError as error:
            raise ToolFailure(str(error)) from None

    @property
    def delegating(self) -> bool:
        return self._host.policy.current() == "delegate"

    @property
    def moves_after(self) -> float:
        return float(self._host.around.settings.agents.auto_background_seconds)

    # starting

    def _jobs(self, agent: str) -> OwnJobs:
        return self._host.session.jobs_of(agent)

    def spawn(self, spec: AgentSpec) -> AgentRun:
        try:
            return self._host.session.spawn(spec)
        except BaseException:
            self.bounds.end(f"{spec.parent}/{spec.name}")
            raise

    async def opened(self, life: Life) -> Opened:
        self.bounds.begin(life.path)
        self.heeds(life.path, life.order.owner)
        try:
            return await self._made(life)
        except BaseException:
            self.bounds.end(life.path)
            raise

    async def _made(self, life: Life) -> Opened:
        host, order, kind = self._host, life.order, life.order.kind
        owner = host.session.agent(order.owner)
        if kind.acp is not None:
            return await self._of_another(life)
        effort = order.effort or kind.effort or (owner.models.effort if owner is not None else "")
        opened = await asyncio.to_thread(host.open_model, order.model, effort)
        life.model = opened.name
        await self._brings.begin(life.path, kind)
        async with self._making:  # once for all that begin together, and in their order
            system, tools = await self._prefix(order, opened.name, opened.window)
        tools = (*tools, *self._brings.own(life.path, kind))
        schema, tools = answered_by(order.joined, opened, tools)
        spec, tree = await self._spec(life)
        spec = msgspec.structs.replace(spec, model=lambda: opened.briefed(system, tools, schema))
        return self._as_joined(order, spec, tree)

    async def _of_another(self, life: Life) -> Opened:
        """One whose turns run in another program, with a model of that."""
        order, kind = life.order, life.order.kind
        life.model = kind.name
        await self._brings.begin(life.path, kind)
        remembered = await asyncio.to_thread(self._brings.prompt, kind)
        spec, tree = await self._spec(life)
        return self._as_joined(order, elsewhere(self._host, order, spec, remembered), tree)

    def _as_joined(self, order: Order, spec: AgentSpec, tree: Isolated | None) -> Opened:
        joined, finish = order.joined, None if tree is None else partial(left_of, tree)
        return Opened(joining(spec, joined), joined.missing if joined else None, finish)

    async def _spec(self, life: Life) -> tuple[AgentSpec, Isolated | None]:
        """All of it but who runs its turns, and the tree that it has for itself."""
        order, kind, joined = life.order, life.order.kind, life.order.joined
        mode, freed = self._mode(order) if joined is None else (tighter(order), False)
        tree = await self._tree(order)
        beside = siblings(life, self.crew.lives.values()) if joined is None else joined.told
        told = (beside, "" if tree is None else tree.text)
        spec = AgentSpec(
            name=order.id,
            kind=kind.name,
            prompt=order.prompt,
            source=order.source,
            parent=order.parent,
            where=order.where if tree is None else tree.where,
            limits=Limits(requests=kind.max_turns or TURNS, cost=self._budget(kind)),
            mode=mode,
            freed=freed,
            scope=held_to(kind, order.scope),
            stored=order.stored,
            told=tuple(filter(None, told)),
            about=about(order, life.model),
            announced=True,
        )
        return spec, tree

    async def _tree(self, order: Order) -> Isolated | None:
        """A work tree of its own, where it is to have one: it never starts without."""
        if not (order.isolation or order.worktree):
            return None
        trees = part_of(self._host.brought, SessionTrees)
        if trees is None:
            raise GatewrightError("There are no work trees in this session.")
        slug = f"agent-{order.id}"
        return await trees.isolated(order.where, slug, order.path, order.worktree)

    async def _prefix(self, order: Order, model: str, window: int) -> Prefix:
        """The same bytes for all of one kind and model, until the main agent begins anew."""
        kind, named = order.kind, bool(order.name)
        deepest = order.path.count("/") >= self.crew.limits.depth
        said = order.joined.said if order.joined is not None else ""
        key = kind.name, model, named, deepest, kind.tools, kind.denied, said
        if (known := self._prefixes.get(key)) is not None and known[0] is kind:
            return known[1]
        host = self._host
        surroundings = await asyncio.to_thread(
            host.briefing.for_agent, memory=not kind.omit_memory, git=not kind.omit_git
        )
        offered = host.tools.for_agents(short=window < SMALL_WINDOW, window=window)
        tools = own_tools(kind, offered, named=named, deepest=deepest)
        remembered = await asyncio.to_thread(self._brings.prompt, kind)
        skills = await self._skills(kind, tools, window)
        made = system_prompt(kind, (*surroundings, *skills, remembered, said)), tools
        self._prefixes[key] = kind, made
        return made

    async def _skills(
        self, kind: AgentKind, tools: Iterable[ToolSpec], window: int
    ) -> Sequence[str]:
        """Those that it may invoke, then the texts that its definition wants it to begin with."""
        found: list[str] = []
        known = part_of(self._host.brought, SessionSkills)
        if known is not None:
            found.append(await asyncio.to_thread(known.listing_for, tools, window))
        for name in kind.skills:
            try:
                if known is None:
                    raise ToolFailure("there are no skills here.")
                found.append(await known.invoker.preloaded(name))
            except ToolFailure as failure:
                why = str(failure)
                self._host.warn(escaped(f"{kind.name} begins without the skill {name}: {why}"))
        return found

    def _budget(self, kind: AgentKind) -> float:
        """The lower of what its kind and the settings say."""
        said = self._host.around.settings.agents.max_budget_usd
        return min(filter(None, (kind.max_budget_usd, said)), default=0.0)

    def _mode(self, order: Order) -> tuple[str, bool]:
        """Its own mode, and whether the person's settings let it be looser than its parent's."""
        return self._mode_of(order.kind.mode, order.mode)

    def _mode_of(self, kind: str, asked: str) -> tuple[str, bool]:
        if asked and not (kind and modes.looser(asked, kind)):
            return asked, False
        if kind:
            return kind, False
        said = self._host.around.settings.permissions.subagent_permission_mode
        chosen = modes.canonical(said) if said else None
        return (chosen, True) if chosen is not None else ("", False)

    def plan_approved(self, path: str) -> str:
        """Plan mode is over, if whoever started it gave it that: its mode from now on.

        It is its lead's at most, and a plan mode by its type, by the settings or of the lead itself
        stays. Raises ToolFailure.
        """
        member = self.crew.roster.by_id(path.rpartition("/")[2])
        kind = self._kinds.find(member.kind) if member is not None else None
        if member is None or kind is None or member.mode != "plan":
            raise ToolFailure("You did not start it in plan mode: its mode is not yours to change.")
        lead, (own, _) = modes.for_child(self._host.policy.current()), self._mode_of(kind.mode, "")
        if lead == "plan":
            raise ToolFailure("You are in plan mode yourself: the person approves the plan first.")
        if own == "plan":
            raise ToolFailure("Its type or the person's settings say plan mode: it stays.")
        member.mode = modes.tightest(lead, own) if own else lead
        if path in self.crew.lives:
            self._host.policy.view(path).keep(member.mode)
        return member.mode

    # going on with one that ended

    async def order(self, member: Member, owner: str, prompt: str) -> Order:
        kind = self._kinds.find(member.kind)
        if kind is None or kind.withheld:
            why = self._kinds.refusal(member.kind)
            raise ToolFailure(f"{member.id} cannot go on: {why}")
        if self.copies is not None:
            await self.copies.there()
        path = self.file(member.id)
        try:
            stored = await asyncio.to_thread(conversation_of, path)
        except GatewrightError as error:
            raise ToolFailure(f"{member.id} cannot go on: {error}") from error
        taken = self.crew.living(member.name) if member.name else None
        isolation = member.isolation or kind.isolation
        return Order(
            id=member.id,
            owner=owner,
            parent=member.path.rpartition("/")[0],
            kind=kind,
            prompt=prompt,
            where=self.bounds.where(member.path, isolated=bool(isolation or member.worktree)),
            description=member.description,
            name="" if taken is not None else member.name,
            model=member.model,
            background=True,
            mode=member.mode,
            isolation=isolation,
            worktree=member.worktree,
            stored=stored,
            scope=member.scope,
        )

    def file(self, id: str) -> Path:
        """What it said: in a copy that nothing is written of, the other session's."""
        base = self._host.base
        own = agents_folder(base) / f"{id}.jsonl"
        return own if own.exists() else agents_before(base) / own.name

    def _tell_main(self, text: str, source: Any) -> None:
        self._host.session.tell(text, source=source)

    # what the process before left

    async def recover(self) -> None:
        """Who was cut off is said once: in the result of its call, or to the model by itself."""
        base = self._host.base
        if not (base.start.on_disk or base.around.options.no_session):
            self.copies = Copies(agents_before(base), agents_folder(base), self._host.warn)
        found = await asyncio.to_thread(self._left_behind)
        for member in found.members:
            self.crew.roster.add(member)
        for event in found.ends:
            self._host.publish(event)
        for text in found.told:
            message = UserMessage(content=(TextContent(text),), hidden=True, source="job")
            self._host.publish(message)
        self.lost = found.lost

    def _left_behind(self) -> Recovered:
        start = self._host.base.start
        try:
            past = told(start.stored) if start.source is None else told_in(start.source)
        except OSError:  # it was just there
            past = told(start.stored)
        self.crew.lineage = past.lineage
        return recovered(start.stored, past, agents_before(self._host.base))
