"""/btw: a question beside the conversation, answered from what was said, and not kept in it.

It is one request on the same prefix, which the provider's cache serves, also while a turn runs.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.host import Host
from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.protocol import Request
from gatewright.agent.record.events import AttemptPaid
from gatewright.agent.record.messages import TextPart, Turn, UserTurn
from gatewright.agent.turn.answer_stream import Assembly
from gatewright.agent.turn.valid_history import paired
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Markdown, Text
from gatewright.tools.protocol import TextContent

MOST = 1_000  # tokens of an answer
SECONDS = 90.0
ASIDE = (
    "Notice of this program: the person asks this beside the conversation, of which neither the "
    "question nor your answer becomes a part. Answer in a few sentences from what you know by now. "
    "Call no tool, and do not go on with your task.\n\n{question}"
)
NOTHING = "Ask something: /btw what did the second test say?"
ONLY_TOOLS = "The model wanted to look instead of answering: ask it in a message."


async def btw(host: Host, question: str) -> Outcome:
    if not question:
        return Problem.of(NOTHING)
    main = host.session.agent(MAIN)
    assert main is not None
    try:
        model = await main.models.needed()
        text = await _answer(host, model, _request(model, main.talk.view(), question))
    except TimeoutError:
        return Problem.of(f"No answer came within {SECONDS:g} s.")
    except GatewrightError as error:
        return Problem.of(str(error))
    if not text.strip():
        return Problem.of(ONLY_TOOLS)
    return Say((Text("By the way", "dim"), Markdown(text)))


def _request(model: OpenModel, turns: tuple[Turn, ...], question: str) -> Request:
    """The last request with one turn more: all before it is as the provider knows it."""
    frame = model.frame
    asked = UserTurn((TextContent(ASIDE.format(question=question)),))
    return Request(
        model=frame.model,
        system=frame.system,
        tools=frame.tools,
        turns=paired((*turns, asked)),
        max_output=min(MOST, frame.max_output),
        effort=frame.effort,
        session=frame.session,
        agent=MAIN,
    )


async def _answer(host: Host, model: OpenModel, request: Request) -> str:
    """The text of it; what it would call is not run. Raises GatewrightError, TimeoutError."""
    assembly = Assembly(frozenset())
    try:
        async with asyncio.timeout(SECONDS), aclosing(model.provider.stream(request)) as pieces:
            async for piece in pieces:
                assembly.add(piece)
    finally:
        usage = assembly.usage
        paid = AttemptPaid(model=model.name, usage=usage, cost=model.price(usage), by="btw")
        host.publish(paid)
    return " ".join(part.text for part in assembly.parts if isinstance(part, TextPart))
