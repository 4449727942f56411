"""A recorded day over real HTTP: what a server's cache has of each check, its time and its price.

The judge allows; every sixth action it looks at twice. Its own time is not in the figures, as the
server answers at once; prices are those of a small hosted model, by the server's count of tokens.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from gatewright.agent.auto.account import Account
from gatewright.agent.auto.classifier import Classifier, Ports
from gatewright.agent.auto.judge import Judge
from gatewright.agent.auto.lists import defaults
from gatewright.agent.auto.request import standing
from gatewright.agent.providers.catalog import load_catalog
from gatewright.agent.providers.registry import Opened, open_provider
from gatewright.agent.record.events import AnyEvent, Decided, Envelope, ToolStarted, UserMessage
from gatewright.agent.record.messages import Usage
from gatewright.permissions.rulebook.tools_table import row
from gatewright.tools.access import MAIN, Access, ShellText
from gatewright.tools.classify import Opinion, Pending
from gatewright.tools.protocol import TextContent, ToolCall
from tests.bench.figures import Verdict, at_least, at_most
from tests.fakes.judging_server import Case, JudgingServer, Served

JUDGE, MAIN_MODEL = "anthropic/claude-haiku-5-5", "anthropic/claude-sonnet-5-5"
TWICE = 6  # every so many actions are looked at twice
BEGINS, GROWS, ANSWERS = 12_000, 750, 150  # tokens of a session: at first, by a call, of an answer
WORDS = "Fix the retry, and test it."
ROOT = Path("/w/app")
Call: TypeAlias = tuple[str, dict[str, Any], bool]  # tool, input, whether it reaches a judge


@dataclass
class Day:
    calls: int = 0
    judged: int = 0
    seconds: list[float] = field(default_factory=list[float])
    cost: float = 0.0
    served: list[Served] = field(default_factory=list[Served])

    def shares(self, *, quick: bool) -> list[float]:
        """Of each request but the very first: how much of it the server had."""
        return [each.share for each in self.served[1:] if each.quick is quick]


class Judged:
    """Auto mode without a session: account, classifier, and a judge at the other end of a line."""

    def __init__(self, opened: Opened) -> None:
        self.day = Day()
        self.account = Account(lambda tool: row(tool).family)
        self.judge = Judge(opened, standing(defaults(), ()), paid=self._paid)
        self.classifier = Classifier(
            self.account,
            Ports(
                judge=self._judge,
                known=lambda access, facts: {},
                checking=lambda call, agent: None,
                changed=lambda: None,
                alone=lambda: True,
            ),
        )
        self._count = 0

    async def _judge(self) -> Judge:
        return self.judge

    def _paid(self, model: str, usage: Usage, cost: float) -> None:
        self.day.cost += cost

    def hears(self, event: AnyEvent) -> None:
        self._count += 1
        id = f"u{self._count}"
        self.account.saw(
            Envelope(seq=self._count, uuid=id, parent="", timestamp=0.0, agent=MAIN, event=event)
        )

    async def call(self, tool: str, input: dict[str, Any], *, reaches: bool) -> None:
        id = f"c{self.day.calls}"
        self.day.calls += 1
        self.hears(ToolStarted(call_id=id, name=tool, input=input, verb="", target=""))
        if reaches:
            await self._checked(ToolCall(id, tool, input))
        self.hears(
            Decided(call_id=id, tool=tool, target="", behavior="allow", stage="mode", reason="")
        )
        if row(tool).family not in ("read", "free", "human"):
            self.classifier.reuse.acted(id)

    async def _checked(self, call: ToolCall) -> Opinion:
        command = str(call.input.get("command", ""))
        runs = ShellText(command, ROOT) if command else None
        pending = Pending(
            call=call,
            access=Access(runs=runs),
            agent=MAIN,
            mode="auto",
            reason="",
            facts={"sandboxed": True},
        )
        began = time.perf_counter()
        opinion = await self.classifier(pending)
        self.day.seconds.append(time.perf_counter() - began)
        self.day.judged += 1
        assert opinion.word == "allow", opinion
        return opinion


class Twice:
    """The server's side: every so many actions are not allowed at the first look."""

    def __init__(self) -> None:
        self._looked = 0

    def __call__(self, case: Case) -> tuple[str, str, str]:
        self._looked += case.quick
        doubts = case.quick and self._looked % TWICE == 0
        return ("deny", "", "") if doubts else ("allow", "routine", "It serves what was asked.")


async def spent(calls: Iterable[Call]) -> Day:
    server = JudgingServer(judges=Twice())
    async with server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
        made = Judged(open_provider(JUDGE, settings={}, env=env))
        made.hears(UserMessage(content=(TextContent(WORDS),)))
        for tool, input, reaches in calls:
            await made.call(tool, input, reaches=reaches)
        await made.judge.close()
    made.day.served = server.served
    return made.day


def session_cost(calls: int) -> float:
    """Of a session that grows with every call, all of it served from the cache but what is new."""
    provider, _, model = MAIN_MODEL.partition("/")
    price = load_catalog().facts(provider, model).cost
    return sum(
        price(Usage(cache_read=BEGINS + n * GROWS, cache_write=GROWS, output=ANSWERS))
        for n in range(calls)
    )


def figures(calls: Iterable[Call]) -> list[Verdict]:
    day = asyncio.run(spent(calls))
    first, second = day.shares(quick=True), day.shares(quick=False)
    ms = sorted(1000 * each for each in day.seconds)
    late = ms[int(len(ms) * 0.95)]
    share = 100 * day.cost / session_cost(day.calls)
    per_call = 1000 * sum(day.seconds) / day.calls
    return [
        at_least("served from the cache, checks, by the server", 100 * mean(first), 90, "%"),
        at_least("served from the cache, second stages", 100 * mean(second), 95, "%"),
        at_most(
            "a check over HTTP without the judge's time, p50", statistics.median(ms), 1000, "ms"
        ),
        at_most("the same, p95", late, 3000, "ms"),
        at_most("the same, for each call of the day", per_call, 300, "ms"),
        at_most(f"price of a day, {100 * day.cost / day.judged:.3f} c a check", share, 8, "%"),
    ]


def mean(shares: list[float]) -> float:
    return statistics.mean(shares)
