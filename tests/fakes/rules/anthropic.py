"""What the Messages API accepts, written from its rules and not from our converter."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator

from tests.fakes.rules.common import ID, IMAGES, PDF, TOOL, Json, is_base64

KNOWN = {
    "model", "messages", "max_tokens", "system", "tools", "stream", "thinking",
    "output_config", "tool_choice", "metadata", "stop_sequences",
}  # fmt: skip
FROM = {
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
    "user": {"text", "image", "document", "tool_result"},
}


def check(body: Json) -> list[str]:
    return [*_top(body), *_tools(body.get("tools", [])), *_roles(body), *_pairs(body), *_all(body)]


def _top(body: Json) -> Iterator[str]:
    yield from (f"unknown field {name}" for name in body.keys() - KNOWN)
    if not body.get("model"):
        yield "no model"
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens"
    if (points := json.dumps(body).count('"cache_control"')) > 4:
        yield f"{points} cache points, 4 are allowed"
    for block in body.get("system", []):
        if block.get("type") != "text" or not block["text"].strip():
            yield "a system block is empty"
    yield from _thinking(body)


def _thinking(body: Json) -> Iterator[str]:
    thinking = body.get("thinking", {})
    if thinking.get("type") != "enabled" or not body["messages"]:
        return
    if not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        yield f"a budget of {thinking['budget_tokens']} for {body['max_tokens']}"
    last = [message for message in body["messages"] if message["role"] == "assistant"][-1:]
    answering = any(block["type"] == "tool_result" for block in body["messages"][-1]["content"])
    if last and answering and "thinking" not in last[0]["content"][0]["type"]:
        yield "with a thinking budget, calls must follow thinking"


def _tools(tools: list[Json]) -> Iterator[str]:
    names = [tool["name"] for tool in tools]
    if len(set(names)) != len(names):
        yield "a tool's name is used twice"
    for tool in tools:
        if not TOOL.fullmatch(tool["name"]):
            yield f"tool name {tool['name']!r}"
        if tool["input_schema"].get("type") != "object":
            yield f"the schema of {tool['name']} is no object"


def _roles(body: Json) -> Iterator[str]:
    roles = [message["role"] for message in body["messages"]]
    if not roles:
        yield "no messages"
    elif roles[0] != "user":
        yield "the first message is not the user's"
    elif roles[-1] != "user":
        yield "the last message is not the user's: prefill"
    if any(one == two for one, two in itertools.pairwise(roles)):
        yield "roles do not alternate"


def _pairs(body: Json) -> Iterator[str]:
    """Each message's results answer exactly the calls of the one before, and come first."""
    used: list[str] = []
    waiting: list[str] = []
    for at, message in enumerate(body["messages"]):
        blocks = message["content"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(answered) != sorted(waiting):
            yield f"messages.{at}: results {answered} for the calls {waiting}"
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            yield f"messages.{at}: something stands before a result"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        used += waiting
    if waiting:
        yield f"the calls {waiting} have no result"
    if len(set(used)) != len(used):
        yield "a call id is used twice"


def _all(body: Json) -> Iterator[str]:
    for at, message in enumerate(body["messages"]):
        if not message["content"]:
            yield f"messages.{at}: empty content"
        for block in message["content"]:
            yield from (f"messages.{at}: {fault}" for fault in _block(block, message["role"]))


def _block(block: Json, role: str) -> Iterator[str]:
    kind = block["type"]
    if kind not in FROM[role]:
        yield f"{kind} from {role}"
    elif not BLOCKS[kind](block):
        yield f"{kind}: {json.dumps(block)[:200]}"
    if kind == "tool_result":
        for part in block["content"]:
            if part["type"] == "tool_result":
                yield "a result in a result"
            yield from _block(part, "user")


def _source(block: Json, types: set[str]) -> bool:
    source = block["source"]
    return source["media_type"] in types and is_base64(source["data"])


BLOCKS: dict[str, Callable[[Json], bool]] = {
    "text": lambda block: bool(block["text"].strip()),
    "image": lambda block: _source(block, IMAGES),
    "document": lambda block: _source(block, PDF),
    "thinking": lambda block: bool(block["signature"]) and "cache_control" not in block,
    "redacted_thinking": lambda block: bool(block["data"]) and "cache_control" not in block,
    "tool_use": lambda block: bool(ID.fullmatch(block["id"])) and isinstance(block["input"], dict),
    "tool_result": lambda block: bool(block["content"]),
}
