"""What `agent ps` shows of background sessions: a table for people, JSON for programs.

Loads nothing but what reads records: it is asked often.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.autonomy.running.known_sessions import SHORT, look
from gatewright.agent.autonomy.running.running_record import Record, Seen
from gatewright.agent.text.money import dollars
from gatewright.agent.text.printable import visible

NONE = "Nothing runs in the background."
ENDED = "{count} ended: agent ps --all lists them."
BEGIN = 'agent bg "PROMPT" begins one.'
UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One session, for programs."""

    id: str
    live: bool
    state: str
    why: str
    ask: str
    title: str
    cwd: str
    cost: float
    viewers: int
    began: float
    changed: float
    pid: int
    mode: str
    model: str
    transcript: str


def show(home: Path, *, all_: bool, as_json: bool) -> None:
    every = look(home, time.time())
    shown = every if all_ else [each for each in every if each.live]
    if as_json:
        rows = [_row(each) for each in shown]
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(rows)).decode() + "\n")
        return
    for line in lines(shown, time.time()):
        sys.stdout.write(visible(f"{line}\n"))
    if not shown:
        sys.stdout.write(f"{NONE} {BEGIN}\n")
    if (ended := len(every) - len(shown)) > 0:
        sys.stdout.write(ENDED.format(count=ended) + "\n")


def lines(shown: Sequence[Seen], now: float) -> Iterator[str]:
    """Two lines each: what it is at, and what it is about."""
    for each in shown:
        record = each.record
        ended = "" if each.live else "ended "
        looks = f"  {record.viewers} look" if record.viewers else ""
        cost = f"  {dollars(record.cost)}" if record.cost else ""
        when = f"{ended}{since(now - (record.changed if record.ended else record.began))}"
        yield f"{record.id[:SHORT]}  {record.state:<11}  {when:>10}{cost}{looks}  {record.cwd}"
        yield f"    {about(record)}"


def about(record: Record) -> str:
    if record.ask:
        return f"asks: {record.ask}"
    return f"{record.title}: {record.why}" if record.why else record.title


def since(seconds: float) -> str:
    """In one unit."""
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return "now"


def _row(found: Seen) -> Row:
    record = found.record
    values = msgspec.structs.asdict(record)
    known = {name: values[name] for name in Row.__struct_fields__ if name in values}
    return Row(live=found.live, **known)
