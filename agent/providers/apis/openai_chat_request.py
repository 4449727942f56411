"""A request as the body of Chat Completions, with each server's departures applied as data."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import assert_never

import msgspec

from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.sending import sent_back as returned
from gatewright.agent.providers.sending.kept_prefix import Kept
from gatewright.agent.providers.sending.media import sendable
from gatewright.agent.providers.sending.sendable_history import (
    NOTHING,
    Gathering,
    Heard,
    Message,
    Result,
    Said,
)
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart
from gatewright.tools.protocol import (
    Content,
    DocumentContent,
    ImageContent,
    JsonObject,
    TextContent,
)

_EPHEMERAL = {"type": "ephemeral"}
_CACHED_TURNS = 2


class Bodies:
    """The bodies of one conversation's requests; each costs what is new since the one before."""

    def __init__(self) -> None:
        self._gathering = Gathering(keep_last_thoughts=True)
        self._kept: Kept[Message, list[JsonObject]] = Kept()

    def body(self, request: Request, facts: ModelFacts, quirks: Quirks) -> JsonObject:
        history = self._gathering.messages(request.turns, request.model)
        made = self._kept.map(history, lambda message: _message(message, facts, quirks))
        messages = [*_system(request, quirks), *(one for group in made for one in group)]
        if quirks.cache_points:
            _mark(messages)
        return _body(request, facts, quirks, messages)


def _body(
    request: Request, facts: ModelFacts, quirks: Quirks, messages: list[JsonObject]
) -> JsonObject:
    body: JsonObject = {"model": request.model}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                },
            }
            for tool in request.tools
        ]
    body["messages"] = messages
    body[quirks.max_tokens] = facts.most_output(request.max_output)
    body["stream"] = True
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if quirks.store:
        body["store"] = False
    if quirks.cache_key and request.session:
        body["prompt_cache_key"] = request.session
    body |= _effort(request, facts, quirks)
    if request.schema is not None and facts.structured:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": request.schema, "strict": True},
        }
    return body


def _effort(request: Request, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    effort = facts.effort(request.effort)
    if not effort or not quirks.effort:
        return {}
    return {quirks.effort: {"effort": effort} if quirks.effort == "reasoning" else effort}


def _system(request: Request, quirks: Quirks) -> list[JsonObject]:
    system = "\n\n".join(text for text in request.system if text.strip())
    return [{"role": quirks.system_role, "content": system}] if system else []


def _message(message: Message, facts: ModelFacts, quirks: Quirks) -> list[JsonObject]:
    match message:
        case Heard():
            made = _heard(message, facts, quirks)
        case Said():
            made = [_said(message, quirks)]
        case _:
            assert_never(message)
    if quirks.call_ids == "nine":
        _shorten_ids(made)
    return made


def _heard(message: Heard, facts: ModelFacts, quirks: Quirks) -> list[JsonObject]:
    listed: list[JsonObject] = []
    seen: list[JsonObject] = []
    for result in message.results:
        texts: list[str] = [] if result.ok else ["The call failed."]
        for item in result.content:
            part = _content(item, facts, quirks)
            if part["type"] == "text":
                texts.append(part["text"])
            else:  # only text may stand in a result: the rest follows as if the person sent it
                texts.append(f"[Attached below: {_kind(item)}]")
                seen.append({"type": "text", "text": f"From the result of {result.call_id}:"})
                seen.append(part)
        listed.append(_result(result, texts))
    parts = [*seen, *(_content(item, facts, quirks) for item in message.content)]
    if not parts:
        return listed
    if listed and quirks.bridge:
        listed.append({"role": "assistant", "content": quirks.bridge})
    if all(part["type"] == "text" for part in parts) and not seen:
        listed.append({"role": "user", "content": "\n\n".join(part["text"] for part in parts)})
    else:
        listed.append({"role": "user", "content": parts})
    return listed


def _result(result: Result, texts: Sequence[str]) -> JsonObject:
    content = "\n".join(texts) or NOTHING
    return {"role": "tool", "tool_call_id": result.call_id, "content": content}


def _kind(item: Content) -> str:
    return "an image" if isinstance(item, ImageContent) else "a document"


def _content(item: Content, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    sent = sendable(item, facts, quirks)
    match sent:
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ImageContent(media_type=media_type, data=data):
            return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}
        case DocumentContent(media_type=media_type, data=data, name=name):
            file = {
                "filename": name or "document.pdf",
                "file_data": f"data:{media_type};base64,{data}",
            }
            return {"type": "file", "file": file}
        case _:
            assert_never(sent)


def _said(message: Said, quirks: Quirks) -> JsonObject:
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    calls = [part for part in message.parts if isinstance(part, CallPart)]
    said: JsonObject = {"role": "assistant", "content": "".join(texts) or None}
    thinking = [part for part in message.parts if isinstance(part, ThinkingPart)]
    if calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_of(call)},
            }
            for call in calls
        ]
        returned.sign(said["tool_calls"], thinking, quirks)
    return said | returned.reasoning(thinking, quirks)


def arguments_of(call: CallPart) -> str:
    return msgspec.json.encode(call.input).decode("utf-8")


def _shorten_ids(messages: Sequence[JsonObject]) -> None:
    """Nine letters or digits, the same for the same id."""

    def short(id: str) -> str:
        if len(id) == 9 and id.isalnum():
            return id
        return hashlib.sha256(id.encode("utf-8")).hexdigest()[:9]

    for message in messages:
        for call in message.get("tool_calls", ()):
            call["id"] = short(call["id"])
        if "tool_call_id" in message:
            message["tool_call_id"] = short(message["tool_call_id"])


def _mark(messages: list[JsonObject]) -> None:
    """Cache points on the system prompt and the last two messages of the person, as copies."""
    users = [index for index, message in enumerate(messages) if message["role"] == "user"]
    for index in {0, *users[-_CACHED_TURNS:]}:
        message = messages[index]
        if message["role"] not in ("system", "developer", "user"):
            continue
        content = message["content"]
        parts: list[JsonObject] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        marked = [*parts[:-1], {**parts[-1], "cache_control": _EPHEMERAL}]
        messages[index] = {**message, "content": marked}
