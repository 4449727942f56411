"""What a client at the other end of a line may have done with a panel that it shows: by name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.panels import Check, ConfigPanel, DoctorPanel, LivePanel
from gatewright.agent.errors import SessionError

UNKNOWN = "There is nothing called {call} in that panel."


async def called(panel: LivePanel, call: str, args: Sequence[str]) -> Any:
    """Raises GatewrightError."""
    match panel, call, args:
        case ConfigPanel(book=book), "options", ():
            return list(book.options())
        case ConfigPanel(book=book), "problem", (key, text):
            return await book.problem_of(key, text)
        case ConfigPanel(book=book), "set", (key, text):
            return await book.set(key, text)
        case ConfigPanel(book=book), "unset", (key,):
            return await book.unset(key)
        case DoctorPanel(checks=checks), "run", (name,):
            return await _checked(checks, name)
        case _:
            raise SessionError(UNKNOWN.format(call=call))


async def led_to(panel: LivePanel, call: str, args: Sequence[str]) -> Outcome | None:
    """The outcome of a call that leads to one; None for all others."""
    match panel, call, args:
        case ConfigPanel(taken_up=taken_up), "taken_up", (key,):
            return await taken_up(key)
        case _:
            return None


async def _checked(checks: Sequence[Check], name: str) -> list[Any]:
    found = next((check for check in checks if check.name == name), None)
    if found is None:
        raise SessionError(UNKNOWN.format(call=name))
    return await asyncio.to_thread(lambda: list(found.run()))
