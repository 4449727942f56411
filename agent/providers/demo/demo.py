"""The demo model: its answers are written here, need no network, and are marked as such.

The loop, tools, gate and transcript are the real ones: only the model is played.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence

import msgspec

from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.demo.demo_steps import next_step
from gatewright.agent.providers.demo.demo_words import HELP, Wish, parse
from gatewright.agent.providers.demo.demo_work import Done, Reply
from gatewright.agent.providers.presets import Endpoint
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    MessageStarted,
    Piece,
    Provider,
    Request,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.record.events import AssistantMessage
from gatewright.agent.record.messages import (
    AssistantPart,
    AssistantTurn,
    CallPart,
    ResultTurn,
    TextPart,
    ThinkingPart,
    Turn,
    Usage,
    UserTurn,
)
from gatewright.tools.protocol import Content, TextContent

LABEL = "(demo) "
_WORD = re.compile(r"\s*\S+\s*|\s+")
_JSON_PIECE = 24
_REFERS = "has not changed since you read this part"
_ENDED = "The recording ends here."


def open_demo(
    server: Endpoint, facts: Callable[[str], ModelFacts], env: Mapping[str, str]
) -> Provider:
    del server, facts, env
    return DemoProvider()


class DemoProvider:
    name = "demo"

    async def close(self) -> None:
        return

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        reply = answer(request)
        number = sum(isinstance(turn, AssistantTurn) for turn in request.turns)
        calls = sum(
            isinstance(part, CallPart)
            for turn in request.turns
            if isinstance(turn, AssistantTurn)
            for part in turn.parts
        )
        parts: list[AssistantPart] = [TextPart(_labelled(reply.text))] if reply.text else []
        for offset, step in enumerate(reply.steps, start=calls + 1):
            parts.append(CallPart(f"demo_{offset}", step.name, step.input))
        async for piece in played(f"demo_msg_{number + 1}", request, parts):
            yield piece


class ReplayProvider:
    """A recorded session again: each request gets the next of its answers. The calls are real."""

    name = "demo"

    def __init__(self, messages: Sequence[AssistantMessage]) -> None:
        self._messages = tuple(messages)
        self._given = 0

    async def close(self) -> None:
        return

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        number = self._given
        self._given += 1
        parts: tuple[AssistantPart, ...] = (TextPart(LABEL + _ENDED),)
        if number < len(self._messages):
            parts = self._messages[number].parts
        async for piece in played(f"demo_msg_{number + 1}", request, parts):
            yield piece


async def played(
    id: str, request: Request, parts: Sequence[AssistantPart]
) -> AsyncGenerator[Piece]:
    """Complete parts as the pieces of a stream, word by word."""
    yield MessageStarted(id, request.model)
    written = 0
    for part in parts:
        for piece in _pieces(part):
            await asyncio.sleep(0)  # as a real stream would, let others run
            yield piece
        yield BlockEnded()
        written += len(msgspec.json.encode(part))
    heard = sum(len(msgspec.json.encode(turn)) for turn in request.turns)
    yield UsageReported(Usage(input=heard // 4 + 1, output=written // 4 + 1))
    called = any(isinstance(part, CallPart) for part in parts)
    yield Finished(StopReason.CALLS if called else StopReason.END)


def _labelled(text: str) -> str:
    return f"{LABEL.strip()}\n\n{text}" if text.startswith("#") else LABEL + text


def answer(request: Request) -> Reply:
    """What the demo says to this conversation; the same for the same conversation."""
    wish, since = _wanted(request.turns)
    if wish is None:
        return Reply(HELP)
    tools = frozenset(tool.name for tool in request.tools)
    before = request.turns[: len(request.turns) - len(since)]
    return next_step(wish, _recalled(_done(since), _done(before)), tools)


def _wanted(turns: Sequence[Turn]) -> tuple[Wish | None, Sequence[Turn]]:
    """The latest words of the person that it understands, and what happened since.

    Words right behind a result are a note of the program, or thrown in: they may be ignored.
    """
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if not isinstance(turn, UserTurn):
            continue
        words = [part.text for part in turn.content if isinstance(part, TextContent)]
        own = [text for text in words if not text.lstrip().startswith("<")]
        if wish := parse(own[-1] if own else ""):
            return wish, turns[index + 1 :]
        if not (index and isinstance(turns[index - 1], ResultTurn)) and own:
            break
    return None, ()


def _done(turns: Sequence[Turn]) -> list[Done]:
    results = {turn.call_id: turn for turn in turns if isinstance(turn, ResultTurn)}
    calls = (
        part
        for turn in turns
        if isinstance(turn, AssistantTurn)
        for part in turn.parts
        if isinstance(part, CallPart)
    )
    return [
        Done(call.name, call.input, result.ok, _text(result.content))
        for call in calls
        if (result := results.get(call.id))
    ]


def _recalled(done: Sequence[Done], before: Sequence[Done]) -> list[Done]:
    """With what was read earlier where a result only refers to it."""

    def whole(one: Done) -> Done:
        if _REFERS not in one.text:
            return one
        same = (e for e in reversed(before) if (e.name, e.input) == (one.name, one.input))
        return next((e for e in same if _REFERS not in e.text), one)

    return [whole(one) for one in done]


def _text(content: Sequence[Content]) -> str:
    return "\n".join(part.text for part in content if isinstance(part, TextContent))


def _pieces(part: AssistantPart) -> Iterator[Piece]:
    match part:
        case TextPart(text=text):
            yield from (TextPiece(match[0]) for match in _WORD.finditer(text))
        case ThinkingPart(text=text, opaque=opaque, id=id, redacted=redacted):
            yield ThinkingPiece(text, opaque, id, redacted)
        case CallPart(id=id, name=name, input=input):
            yield CallStarted(id, name)
            json = msgspec.json.encode(input).decode("utf-8")
            for start in range(0, len(json), _JSON_PIECE):
                yield InputPiece(json[start : start + _JSON_PIECE])
