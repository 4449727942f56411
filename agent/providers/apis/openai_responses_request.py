"""A request as the body of the Responses API, without state on the server's side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from gatewright.agent.providers.apis.openai_chat_request import arguments_of
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.sending.kept_prefix import Kept
from gatewright.agent.providers.sending.media import sendable
from gatewright.agent.providers.sending.sendable_history import (
    Gathering,
    Heard,
    Message,
    Result,
    Said,
)
from gatewright.agent.record.messages import AssistantPart, CallPart, TextPart, ThinkingPart
from gatewright.tools.protocol import (
    Content,
    DocumentContent,
    ImageContent,
    JsonObject,
    TextContent,
)

_LEAST_OUTPUT = 16


class Bodies:
    """The bodies of one conversation's requests; each costs what is new since the one before."""

    def __init__(self) -> None:
        self._gathering = Gathering()
        self._kept: Kept[Message, list[JsonObject]] = Kept()

    def body(self, request: Request, facts: ModelFacts, quirks: Quirks) -> JsonObject:
        history = self._gathering.messages(request.turns, request.model)
        made = self._kept.map(history, lambda message: list(_items(message, facts, quirks)))
        return _body(request, facts, quirks, [item for group in made for item in group])


def _body(
    request: Request, facts: ModelFacts, quirks: Quirks, items: list[JsonObject]
) -> JsonObject:
    body: JsonObject = {"model": request.model}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            }
            for tool in request.tools
        ]
    if system := "\n\n".join(text for text in request.system if text.strip()):
        body["instructions"] = system
    body["input"] = items
    body["max_output_tokens"] = max(_LEAST_OUTPUT, facts.most_output(request.max_output))
    body["stream"] = True
    body["store"] = False
    if facts.thinking == "reasoning":
        body["include"] = ["reasoning.encrypted_content"]
        effort = facts.effort(request.effort)
        body["reasoning"] = {**({"effort": effort} if effort else {}), "summary": "auto"}
    if quirks.cache_key and request.session:
        body["prompt_cache_key"] = request.session
    if request.schema is not None and facts.structured:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        body["text"] = {"format": {"type": "json_schema", **schema}}
    return body


def _items(message: Message, facts: ModelFacts, quirks: Quirks) -> Iterator[JsonObject]:
    match message:
        case Heard(results=results, content=content):
            for result in results:
                yield _result(result, facts, quirks)
            if content:
                parts = [_content(item, facts, quirks) for item in content]
                yield {"type": "message", "role": "user", "content": parts}
        case Said(parts=parts):
            yield from _said(parts, phases=quirks.phases and facts.thinking == "reasoning")
        case _:
            assert_never(message)


def _result(result: Result, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    parts = [_content(item, facts, quirks) for item in result.content]
    if not result.ok:
        parts.insert(0, {"type": "input_text", "text": "The call failed."})
    plain = all(part["type"] == "input_text" for part in parts)
    output = "\n".join(part["text"] for part in parts) if plain else parts
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _content(item: Content, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    sent = sendable(item, facts, quirks)
    match sent:
        case TextContent(text=text):
            return {"type": "input_text", "text": text}
        case ImageContent(media_type=media_type, data=data):
            url = f"data:{media_type};base64,{data}"
            return {"type": "input_image", "detail": "auto", "image_url": url}
        case DocumentContent(media_type=media_type, data=data, name=name):
            return {
                "type": "input_file",
                "filename": name or "document.pdf",
                "file_data": f"data:{media_type};base64,{data}",
            }
        case _:
            assert_never(sent)


def _said(parts: Sequence[AssistantPart], *, phases: bool) -> Iterator[JsonObject]:
    calls = any(isinstance(part, CallPart) for part in parts)
    for part in parts:
        match part:
            case TextPart(text=text):
                said: JsonObject = {"type": "message", "role": "assistant", "content": text}
                if phases:  # what is said before a call is a comment, else it is the answer
                    said["phase"] = "commentary" if calls else "final_answer"
                yield said
            case ThinkingPart(text=text, opaque=opaque, id=id):
                if opaque:
                    yield _reasoning(text, opaque, id)
            case CallPart(id=id, name=name):
                yield {
                    "type": "function_call",
                    "call_id": id,
                    "name": name,
                    "arguments": arguments_of(part),
                }
            case _:
                assert_never(part)


def _reasoning(text: str, opaque: str, id: str) -> JsonObject:
    summary = [{"type": "summary_text", "text": text}] if text else []
    item: JsonObject = {"type": "reasoning", "summary": summary, "encrypted_content": opaque}
    return item | ({"id": id} if id else {})
