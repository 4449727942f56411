"""Hooks in the client's own process: registered when it says hello, asked over the wire.

A guard that silently never ran would be worse than none: what cannot be registered is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec

from gatewright.agent.frontends.sdk.control import Client, Refused
from gatewright.agent.hooks.configured.matchers import BadMatcher, compiled
from gatewright.agent.hooks.configured.reading import Read, made
from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.handlers import Handler, Place, Written
from gatewright.agent.hooks.kinds.running import Firing, Output
from gatewright.tools.system.untyped_json import Json, items, obj

PLACE = Place("sdk", "the client")
SETTLED = frozenset({"PreToolUse", "UserPromptSubmit"})  # nothing goes on there without an answer


def registered(hooks: Json) -> Read:
    """Raises ValueError, whose text is for the client."""
    return Read(tuple(_handlers(hooks)))


def _handlers(hooks: Json) -> Iterator[Handler]:
    for event, groups in hooks.items():
        if event not in EVENTS:
            raise ValueError(f"There is no hook event {event!r} here.")
        for group in map(obj, items(groups)):
            yield from _group(event, group)


def _group(event: str, group: Json) -> Iterator[Handler]:
    matcher, seconds = group.get("matcher") or "", group.get("timeout")
    if not isinstance(matcher, str):
        raise ValueError(f"A matcher of {event} is no text.")
    try:
        compiled(matcher, EVENTS[event])
    except BadMatcher as error:
        raise ValueError(f"The matcher {matcher!r} of {event} {error}.") from error
    if seconds is not None and not (isinstance(seconds, int | float) and 0 < seconds < 1e7):
        raise ValueError(f"A timeout of {event} is {seconds!r}: seconds above zero.")
    strict = group.get("onFailure") not in (None, "", "continue")  # what is unknown blocks
    said = Written(type="callback", timeout=seconds, strict=strict)
    handler = made(event, said, PLACE, matcher)
    for id in items(group.get("hookCallbackIds")):
        yield msgspec.structs.replace(handler, callback=str(id))


class Callbacks:
    """Asks the client, which answers as a program would: with the same JSON."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def run(self, handler: Handler, firing: Firing) -> Output:
        body: dict[str, Any] = {
            "subtype": "hook_callback",
            "callback_id": handler.callback,
            "input": firing.input,
            "tool_use_id": firing.call_id or None,
        }
        try:
            async with asyncio.timeout(handler.timeout):
                said = await self._client.request(body)
        except TimeoutError:
            blocks = handler.event in SETTLED
            return Output(failure=f"timed out after {handler.timeout:g} s", blocks=blocks)
        except Refused as error:
            return Output(failure=str(error))
        text = msgspec.json.encode(said).decode()
        return Output(stdout=text, answer={} if said.get("async") is True else dict(said))
