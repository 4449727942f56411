"""Adapts MCP servers to a session: which may start, what they get, who is asked and told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from gatewright.agent.errors import SessionError, SettingsError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.plugins.servers_of_plugins import plugin_servers
from gatewright.agent.extensions.servers.confining import Confining
from gatewright.agent.extensions.servers.elicitations import Elicitations
from gatewright.agent.extensions.servers.group_memory import resident
from gatewright.agent.extensions.servers.logging_in import ServerLogins
from gatewright.agent.extensions.servers.logins import logins
from gatewright.agent.extensions.servers.lone_calls import LoneCalls
from gatewright.agent.extensions.servers.mentions import Mentions
from gatewright.agent.extensions.servers.prompt_commands import PromptCommands
from gatewright.agent.extensions.servers.samplings import Samplings
from gatewright.agent.extensions.servers.shown import server_row, tool_row
from gatewright.agent.models.opener import understood
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.servers.approvals import Said, ServerAnswers
from gatewright.agent.servers.question import (
    LATER,
    NEVER,
    SANDBOX,
    USE,
    Asked,
    question,
    waiting,
)
from gatewright.agent.servers.server_command import ServerRow, ToolRow
from gatewright.agent.servers.written import Choices, ServerLayer, written
from gatewright.agent.settings.workspace import Surroundings, roots
from gatewright.agent.text.printable import escaped
from gatewright.mcp.configured import Configured, Given, Terms, configured
from gatewright.mcp.definitions import Definition, Sandboxed, Source
from gatewright.mcp.errors import NotConnected
from gatewright.mcp.expansion import variables
from gatewright.mcp.known import KnownServers
from gatewright.mcp.names import lead_of, mark
from gatewright.mcp.ports import Ports
from gatewright.mcp.server import Server, State
from gatewright.mcp.servers import Servers
from gatewright.mcp.surroundings import Around, named_variables, program_of
from gatewright.tools.interact import Answer
from gatewright.tools.system.processes import spawn

PROGRAMS, ADDRESSES = 3, 20  # connected at once: the others wait for their turn
USUAL_WINDOW = 128_000
SOURCES: dict[str, Source] = {
    "managed": "managed", "flag": "flag", "local": "local", "project": "project", "user": "user",
    "plugin": "plugin",
}  # fmt: skip


_SAID: Mapping[str, Said] = {USE: "use", SANDBOX: "sandbox", NEVER: "never"}
Carry: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Mapping[str, Any]]]


def definitions(
    layers: Sequence[ServerLayer], choices: Choices, around: Surroundings
) -> Configured:
    given = [
        Given(SOURCES[each.source], each.where, each.entries, each.own, each.given, each.plain)
        for each in layers
    ]
    return configured(given, _terms(choices, around))


def _terms(choices: Choices, around: Surroundings) -> Terms:
    own = partial(named_variables, env=around.env, own_env=around.own_env, root=around.where.root)
    return Terms(allowed=choices.allowed, denied=choices.denied, variables=own)


def state_of(
    definition: Definition, around: Surroundings, choices: Choices, answers: ServerAnswers
) -> State:
    """Whether it may run: a project's only once somebody said so of this very definition."""
    root, name = around.where.root, definition.name
    if definition.disabled or name in answers.off(root):
        return "disabled"
    if definition.source != "project":
        return "idle"
    if name in choices.disabled:
        return "disabled"
    if not around.trusted:
        return "unapproved"
    said = answers.said(root, definition.signature)
    if said == "never":
        return "disabled"
    if said in ("use", "sandbox") or choices.all_of_project or name in choices.enabled:
        return "idle"
    return "unapproved"


UPDATED = "The resource {uri} of the MCP server {server} has changed since it was read."


