"""What the Responses API accepts, written from its rules and not from our converter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.fakes.rules.common import IMAGES, PDF, TOOL, Json, is_data_url, is_object, parts_of


def check(body: Json) -> list[str]:
    items: list[Json] = body["input"]
    faults = [f"input.{at}: {fault}" for at, item in enumerate(items) for fault in _item(item)]
    return [*_top(body), *_pairs(items), *_reasoning(items), *faults]


def _top(body: Json) -> Iterator[str]:
    if not body.get("model"):
        yield "no model"
    if body.get("max_output_tokens", 16) < 16:
        yield "max_output_tokens"
    if body.get("store") is not False:
        yield "kept on the server"
    for tool in body.get("tools", []):
        if tool["type"] != "function" or not TOOL.fullmatch(tool["name"]):
            yield f"tool {tool}"
    if not body["input"]:
        yield "no input"


def _pairs(items: list[Json]) -> Iterator[str]:
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    outputs = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    if len(set(calls)) != len(calls) or not all(calls):
        yield f"call ids {calls}"
    if sorted(calls) != sorted(outputs):
        yield f"calls {calls}, outputs {outputs}"
    seen: set[str] = set()
    for item in items:
        if item["type"] == "function_call":
            seen.add(item["call_id"])
        elif item["type"] == "function_call_output" and item["call_id"] not in seen:
            yield "an output before its call"


def _reasoning(items: list[Json]) -> Iterator[str]:
    """Reasoning is followed by what it led to."""
    for item, follower in zip(items, [*items[1:], {"type": ""}], strict=True):
        if item["type"] != "reasoning":
            continue
        said = follower["type"] == "message" and follower["role"] == "assistant"
        if not said and follower["type"] not in ("reasoning", "function_call"):
            yield "reasoning without what it led to"


def _item(item: Json) -> Iterator[str]:
    if not ITEMS[item["type"]](item):
        yield f"{item['type']}"
    parts = parts_of(item.get("output") or item.get("content"))
    yield from (part["type"] for part in parts if not PARTS[part["type"]](part))


ITEMS: dict[str, Callable[[Json], bool]] = {
    "message": lambda i: i["content"] and (i["role"] == "user") == bool(parts_of(i["content"])),
    "function_call": lambda i: is_object(i["arguments"]) and bool(i["name"]),
    "function_call_output": lambda i: bool(i["output"]),
    "reasoning": lambda i: bool(i["encrypted_content"]) and isinstance(i["summary"], list),
}  # fmt: skip
PARTS: dict[str, Callable[[Json], bool]] = {
    "input_text": lambda part: bool(part["text"]),
    "input_image": lambda part: is_data_url(part["image_url"], IMAGES),
    "input_file": lambda part: is_data_url(part["file_data"], PDF) and bool(part["filename"]),
}
