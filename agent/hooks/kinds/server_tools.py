"""Runs a handler that is a tool of a server: its text is read as what a command prints would be.

It starts no server and asks nobody; the gate judges the call as one that its source allows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from gatewright.agent.hooks.handlers import Handler
from gatewright.agent.hooks.kinds.running import Firing, Output
from gatewright.tools.protocol import JsonObject, TextContent, ToolResult

_PLACE = re.compile(r"\$\{([\w.-]+)\}")
# Server, tool and input of a call for that handler; a text is why there is none.
Calls: TypeAlias = Callable[[Handler, JsonObject, str], Awaitable[ToolResult | str]]


class ServerTools:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def run(self, handler: Handler, firing: Firing) -> Output:
        began = time.monotonic()
        input = cast("JsonObject", filled_in(handler.said.input, firing.input))
        result = await self._calls(handler, input, firing.agent)
        ms = round((time.monotonic() - began) * 1000)
        if isinstance(result, str):
            return Output(failure=result, ms=ms)
        text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        if not result.ok:
            return Output(failure=text.partition("\n")[0] or "it failed", ms=ms)
        return Output(exit=0, stdout=text, ms=ms)


def filled_in(template: object, given: Mapping[str, Any]) -> Any:
    """With `${path.in.json}` replaced: alone by the value itself, in a text by its text."""
    match template:
        case str():
            if (whole := _PLACE.fullmatch(template)) is not None:
                return _at(whole[1], given)
            return _PLACE.sub(lambda found: _text(_at(found[1], given)), template)
        case dict():
            table = cast("dict[str, object]", template)
            return {name: filled_in(value, given) for name, value in table.items()}
        case list():
            return [filled_in(each, given) for each in cast("list[object]", template)]
        case _:
            return template


def _at(path: str, given: Mapping[str, Any]) -> Any:
    """The value there; None where there is none."""
    value: Any = given
    for name in path.split("."):
        match value:
            case dict():
                value = cast("dict[str, Any]", value).get(name)
            case list() if name.isdigit():
                listed = cast("list[object]", value)
                value = listed[int(name)] if int(name) < len(listed) else None
            case _:
                return None
    return value


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode()
