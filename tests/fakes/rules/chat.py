"""What Chat Completions accepts, written from its rules and not from our converter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.fakes.rules.common import IMAGES, PDF, TOOL, Json, is_data_url, is_object, parts_of


def check(body: Json) -> list[str]:
    return [*_top(body), *_pairs(body["messages"]), *_all(body["messages"])]


def _top(body: Json) -> Iterator[str]:
    if not body.get("model"):
        yield "no model"
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield "two limits"
    if "tools" in body and not body["tools"]:
        yield "empty tools"
    for tool in body.get("tools", []):
        if tool["type"] != "function" or not TOOL.fullmatch(tool["function"]["name"]):
            yield f"tool {tool}"
    if not body["messages"] or body["messages"][-1]["role"] == "assistant":
        yield "nothing to answer"


def _pairs(messages: list[Json]) -> Iterator[str]:
    """The results of a message's calls follow it at once, one for each."""
    waiting: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"messages.{at}: a result of no call"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"messages.{at}: the calls {waiting} have no result"
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        if len(set(waiting)) != len(waiting) or not all(waiting):
            yield f"messages.{at}: call ids {waiting}"
    if waiting:
        yield f"the calls {waiting} have no result"


def _all(messages: list[Json]) -> Iterator[str]:
    for at, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role in ("system", "developer") and at:
            yield f"messages.{at}: {role} in the middle"
        if role == "tool" and not (isinstance(content, str) and content):
            yield f"messages.{at}: a result's content must be text"
        if not content and not message.get("tool_calls"):
            yield f"messages.{at}: empty"
        for call in message.get("tool_calls", []):
            if call["type"] != "function" or not is_object(call["function"]["arguments"]):
                yield f"messages.{at}: arguments of {call['id']}"
        wrong = [part["type"] for part in parts_of(content) if not PARTS[part["type"]](part)]
        yield from (f"messages.{at}: {kind}" for kind in wrong)


PARTS: dict[str, Callable[[Json], bool]] = {
    "text": lambda part: bool(part["text"]),
    "image_url": lambda part: is_data_url(part["image_url"]["url"], IMAGES),
    "file": lambda part: is_data_url(part["file"]["file_data"], PDF),
}
