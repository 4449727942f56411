"""What the options of a call mean here: which kind of agent, tools, model and mode.

Whatever cannot be is found before an agent is opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from gatewright.agent.agents.kind import DEFAULT_KIND, AgentKind
from gatewright.agent.agents.own_tools import names, own_tools
from gatewright.agent.commands.outcome import Scope
from gatewright.agent.extensions.agents.agent_session import AgentSession
from gatewright.agent.extensions.host import Host
from gatewright.agent.providers.catalog import LADDER
from gatewright.agent.session.start.base import CLOCK
from gatewright.agent.workflows.engine.wire import CallOptions
from gatewright.agent.workflows.runs.answer_schema import fault
from gatewright.agent.workflows.runs.run_port import About, CallProblem
from gatewright.agent.workflows.tool_spec import ANSWER
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import ToolFailure

LOOKED = 1.0  # seconds that a definition is taken as it was read


class Meant(msgspec.Struct, frozen=True):
    """A call's options, understood. `scope` limits its agent besides its kind."""

    kind: AgentKind
    base: AgentKind  # as it is defined
    mode: str
    scope: Scope | None
    about: About
    encoded: bytes = b""  # the schema


class CallKinds:
    """Looks each set of options up once; definitions that change are looked up again."""

    def __init__(self, host: Host, agents: AgentSession, allows: tuple[str, ...]) -> None:
        self._host, self._agents, self._allows = host, agents, allows
        self._kinds: dict[str, tuple[float, AgentKind]] = {}  # with when they were looked up
        self._known: dict[bytes, tuple[AgentKind, Meant]] = {}
        self._faults: dict[bytes, str] = {}

    def meant(self, options: CallOptions) -> Meant:
        """Raises CallProblem."""
        agents = self._agents
        try:
            kind = self._kind(options.agent_type or DEFAULT_KIND)
            model = agents.model(kind, options.model, MAIN)
        except ToolFailure as failure:
            raise CallProblem("options", str(failure)) from None
        key = msgspec.json.encode((_shaping(options), model))
        known = self._known.get(key)
        if known is None or known[0] is not kind:
            known = self._known[key] = kind, self._made(options, kind, model)
        return known[1]

    def _kind(self, name: str) -> AgentKind:
        """A thousand calls in a moment look at the files once. Raises ToolFailure."""
        now, known = CLOCK.monotonic(), self._kinds.get(name)
        if known is None or now - known[0] > LOOKED:
            known = self._kinds[name] = now, self._agents.kind(name, MAIN)
        return known[1]

    def _made(self, options: CallOptions, kind: AgentKind, model: str) -> Meant:
        try:
            mode = self._agents.mode(options.mode)
        except ToolFailure as failure:
            raise CallProblem("options", str(failure)) from None
        if options.effort and options.effort not in LADDER:
            raise CallProblem("options", f"effort is one of {', '.join(LADDER)}.")
        encoded = b""
        if options.schema is not None:
            encoded = msgspec.json.encode(options.schema)
            if encoded not in self._faults:
                self._faults[encoded] = fault(options.schema)
            if wrong := self._faults[encoded]:
                raise CallProblem("schema", f"No answer could satisfy the schema: {wrong}.")
        made, scope = self._narrowed(options, kind)
        prefix = (kind.name, made.tools, made.denied, model, options.effort, encoded.decode())
        about = About(model, _hash(_definition(kind)), _hash(msgspec.json.encode(prefix)))
        return Meant(made, kind, mode, scope, about, encoded)

    def _narrowed(self, options: CallOptions, kind: AgentKind) -> tuple[AgentKind, Scope | None]:
        """With its share of the tools of its kind; the gate holds it to both."""
        made = kind
        kept_to: tuple[tuple[str, ...], ...] = ()
        answers = (ANSWER,) if options.schema is not None else ()
        if kind.tools is not None and answers:
            made = replace(made, tools=(*kind.tools, *answers))
        if options.tools is not None:
            offered = self._host.tools.for_agents()
            mine = [spec.name for spec in own_tools(kind, offered, named=False, deepest=False)]
            wanted = tuple(e for e in options.tools if any(names(e, tool) for tool in mine))
            if options.tools and not wanted:
                named = ", ".join(options.tools)
                raise CallProblem("tools", f"No tool of {kind.name} is called {named}.")
            if made.tools is not None:
                kept_to = (made.tools,)
            made = replace(made, tools=(*wanted, *answers))
        if options.disallowed_tools:
            made = replace(made, denied=(*made.denied, *options.disallowed_tools))
        if options.max_turns is not None:
            most = min(filter(None, (made.max_turns, options.max_turns)))
            made = replace(made, max_turns=most)
        if not (kept_to or self._allows):
            return made, None
        scope = Scope(by=kind.name, trusted=True, agreed=self._allows, kept_to=kept_to)
        return made, scope


def _shaping(options: CallOptions) -> Mapping[str, object]:
    return {
        "type": options.agent_type,
        "model": options.model,
        "effort": options.effort,
        "tools": options.tools,
        "denied": options.disallowed_tools,
        "turns": options.max_turns,
        "mode": options.mode,
        "schema": options.schema,
    }


def _definition(kind: AgentKind) -> bytes:
    """What of a definition shapes answers."""
    said = (kind.name, kind.prompt, kind.tools, kind.denied, kind.model, kind.mode, kind.skills)
    return msgspec.json.encode(said)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