class McpSession:
    def __init__(self, host: Host) -> None:
        self._host = host
        around = host.around
        self._alone = not (around.interactive and around.options.has_screen)
        self.answers = ServerAnswers(around.places.state)
        self._choices = Choices()
        self._told: set[str] = set()
        self._bounds: dict[str, Sandboxed | None] = {}  # in which each runs
        self._told_roots: tuple[Path, ...] = ()  # as servers were told last
        self._later: set[str] = set()  # signatures that are not to be asked about again
        self._asking: asyncio.Task[None] | None = None
        self._began = False
        self._carry: Carry | None = None
        self._login = logins(around.env, around.places.state, host.base.redactor.learn)
        self._logins = ServerLogins(host, self._around)
        self._confining = Confining(host, self.answers)
        samples = around.interactive and around.settings.mcp.sampling != "off"
        elicitations = Elicitations(host, self._around)
        self._ports = Ports(
            around=self._around,
            roots=self._roots,
            known=KnownServers(
                around.places.state / "mcp", tells="sampling" if samples else "nothing"
            ),
            logs=around.places.home / "logs" / "mcp",
            told=lambda text: host.warn(escaped(text)),
            listed=self._listed,
            updated=self._updated,
            completed=elicitations.completed,
            elicits=elicitations.ask,
            samples=Samplings(host).answer if samples else None,
            stdio=asyncio.Semaphore(PROGRAMS),
            remote=asyncio.Semaphore(ADDRESSES),
            cap=lambda: host.around.settings.mcp.max_result_chars,
            alone=self._alone,
            background=lambda: float(host.around.settings.mcp.auto_background_seconds),
        )
        self.servers = Servers(self._ports, room=self._room)
        self.lone = LoneCalls(host)
        self.prompts = PromptCommands(host, lambda: self.servers.all)
        self.mentions = Mentions(host, lambda: self.servers.by_name)

    def take(self, around: Surroundings) -> tuple[str, ...]:
        """What is written down now. Raises UsageError for a flag that cannot be understood."""
        found = written(around, plugin_servers(self._host.brought), self._host.client.servers)
        self._choices = found.choices
        known = definitions(found.layers, found.choices, around)
        states: dict[str, State] = {
            each.name: state_of(each, around, found.choices, self.answers) for each in known.servers
        }
        self.servers.take(known.servers, states)
        self._rebound(known.servers, around)
        self._listed()
        before, self._told_roots = self._told_roots, tuple(self._roots())
        if before not in ((), self._told_roots):
            self.servers.roots_changed()
        told = [*found.problems, *(fault.text() for fault in known.faults)]
        if self._alone:  # elsewhere the question of trust names them, and /mcp shows them
            names = [s.name for s in self.servers.all if s.state == "unapproved"]
            told.append(waiting(names, trusted=around.trusted))
        new = tuple(text for text in map(escaped, told) if text and text not in self._told)
        self._told.update(new)
        return new

    def _rebound(self, servers: Sequence[Definition], around: Surroundings) -> None:
        """What runs in other bounds than it has now is started anew."""
        before = self._bounds
        self._bounds = {each.name: self._confining.far(each, around) for each in servers}
        for server in self.servers.all:
            running = server.state in ("connected", "pending")
            if running and before.get(server.name) != self._bounds[server.name]:
                self.servers.reconnect_soon(server.name)

    def own(self, entries: Mapping[str, object], where: str, source: Source) -> Servers:
        """Servers of one agent alone, by the rules for all. Raises SessionError."""
        terms = _terms(self._choices, self._host.around)
        known = configured((Given(source, where, entries),), terms)
        if wrong := [fault.text() for fault in known.faults if fault.dropped]:
            raise SessionError(f"{wrong[0]}.")
        there = {mark(server.name) for server in self.servers.all}
        for each in known.servers:
            if mark(each.name) in there:
                raise SessionError(f"{where}: there is an MCP server {each.name} already.")
        made = Servers(self._ports, room=lambda: ("never", self._room()[1]))
        made.take(known.servers, {})
        return made

    def begin(self) -> None:
        """Connect what is not known yet, and ask about what nobody has approved."""
        self._began = True
        self.servers.begin()
        if self._alone or (self._asking is not None and not self._asking.done()):
            return
        if self._unasked():
            self._asking = asyncio.create_task(self._ask(), name="asking about MCP servers")

    def carried_by(self, carry: Carry) -> None:
        """A client has said hello: servers in its process are reached from now on."""
        self._carry = carry
        if self._began:
            self.servers.begin()

    def _listed(self) -> None:
        """A server offers something else: so do the slash commands."""
        if self._host.joined.is_set():
            self._host.session.commands.changed()

    def _updated(self, name: str, uri: str) -> None:
        """For the model, which has read it; it wakes nobody."""
        if self._host.joined.is_set():
            self._host.session.tell(UPDATED.format(server=name, uri=uri), wakes=False)

    def _unasked(self) -> list[Server]:
        if not self._host.around.trusted:
            return []
        waits = (server for server in self.servers.all if server.state == "unapproved")
        return [server for server in waits if server.definition.signature not in self._later]

    async def _ask(self) -> None:
        await self._host.joined.wait()
        while left := self._unasked():
            definition = left[0].definition
            self._later.add(definition.signature)
            about = await asyncio.to_thread(self._about, definition)
            answer = await self._host.session.ask(question(about))
            await self._answered(definition, answer)

    async def _answered(self, definition: Definition, answer: Answer) -> None:
        if answer.choice in (USE, SANDBOX, NEVER):
            if answer.choice == SANDBOX:
                self._confining.chosen.add(definition.signature)
                self._bounds[definition.name] = self._confining.far(definition, self._host.around)
            await self._keep(definition, _SAID[answer.choice])
        elif answer.choice != LATER:
            return
        now = self.servers.named(definition.name)
        if now is None or now.definition.signature != definition.signature:
            return  # it is another one by now, which is asked about for itself
        if answer.choice in (USE, SANDBOX):
            await now.turn("idle")
            self.servers.begin()
        elif answer.choice == NEVER:
            await now.turn("disabled")

    async def _keep(self, definition: Definition, said: Said) -> None:
        root = self._host.around.where.root
        try:
            await asyncio.to_thread(
                self.answers.keep, root, definition.signature, definition.name, said
            )
        except SettingsError as error:
            self._host.warn(f"This counts in this session only. {error}")

    def _about(self, definition: Definition) -> Asked:
        around = self._around()
        if definition.remote:
            reaches = f"the server at {definition.url}"
            if definition.headers_helper:
                reaches += f", and this runs for its headers: {definition.headers_helper}"
        else:
            reaches = program_of(definition, around) or "a program that is not here"
        lead = lead_of(definition.name)
        named = self._host.around.loaded.named_rules.values()
        rules = [rule for texts in named for rule in texts.allow if rule.startswith(lead)]
        return Asked(
            name=definition.name,
            where=definition.where.removeprefix(f"{around.root}/"),
            definition=msgspec.json.format(msgspec.json.encode(definition.raw), indent=2).decode(),
            reaches=reaches,
            variables=variables(definition),
            rules=tuple(rules),
            shadows=definition.shadows,
            program=definition.transport == "stdio",
            confined=self._confining.told(definition),
        )

    def _around(self) -> Around:
        now = self._host.around
        given = now.secrets.given(now.env)
        return Around(
            spawn=spawn,
            root=now.where.root,
            avoid=roots(now.where),
            env=now.env,
            given=given,
            own_env=now.own_env,
            carry=self._carry,
            own=now.places.home,
            login=self._login,
            confined=self._confining.spawn,
        )

    def _roots(self) -> Sequence[Path]:
        where = self._host.around.where
        return (where.root, *where.added)

    def _room(self) -> tuple[str, int]:
        """How tools are put off here, and the tokens of the model's window."""
        around = self._host.around
        how = around.env.get("ENABLE_TOOL_SEARCH") or around.settings.mcp.tool_search
        how = {"true": "always", "false": "never", "1": "always", "0": "never"}.get(how, how)
        chosen = understood(around, self._host.base.model_name)
        if chosen is None:
            return how, USUAL_WINDOW
        return how, load_catalog().facts(chosen.provider, chosen.model).window

    # what people ask of it

    def rows(self) -> Sequence[ServerRow]:
        return [server_row(s, self._confining.told(s.definition)) for s in self.servers.all]

    async def act(self, verb: str, name: str, more: str = "") -> str:
        server = self.servers.named(name)
        if server is None:
            raise SessionError(f"There is no MCP server {name}.")
        root = self._host.around.where.root
        match verb:
            case "reconnect":
                return await self._reconnected(server)
            case "disable":
                await asyncio.to_thread(self.answers.switch, root, name, on=False)
                await server.turn("disabled")
                self._listed()
                return f"{name} is off in this project."
            case "enable":
                await asyncio.to_thread(self.answers.switch, root, name, on=True)
                state = state_of(server.definition, self._host.around, self._choices, self.answers)
                await server.turn(state)
                self._listed()
                self.begin()
                return f"{name} is {state if state != 'idle' else 'on'} in this project."
            case "login":
                if not server.usable:
                    raise SessionError(f"{name} is {server.state} here.")
                return await self._logins.log_in(server, more)
            case "logout":
                return await self._logins.log_out(server)
            case "approve":
                if server.state != "unapproved" or not self._host.around.trusted:
                    raise SessionError(f"{name} does not wait for an approval here.")
                self._later.discard(server.definition.signature)
                self.begin()
                return f"{name} is asked about."
            case _:
                server.accept()
                return f"The tools of {name} are accepted as they are now."

    def tools(self, name: str) -> Sequence[ToolRow]:
        server = next((each for each in self.servers.all if each.name == name), None)
        if server is None:
            return ()
        context = self._host.policy.context(self._host.around.where)
        return [tool_row(full, server, tool, context) for full, tool in server.tools().items()]

    def memory(self, name: str) -> int:
        server = self.servers.named(name)
        return resident(server.pid) if server is not None else 0

    def log(self, name: str) -> str:
        server = self.servers.named(name)
        try:
            return server.log.tail() if server is not None else ""
        except OSError as error:
            raise SessionError(f"The log of {name} cannot be read: {error.strerror}.") from error

    async def _reconnected(self, server: Server) -> str:
        try:
            await server.reconnect()
        except NotConnected as error:
            raise SessionError(f"{server.name} is not connected: {escaped(str(error))}.") from error
        return f"{server.name} is connected: {len(server.listing.tools)} tools."

    async def close(self) -> None:
        if self._asking is not None and not self._asking.done():
            self._asking.cancel()
            await asyncio.wait([self._asking])
        await self._logins.close()
        await self.servers.close()
