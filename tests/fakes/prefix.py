"""The part of a request that a server can serve from its cache, as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

Json = dict[str, Any]
_BEFORE = ("tools", "system", "instructions")
_TALK = ("messages", "input")


def cached_prefix(body: Json) -> bytes:
    """Tools, system prompt and the conversation, block by block, in the order they are cached.

    Cache points move from request to request and are no part of what is cached.
    """
    return b"".join(_piece(piece) for piece in _pieces(body))


def cache_points(body: Json) -> int:
    return json.dumps(body).count('"cache_control"')


def _pieces(body: Json) -> Iterator[object]:
    for name in _BEFORE:
        yield body.get(name, [])
    for name in _TALK:
        for message in cast("list[Json]", body.get(name, [])):
            yield from _blocks(message)


def _blocks(message: Json) -> Iterator[object]:
    """A message as its head and its blocks: the next request may add a block to the last one."""
    content = message.get("content")
    if not isinstance(content, list):
        yield message
        return
    yield {name: value for name, value in message.items() if name != "content"}
    yield from cast("list[object]", content)


def _piece(value: object) -> bytes:
    return json.dumps(_unmarked(value), ensure_ascii=False).encode()


def _unmarked(value: object) -> object:
    if isinstance(value, dict):
        fields = cast("Json", value)
        return {name: _unmarked(each) for name, each in fields.items() if name != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(each) for each in cast("list[object]", value)]
    return value
