"""What auto mode costs: `python -m tests.bench.auto`.

A recorded day of 300 calls: how many reach a judge, how much of each request a server has from the
one before, what that costs, and the work of our own for one check. A judge's own time is not in it:
`agent auto-mode eval` tells that of a real one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.auto.account import Account
from gatewright.agent.auto.entries import what_it_does
from gatewright.agent.auto.lists import defaults
from gatewright.agent.auto.request import judging, standing
from gatewright.agent.providers.apis.anthropic_request import Bodies
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import Request
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.record.events import Decided, Envelope, ToolStarted, UserMessage
from gatewright.permissions.check import call_and_context
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask
from gatewright.permissions.rulebook.tools_table import row
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent
from tests.bench.auto_day import figures
from tests.bench.figures import Verdict, at_most

DAY = Path(__file__).parents[1] / "auto" / "day.jsonl"
MOST = 40_000
EARLIER = 500  # actions before the checks that are timed
CHECKS = 200
FACTS = ModelFacts(structured=True, window=200_000)


def day() -> Iterator[dict[str, Any]]:
    for text in DAY.read_text(encoding="utf-8").splitlines():
        yield json.loads(text)


def reaches(call: dict[str, Any]) -> bool:
    """Whether the gate leaves it to a judge."""
    decision = decide(
        *call_and_context({**call, "context": {"mode": "auto", "root": "/w/app", "cwd": "/w/app"}})
    )
    assert isinstance(decision, Allow | Ask), call
    return isinstance(decision, Ask) and decision.answerer == "classifier"


class Account500:
    """An account, and what is sent for each check."""

    def __init__(self) -> None:
        self.account = Account(lambda tool: row(tool).family)
        self.system = standing(defaults(), ())
        self.bodies = Bodies()
        self.count = 0
        self.hears(UserMessage(content=(TextContent("Fix the retry, and test it."),)))

    def hears(self, event: UserMessage | ToolStarted | Decided) -> None:
        self.count += 1
        self.account.saw(
            Envelope(
                seq=self.count,
                uuid=f"u{self.count}",
                parent="",
                timestamp=0.0,
                agent=MAIN,
                event=event,
            )
        )

    def ran(self, tool: str, input: dict[str, Any]) -> None:
        id = f"c{self.count}"
        self.hears(ToolStarted(call_id=id, name=tool, input=input, verb="", target=""))
        self.allowed(id, tool)

    def allowed(self, id: str, tool: str) -> None:
        self.hears(
            Decided(call_id=id, tool=tool, target="", behavior="allow", stage="mode", reason="")
        )

    def check(self, tool: str, input: dict[str, Any]) -> Request:
        id = f"c{self.count}"
        entry = {"tool": tool, "does": what_it_does(tool, input), "facts": {"sandboxed": True}}
        self.account.pending(MAIN, id, entry)
        blocks = self.account.of(MAIN).seal(MOST)
        request = judging("fast", model="m", facts=FACTS, system=self.system, blocks=blocks)
        self.hears(
            Decided(
                call_id=id, tool=tool, target="", behavior="allow", stage="classifier", reason=""
            )
        )
        return request

    def sent(self, request: Request) -> bytes:
        return msgspec.json.encode(self.bodies.body(request, FACTS, Quirks()))


def share() -> Verdict:
    calls = list(day())
    count = sum(map(reaches, calls))
    return at_most("calls of a day that reach a judge", 100 * count / len(calls), 30, "%")


def local() -> Verdict:
    made = Account500()
    calls = list(day())
    for n in range(EARLIER):
        made.ran("Bash", {"command": f"make target-{n} && echo {'x' * 40}"})
    made.sent(made.check("Bash", {"command": "make"}))
    began = time.process_time()
    for n in range(CHECKS):
        made.sent(made.check("Bash", calls[n % len(calls)]["input"]))
    each = (time.process_time() - began) / CHECKS * 1000
    return at_most("our own work for a check behind 500 actions", each, 2, "ms")


def main() -> int:
    calls = [(call["tool"], call["input"], reaches(call)) for call in day()]
    found = [share(), *figures(calls), local()]
    for each in found:
        sys.stdout.write(each.line())
    return 0 if all(each.good for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
