"""A request as the body of the Messages API, byte-stable up to its cache points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from gatewright.agent.models.effort import BUDGETS
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.sending.kept_prefix import Kept
from gatewright.agent.providers.sending.media import sendable
from gatewright.agent.providers.sending.sendable_history import Gathering, Heard, Message, Said
from gatewright.agent.record.messages import AssistantPart, CallPart, TextPart, ThinkingPart
from gatewright.tools.protocol import (
    Content,
    DocumentContent,
    ImageContent,
    JsonObject,
    TextContent,
    ToolSpec,
)

VERSION = "2026-10-21"  # of the API, which a header names
_LEAST_BUDGET = 1_024
_CACHED_TURNS = 2


class Bodies:
    """The bodies of one conversation's requests; each costs what is new since the one before."""

    def __init__(self) -> None:
        self._gathering = Gathering()
        self._kept: Kept[Message, JsonObject] = Kept()

    def body(self, request: Request, facts: ModelFacts, quirks: Quirks) -> JsonObject:
        """What stays the same comes first, what may change from request to request last."""
        messages = self._gathering.messages(request.turns, request.model)
        body: JsonObject = {"model": request.model}
        if tools := _tools(request.tools):
            body["tools"] = tools
        if system := _system(request.system):
            body["system"] = system
        if not request.once:
            for listed in filter(None, (tools, system)):
                _cache(listed[-1])
        made = self._kept.map(messages, lambda message: _message(message, facts, quirks))
        body["messages"] = made if request.once else _with_cache_points(made)
        body["max_tokens"] = facts.most_output(request.max_output)
        body["stream"] = True
        body |= _thinking(request, facts, messages)
        return body


def _tools(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
        for tool in tools
    ]


def _system(blocks: Sequence[str]) -> list[JsonObject]:
    return [{"type": "text", "text": text} for text in blocks if text.strip()]


def _cache(block: JsonObject) -> None:
    block["cache_control"] = {"type": "ephemeral"}


def _message(message: Message, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    match message:
        case Heard():
            return {"role": "user", "content": _heard(message, facts, quirks)}
        case Said(parts=parts):
            blocks = [block for part in parts if (block := _part(part)) is not None]
            return {"role": "assistant", "content": blocks}
        case _:
            assert_never(message)


def _with_cache_points(messages: list[JsonObject]) -> list[JsonObject]:
    """Cache points on the last two messages of the person, which are copied for it."""
    left = _CACHED_TURNS
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "user" and left:
            *before, last = message["content"]
            last = dict(last)
            _cache(last)
            messages[index] = {**message, "content": [*before, last]}
            left -= 1
        if not left:
            break
    return messages


def _heard(message: Heard, facts: ModelFacts, quirks: Quirks) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    for result in message.results:
        block: JsonObject = {
            "type": "tool_result",
            "tool_use_id": result.call_id,
            "content": [_content(item, facts, quirks) for item in result.content],
        }
        if not result.ok:
            block["is_error"] = True
        blocks.append(block)
    blocks.extend(_content(item, facts, quirks) for item in message.content)
    return blocks


def _content(item: Content, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    sent = sendable(item, facts, quirks)
    match sent:
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ImageContent(media_type=media_type, data=data):
            return {"type": "image", "source": _source(media_type, data)}
        case DocumentContent(media_type=media_type, data=data, name=name):
            document: JsonObject = {"type": "document", "source": _source(media_type, data)}
            return document | ({"title": name} if name else {})
        case _:
            assert_never(sent)


def _source(media_type: str, data: str) -> JsonObject:
    return {"type": "base64", "media_type": media_type, "data": data}


def _part(part: AssistantPart) -> JsonObject | None:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ThinkingPart(opaque=""):
            return None  # unsigned: the API would refuse it
        case ThinkingPart(opaque=opaque, redacted=True):
            return {"type": "redacted_thinking", "data": opaque}
        case ThinkingPart(text=text, opaque=opaque):
            return {"type": "thinking", "thinking": text, "signature": opaque}
        case CallPart(id=id, name=name, input=input):
            return {"type": "tool_use", "id": id, "name": name, "input": input}
        case _:
            assert_never(part)


def _thinking(request: Request, facts: ModelFacts, messages: Sequence[Message]) -> JsonObject:
    effort = facts.effort(request.effort)
    output: JsonObject = {}
    settings: JsonObject = {}
    if facts.thinking == "adaptive":
        settings["thinking"] = {"type": "adaptive", "display": "summarized"}
    elif facts.thinking == "budget" and _may_think(messages):
        budget = min(BUDGETS.get(request.effort, 0), facts.most_output(request.max_output) - 1_024)
        if budget >= _LEAST_BUDGET:
            settings["thinking"] = {"type": "enabled", "budget_tokens": budget}
    if effort:
        output["effort"] = effort
    if request.schema is not None and facts.structured:
        output["format"] = {"type": "json_schema", "schema": request.schema}
    if output:
        settings["output_config"] = output
    return settings


def _may_think(messages: Sequence[Message]) -> bool:
    """With a budget, the calls being answered must have been thought about by the same model."""
    for message in reversed(messages):
        match message:
            case Said(parts=parts):
                return isinstance(parts[0], ThinkingPart) and bool(parts[0].opaque)
            case Heard(results=()):
                return True
            case Heard():
                continue
            case _:
                assert_never(message)
    return True
