"""What an SDK client may ask of a running session, by the name it gives the request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias, cast

from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.commands.outcome import Problem
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.agent_types.plugging import AgentTypes
from gatewright.agent.extensions.hooks import Hooks
from gatewright.agent.extensions.servers.plugging import McpServers
from gatewright.agent.extensions.skills.skill_session import SessionSkills
from gatewright.agent.extensions.styles.style_session import OutputStyles
from gatewright.agent.frontends.sdk.agent_lines import AgentLines
from gatewright.agent.frontends.sdk.control import Client, Refused
from gatewright.agent.frontends.sdk.server_lines import details
from gatewright.agent.frontends.sdk.shapes import menu
from gatewright.agent.session.session import Session
from gatewright.tools.blocks import plain
from gatewright.tools.system.untyped_json import Json, obj

Handler: TypeAlias = Callable[["Requests", Json], Awaitable[Json]]


class Unanswerable(Exception):
    """The request cannot be done; the text tells the client why."""


class Requests:
    """`interrupted` says whether the client stopped the turn that ended last."""

    def __init__(self, session: Session, client: Client, agents: AgentLines) -> None:
        self._session = session
        self._client = client
        self._agents = agents
        self.interrupted = False

    async def handle(self, body: Json) -> Json:
        """The response's body. Raises Unanswerable."""
        name = str(body.get("subtype"))
        handler = HANDLERS.get(name)
        if handler is None:
            raise Unanswerable(f"There is no control request {name!r} here.")
        try:
            return await handler(self, body)
        except GatewrightError as error:
            raise Unanswerable(str(error)) from error

    async def initialize(self, body: Json) -> Json:
        if (servers := self._session.part(McpServers)) is not None:
            servers.carried_by(self._carry)
        self._agents.words = self._agents.words or body.get("forwardSubagentText") is True
        types = self._session.part(AgentTypes)
        if types is not None and (agents := obj(body.get("agents"))):
            types.bring(agents)
        skills, names = self._session.part(SessionSkills), body.get("skills")
        if skills is not None and isinstance(names, list):
            skills.only([str(name) for name in cast("list[object]", names)])
        hooks = obj(body.get("hooks"))
        applied: Json = self._attended(hooks) if hooks else {}
        styles = self._session.part(OutputStyles)
        return {
            "commands": menu(self._session.commands),
            "agents": [_offered(kind) for kind in types.book.offered()] if types else [],
            "models": [],
            "account": {},
            "output_style": styles.name if styles else "default",
            "skills": list(skills.names()) if skills is not None else [],
            "available_output_styles": [each.name for each in styles.all().every] if styles else [],
            "hook_on_failure_supported": True,
            **applied,
        }

    def _attended(self, hooks: Json) -> Json:
        """The client's callbacks are heard from now on. Raises Unanswerable.

        Going on without them would run what a hook was meant to forbid.
        """
        from gatewright.agent.frontends.sdk.hook_callbacks import Callbacks, registered  # noqa: PLC0415  lazy: 15 ms

        own = self._session.part(Hooks)
        if own is None:
            raise Unanswerable("This session has no hooks.")
        try:
            given = registered(hooks)
        except ValueError as error:
            raise Unanswerable(str(error)) from error
        return {"hooks_applied": own.attend(given, Callbacks(self._client).run)}

    async def interrupt(self, body: Json) -> Json:
        del body
        self.interrupted = self._session.interrupt()
        return {}

    async def set_mode(self, body: Json) -> Json:
        try:
            return {"mode": self._session.set_mode(str(body.get("mode", "")))}
        except ValueError as error:
            raise Unanswerable(str(error)) from error

    async def set_model(self, body: Json) -> Json:
        wanted = body.get("model")
        if not wanted or wanted == "default":
            return {}
        match await self._session.set_model(str(wanted)):
            case Problem(blocks=blocks):
                raise Unanswerable("\n".join(map(plain, blocks)))
            case _:
                return {"model": self._session.model}

    async def context(self, body: Json) -> Json:
        del body
        used, model = await self._session.past.window()
        percentage = round(100 * used.total / used.window, 1) if used.window else 0
        return {
            "model": model,
            "totalTokens": used.total,
            "maxTokens": used.window,
            "rawMaxTokens": used.window,
            "percentage": percentage,
            "categories": [{"name": share.name, "tokens": share.tokens} for share in used.shares],
        }

    async def rewind_files(self, body: Json) -> Json:
        """Put the files back to how they were before a message of the client."""
        if self._session.busy:
            raise Unanswerable("Interrupt the running turn first.")
        gone = await self._session.past.go_back(str(body.get("user_message_id", "")), "code")
        return {"canRewind": True, "left": [str(step.target.path) for step in gone.left]}

    async def stop_task(self, body: Json) -> Json:
        return {"status": await self._session.stop_task(str(body.get("task_id", "")))}

    async def _carry(self, name: str, message: Json) -> Json:
        """To a server in the client's process. Raises OSError where the client refuses."""
        asked = {"subtype": "mcp_message", "server_name": name, "message": message}
        try:
            said = await self._client.request(asked)
        except Refused as error:
            raise ConnectionError(str(error)) from error
        return obj(said.get("mcp_response"))

    async def servers(self, body: Json) -> Json:
        del body
        return {"mcpServers": [details(row) for row in self._mcp().rows()]}

    async def reconnect(self, body: Json) -> Json:
        """Begun and not waited for: it may need the very line that this request came over."""
        self._mcp().reconnect_soon(str(body.get("serverName", "")))
        return {}

    async def toggle(self, body: Json) -> Json:
        verb = "enable" if body.get("enabled") is True else "disable"
        await self._mcp().act(verb, str(body.get("serverName", "")))
        return {}

    def _mcp(self) -> McpServers:
        if (servers := self._session.part(McpServers)) is None:
            raise Unanswerable("This session has no MCP servers.")
        return servers


def _offered(kind: AgentKind) -> Json:
    about: Json = {"name": kind.name, "description": kind.description}
    return {**about, "model": kind.model} if kind.model else about


HANDLERS: Mapping[str, Handler] = {
    "initialize": Requests.initialize,
    "interrupt": Requests.interrupt,
    "set_permission_mode": Requests.set_mode,
    "set_model": Requests.set_model,
    "get_context_usage": Requests.context,
    "rewind_files": Requests.rewind_files,
    "stop_task": Requests.stop_task,
    "mcp_status": Requests.servers,
    "mcp_reconnect": Requests.reconnect,
    "mcp_toggle": Requests.toggle,
}
