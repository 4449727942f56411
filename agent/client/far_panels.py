"""Panels of a session at the other end of a line: what they show came, what they do goes over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import msgspec

from gatewright.agent.client.offer_lines import ChecksLine, SettingsLine
from gatewright.agent.client.session_lines import AnyRequest, CallPanel
from gatewright.agent.commands.outcome import Outcome, Say
from gatewright.agent.commands.panels import Check, ConfigPanel, DoctorPanel, Finding, Option
from gatewright.agent.errors import SessionError

Asking: TypeAlias = Callable[[AnyRequest], Awaitable[Any]]
Leading: TypeAlias = Callable[[AnyRequest], Awaitable[Outcome]]
CHECKED = 60.0  # seconds that a check may take there
NOT_UNDERSTOOD = "The answer is not understood here."


class FarBook:
    """Implements `ConfigBook`: the settings as they were heard of last."""

    def __init__(self, offer: int, options: Sequence[Option], ask: Asking) -> None:
        self._offer, self._known, self._ask = offer, options, ask

    def options(self) -> Sequence[Option]:
        return self._known

    async def problem_of(self, key: str, text: str) -> str:
        return await self._told("problem", key, text)

    async def set(self, key: str, text: str) -> str:
        return await self._changed("set", key, text)

    async def unset(self, key: str) -> str:
        return await self._changed("unset", key)

    async def _changed(self, call: str, *args: str) -> str:
        told = await self._told(call, *args)
        found = await self._ask(CallPanel(offer=self._offer, call="options"))
        try:
            self._known = msgspec.convert(found, tuple[Option, ...])
        except msgspec.ValidationError as error:
            raise SessionError(NOT_UNDERSTOOD) from error
        return told

    async def _told(self, call: str, *args: str) -> str:
        return str(await self._ask(CallPanel(offer=self._offer, call=call, args=args)))


def settings_panel(line: SettingsLine, ask: Asking, lead: Leading) -> ConfigPanel:
    async def taken_up(key: str) -> Outcome:
        return await lead(CallPanel(offer=line.offer, call="taken_up", args=(key,)))

    book = FarBook(line.offer, line.options, ask)
    fallback = Say(line.blocks)
    return ConfigPanel(fallback=fallback, book=book, taken_up=taken_up, choices=line.choices)


def checks_panel(line: ChecksLine, ask: Asking) -> DoctorPanel:
    """A check is asked for from a thread, as one that is made here runs in one."""
    loop = asyncio.get_running_loop()

    def run(name: str) -> Sequence[Finding]:
        asked = ask(CallPanel(offer=line.offer, call="run", args=(name,)))
        try:
            found = asyncio.run_coroutine_threadsafe(_awaited(asked), loop).result(CHECKED)
            return msgspec.convert(found, list[Finding])
        except (SessionError, msgspec.ValidationError, TimeoutError) as error:
            raise OSError(str(error) or "no answer") from error

    checks = tuple(Check(name, partial(run, name)) for name in line.checks)
    return DoctorPanel(fallback=Say(line.blocks), checks=checks)


async def _awaited(asked: Awaitable[Any]) -> Any:
    return await asked
