"""Every handler there is as a row for people: what it is, where it stands and how it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gatewright.agent.hooks.configured.book import Book
from gatewright.agent.hooks.engine import Tally
from gatewright.agent.hooks.events import EVENTS
from gatewright.agent.hooks.handlers import SCRUBBED, Fault, Handler

READY, OFF, UNTRUSTED, BROKEN, FAILING = "ready", "off", "untrusted", "broken", "failing"
UNTRUSTING = "the project is not trusted"


class HookRow(msgspec.Struct, frozen=True, kw_only=True):
    """`why` says what keeps it from running, or what went wrong last."""

    id: str
    handler: Handler
    state: str
    why: str = ""
    closed: bool = False  # nobody can switch it on in a session
    tally: Tally = msgspec.field(default_factory=Tally)
    withheld: tuple[str, ...] = ()  # variables that it does not get

    @property
    def matcher(self) -> str:
        return self.handler.matcher if EVENTS[self.handler.event].matches else ""

    @property
    def times(self) -> str:
        tally = self.tally
        if not tally.runs:
            return "not run yet"
        failed = f", {tally.failures} failed" if tally.failures else ""
        runs = "1 run" if tally.runs == 1 else f"{tally.runs} runs"
        return f"{runs}{failed}, last {tally.times[-1]} ms, p95 {tally.p95()} ms"

    def facts(self) -> dict[str, Any]:
        """As data, for programs."""
        handler = self.handler
        return {
            "event": handler.event,
            "kind": handler.kind,
            "matcher": self.matcher,
            "if": handler.said.condition,
            "does": handler.name,
            "timeout": handler.timeout,
            "strict": handler.strict,
            "source": handler.place.origin,
            "file": handler.place.where,
            "line": handler.place.line,
            "state": self.state,
            "why": self.why,
        }


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What is known besides the book itself."""

    tallies: Mapping[tuple[object, ...], Tally] = {}
    off: frozenset[tuple[object, ...]] = frozenset()  # for this session
    troubles: Mapping[tuple[object, ...], Fault] = {}
    withheld: tuple[str, ...] = ()  # variables that those of a project do not get


def rows_of(book: Book, seen: Seen) -> list[HookRow]:
    """By event, the strongest source first."""
    order = list(EVENTS)
    every = [(each, "") for each in book.handlers] + [(off.handler, off.why) for off in book.off]
    every.sort(key=lambda one: (order.index(one[0].event), one[0].place.rank, one[0].place.line))
    return [_row(str(number), *one, seen) for number, one in enumerate(every, 1)]


def _row(id: str, handler: Handler, why: str, seen: Seen) -> HookRow:
    tally = seen.tallies.get(handler.key, Tally())
    fault, closed = seen.troubles.get(handler.key), bool(why)
    if why:
        state = UNTRUSTED if why == UNTRUSTING else OFF
    elif handler.key in seen.off and handler.place.origin != "managed":
        state, why = OFF, "switched off for this session"
    elif handler.broken or fault is not None:
        state, why = BROKEN, handler.broken or (fault.message if fault is not None else "")
    elif tally.last is not None and tally.last.failed and not tally.last.output.cancelled:
        state, why = FAILING, tally.last.answer.failure
    else:
        state = READY
    withheld = seen.withheld if handler.place.origin in SCRUBBED else ()
    return HookRow(
        id=id,
        handler=handler,
        state=state,
        why=why,
        closed=closed,
        tally=tally,
        withheld=withheld,
    )


def details(row: HookRow) -> list[tuple[str, str]]:
    """What one wants to know of one of them."""
    handler, said = row.handler, row.handler.said
    facts = [
        ("Event", handler.event),
        ("Kind", handler.kind),
        ("Matcher", row.matcher or "all"),
        ("If", said.condition),
        ("Does", handler.does),
        ("Written in", f"{handler.place.text()} ({handler.place.origin})"),
        ("Time limit", f"{handler.timeout:g} s"),
        ("Strict", "a failure blocks" if handler.strict else ""),
        ("Withheld", ", ".join(row.withheld)),
        ("State", f"{row.state}: {row.why}" if row.why else row.state),
        ("Runs", row.times),
    ]
    if (last := row.tally.last) is not None:
        exit = last.output.exit
        facts += [("Exit", "" if exit is None else str(exit)), ("Answer", answered(row))]
    return [(name, value) for name, value in facts if value]


def answered(row: HookRow) -> str:
    """The last answer as it was understood."""
    from gatewright.agent.hooks.shown.trial import understanding  # noqa: PLC0415  they know each other

    return understanding(row.tally.last) if row.tally.last is not None else ""
