"""A script played to its end in a real worker, with answers made here: what it did, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from gatewright.agent.workflows.engine.engine import Engine
from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.engine.wire import (
    BudgetNow,
    Called,
    Ended,
    Failure,
    Inlined,
    Logged,
    Nested,
    PhaseBegan,
    Settled,
)
from gatewright.agent.workflows.script.check import check
from gatewright.agent.workflows.script.checked import Checked
from gatewright.tools.system.processes import spawn

META = 'export const meta = {name: "played", description: "A script of a test"};'
ENDS = 60.0  # seconds: a limit for what hangs

Answer = Callable[[Called], Settled]


@dataclass
class Played:
    """What a script did."""

    calls: list[Called] = field(default_factory=list[Called])
    nested: list[Nested] = field(default_factory=list[Nested])
    logs: list[str] = field(default_factory=list[str])
    phases: list[str] = field(default_factory=list[str])
    end: Ended = field(default_factory=Ended)

    @property
    def value(self) -> Any:
        assert not self.end.kind, self.end
        return self.end.value

    @property
    def prompts(self) -> list[str]:
        return [call.prompt for call in self.calls]


def echo(call: Called) -> Settled:
    return Settled(call.id, ok=True, value=f"<{call.prompt}>")


def refused(kind: str, message: str = "it failed") -> Answer:
    return lambda call: Settled(call.id, ok=False, error=Failure(kind, message))


def with_meta(body: str) -> str:
    """The body with a meta in its first line, so that its own first line is line 2."""
    return body if "export const meta" in body else f"{META}\n{body}"


async def play(
    body: str,
    answer: Answer = echo,
    *,
    args: Any = UNSET,
    budget: BudgetNow | None = None,
    limits: Limits | None = None,
    saved: dict[str, str] | None = None,
) -> Played:
    """`saved` are scripts by name, which `workflow()` finds."""
    return await played(check(with_meta(body)), answer, args, budget, limits, saved or {})


async def played(
    checked: Checked,
    answer: Answer,
    args: Any,
    budget: BudgetNow | None,
    limits: Limits | None,
    saved: dict[str, str],
) -> Played:
    found = Played()
    engine = await Engine.start(checked, limits or Limits(), spawn)
    try:
        async with asyncio.timeout(ENDS):
            await engine.begin(args, budget or BudgetNow())
            async for message in engine.messages():
                match message:
                    case Called():
                        found.calls.append(message)
                        await engine.settle(answer(message))
                    case Nested():
                        found.nested.append(message)
                        await engine.settle(_inlined(message, saved))
                    case Logged():
                        found.logs.append(message.text)
                    case PhaseBegan():
                        found.phases.append(message.title)
                    case Ended():
                        found.end = message
    finally:
        await engine.close()
    return found


def _inlined(message: Nested, saved: dict[str, str]) -> Inlined | Settled:
    source = saved.get(message.name or message.script_path)
    if source is None:
        failure = Failure("workflow", f"there is no workflow {message.name}")
        return Settled(message.id, ok=False, error=failure, throws=True)
    checked = check(source)
    return Inlined(message.id, checked.body, checked.meta.data, message.args)
