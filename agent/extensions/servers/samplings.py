"""Answers of the person's model for servers: shown before and after, paid by the session.

What a server gets is the answer to its own words alone; nothing of the session goes along.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.servers.quoted import quoted
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.short_answer import answer_to, booked
from gatewright.agent.record.messages import AssistantTurn, TextPart, Turn, UserTurn
from gatewright.agent.text.printable import escaped
from gatewright.mcp.asked.questions import Sampled, Sampling, Unfit
from gatewright.mcp.definitions import Definition
from gatewright.mcp.names import lead_of
from gatewright.tools.blocks import Block, Text
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import TextContent

MOST, SECONDS = 4_096, 120.0  # tokens of an answer, and the time it may take
ONCE, ALWAYS, NO = "once", "session", "no"
KIND = "sampling"
THEIRS, OWN = "It says:", "As if your model had answered:"
REFUSED = "The person did not allow it."


class Samplings:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._allowed: set[tuple[str, str]] = set()  # whose definitions, and which

    async def answer(self, server: Definition, asked: Sampling) -> Sampled:
        """Raises Unfit."""
        if self._host.around.settings.mcp.sampling == "off":
            raise Unfit("The person's settings lend no model.")
        await self._allow(server, asked)
        try:
            opened = await asyncio.to_thread(self._open, asked)
        except GatewrightError as error:
            raise Unfit("No model is there.") from error
        try:
            text = await answer_to(
                opened,
                asked.system,
                turns(asked),
                max_output=min(asked.most, MOST),
                seconds=SECONDS,
                paid=booked(self._host.publish, opened, "servers"),
            )
        except (GatewrightError, TimeoutError) as error:
            raise Unfit("The model gave no answer.") from error
        finally:
            await opened.provider.close()
        await self._show(server, text)
        return Sampled(text, opened.name)

    async def _allow(self, server: Definition, asked: Sampling) -> None:
        if _key(server) in self._allowed:
            return
        body: list[Block] = list(quoted(asked.system, "What the model is to be:"))
        for each in asked.messages:
            body += quoted(each.text, OWN if each.own else THEIRS)
        answer = await self._host.session.ask(
            Ask(
                kind=KIND,
                title=f"The MCP server {server.name} wants an answer of your model",
                body=tuple(body),
                options=(
                    Option(ONCE, "This once; the answer is shown before it is given", "y"),
                    Option(ALWAYS, "Whatever this server asks in this session", "a"),
                    Option(NO, "No", "n"),
                ),
                reason=f"It costs you {min(asked.most, MOST):,} tokens of answer at most.",
                tool=lead_of(server.name),
            )
        )
        if answer.choice == ALWAYS:
            self._allowed.add(_key(server))
        elif answer.choice != ONCE:
            raise Unfit(REFUSED)

    async def _show(self, server: Definition, text: str) -> None:
        if _key(server) in self._allowed:
            self._host.base.mention(f"Your model answered the MCP server {server.name}.")
            return
        answer = await self._host.session.ask(
            Ask(
                kind=KIND,
                title=f"Give this answer to the MCP server {server.name}?",
                body=(Text(escaped(text)),),
                options=(Option(ONCE, "Yes", "y"), Option(NO, "No", "n")),
                tool=lead_of(server.name),
            )
        )
        if answer.choice != ONCE:
            raise Unfit(REFUSED)

    def _open(self, asked: Sampling) -> OpenModel:
        """The session's model, or the small one where that is meant. Raises GatewrightError."""
        host = self._host
        small = host.small_model()
        hinted = next((hint.lower() for hint in asked.hints), "")
        if hinted in small.name.lower() if hinted else asked.cheap:
            return small
        return host.open_model(host.session.model, "")


def _key(server: Definition) -> tuple[str, str]:
    """Another one of the same name was not allowed."""
    return server.source, server.signature


def turns(asked: Sampling) -> tuple[Turn, ...]:
    """The conversation; it begins with the server's words, whatever it says."""
    found: list[Turn] = []
    for each in asked.messages:
        if each.own and found:
            found.append(AssistantTurn((TextPart(each.text),)))
        else:
            found.append(UserTurn((TextContent(each.text),)))
    return tuple(_joined(found))


def _joined(found: Sequence[Turn]) -> Sequence[Turn]:
    """No two of one side in a row, which not every API takes."""
    made: list[Turn] = []
    for each in found:
        match (made[-1] if made else None), each:
            case UserTurn(content=before), UserTurn(content=more):
                made[-1] = UserTurn((*before, *more))
            case AssistantTurn(parts=before), AssistantTurn(parts=more):
                made[-1] = AssistantTurn((*before, *more))
            case _:
                made.append(each)
    return made
