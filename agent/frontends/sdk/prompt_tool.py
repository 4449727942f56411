"""Who answers in print mode, where that is a tool of a server: its yes is a person's, but for one.

A tool that wants a person gets none. What it says besides yes, no and another input counts nothing.
"""

from __future__ import annotations

import asyncio

import msgspec

from gatewright.agent.extensions.servers.plugging import McpServers
from gatewright.agent.frontends.sdk.consent import Consent
from gatewright.agent.frontends.sdk.control import Refused
from gatewright.agent.record.events import Answered, Asked, Envelope, ToolFinished, ToolStarted
from gatewright.agent.session.session import Session
from gatewright.tools.interact import Answer
from gatewright.tools.protocol import JsonObject, TextContent
from gatewright.tools.system.untyped_json import Json, obj

KINDS = frozenset({"permission", "plan", "question"})
COUNTS = ("behavior", "updatedInput", "message", "interrupt")
LIMIT = 600.0


class PromptTool:
    """Fed with every event; answers what is asked beside whatever else happens."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self._name = name
        self._consent = Consent(self, session)
        self._inputs: dict[tuple[str, str], JsonObject] = {}  # by agent and call
        self._answering: dict[int, asyncio.Task[None]] = {}

    def saw(self, envelope: Envelope) -> None:
        agent = envelope.agent
        match envelope.event:
            case ToolStarted(call_id=id, input=input):  # a carried call, and not its carrier
                self._inputs[agent, id] = input
            case ToolFinished(call_id=id):
                self._inputs.pop((agent, id), None)
            case Asked() as asked:
                self._answering[asked.id] = asyncio.create_task(self._answer(asked, agent))
            case Answered(id=number):
                if (task := self._answering.pop(number, None)) is not None:
                    task.cancel()
            case _:
                pass

    async def _answer(self, asked: Asked, agent: str) -> None:
        answer = Answer(cancelled=True)
        if self._name and asked.ask.kind in KINDS:
            input = self._inputs.get((agent, asked.ask.call_id), {})
            answer = await self._consent.answer(asked, input, agent)
        self._answering.pop(asked.id, None)
        self._session.answer(asked.id, answer)

    async def request(self, body: Json) -> Json:
        """Implements what a client answers, by a call of the tool. Raises Refused."""
        servers = self._session.part(McpServers)
        if servers is None:
            raise Refused(f"There is no tool {self._name} to ask.")
        if servers.needs_person(str(body.get("tool_name", ""))):
            raise Refused("The tool wants a person to answer, and nobody is here.")
        given = {key: body.get(key) for key in ("tool_name", "input", "tool_use_id")}
        try:
            async with asyncio.timeout(LIMIT):
                result = await servers.call_alone(self._name, given, allows=True)
        except TimeoutError:
            raise Refused(f"{self._name} did not answer.") from None
        if isinstance(result, str):
            raise Refused(f"{self._name} was not asked: {result}.")
        text = "".join(part.text for part in result.content if isinstance(part, TextContent))
        if not result.ok:
            raise Refused(f"{self._name} failed: {text[:300]}")
        try:
            said = obj(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError):
            raise Refused(f"{self._name} did not answer in JSON.") from None
        return {key: said[key] for key in COUNTS if key in said}
