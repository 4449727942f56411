"""A costly cache miss is told with its cause; a hit, a cheap one and a first request are not."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.agent.providers.protocol import Request
from gatewright.agent.record.agent_costs import AgentCosts
from gatewright.agent.record.events import AttemptPaid, Noticed, TurnEnded
from gatewright.agent.record.messages import Usage, UserTurn
from gatewright.agent.record.spending import REST, Spending
from gatewright.agent.turn.cache_watch import CacheWatch
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Table, plain
from gatewright.tools.protocol import TextContent, ToolSpec

WRITTEN = Usage(input=10, cache_write=50_000)
MISSED = Usage(input=50_010)
ONE, TWO = UserTurn((TextContent("one"),)), UserTurn((TextContent("two"),))
FIRST = Request(model="m", system=("s",), tools=(), turns=(ONE,), max_output=10)
NEXT = msgspec.structs.replace(FIRST, turns=(ONE, TWO))


def said(request: Request, usage: Usage, now: float = 1.0, before: Usage = WRITTEN) -> str:
    watch = CacheWatch()
    assert watch.saw(FIRST, before, 0.0) == ""
    return watch.saw(request, usage, now)


@pytest.mark.parametrize(
    ("request_", "now", "cause"),
    [
        (NEXT, 1.0, "the provider dropped it early"),
        (NEXT, 600.0, "the last request was 10 minutes ago"),
        (msgspec.structs.replace(NEXT, model="n"), 1.0, "another model was asked"),
        (msgspec.structs.replace(NEXT, system=("x",)), 1.0, "the system prompt changed"),
        (msgspec.structs.replace(NEXT, tools=(ToolSpec("a", "", {}),)), 1.0, "the tools changed"),
        (msgspec.structs.replace(NEXT, turns=()), 1.0, "the history was shortened or cleared"),
    ],
)
def test_the_cause_is_named(request_: Request, now: float, cause: str) -> None:
    assert said(request_, MISSED, now) == (
        f"50,000 tokens were not served from the prompt cache: {cause}."
    )


def test_no_word_where_nothing_was_lost() -> None:
    assert said(NEXT, Usage(cache_read=50_000)) == ""
    assert said(NEXT, MISSED, before=Usage(input=50_000)) == ""  # no cache at all
    assert said(NEXT, MISSED, before=Usage(cache_write=100)) == ""


def test_what_was_missed_stands_in_what_was_spent() -> None:
    spent = Spending()
    spent.apply(TurnEnded(stop=Stop.COMPLETED))
    for number in range(7):
        spent.apply(Noticed(text=f"{number} tokens were not served.", brief="cache missed"))
    spent.apply(Noticed(text="of something else"))
    shown = plain(spent.table(AgentCosts())[-1]).splitlines()
    assert shown == [f"Turn 2: {n} tokens were not served." for n in range(2, 7)]


def test_the_rows_of_what_was_spent_add_up_to_the_session() -> None:
    """A turn that was taken back was paid, and so was a summary: no other row has them."""
    spent = Spending()
    spent.restore([])
    kept, back = Usage(input=60, output=6), Usage(input=40, output=4)
    for usage, cost in ((kept, 0.02), (back, 0.01)):
        spent.apply(AttemptPaid(model="m", usage=usage, cost=cost))
    spent.apply(TurnEnded(stop=Stop.COMPLETED, usage=kept, cost=0.02))
    (table,) = spent.table(AgentCosts())
    assert isinstance(table, Table)
    assert table.rows == (
        ("turn 1", "0", "0", "60", "6", "$0.0200"),
        (REST, "0", "0", "40", "4", "$0.0100"),
        ("session", "0", "0", "100", "10", "$0.0300"),
    )
    spent.apply(TurnEnded(stop=Stop.COMPLETED, usage=back, cost=0.01))
    (table,) = spent.table(AgentCosts())
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["turn 1", "turn 2", "session"]
