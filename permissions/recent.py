"""The last decisions of a session, kept so that a person can ask why."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from gatewright.permissions.context import Call, Context
from gatewright.permissions.decision import Decision, DecisionRecord, Deny, Stage
from gatewright.tools.blocks import Block, Table, Text

KEPT = 50
SHOWN = 10
LONGEST = 4000  # of one text in an input: what a file is given has no say in a decision
TARGET = 60
LINE = 400
JUDGE = "judge"  # as people are told of it everywhere


class Judged(msgspec.Struct, frozen=True):
    """A decision with all that it was made from."""

    call: Call
    context: Context
    decision: Decision


class Put(msgspec.Struct, frozen=True):
    """The question that a person has before them."""

    call_id: str
    agent: str
    judged: Judged


class Past(msgspec.Struct, frozen=True):
    """A decision for people; `serial` stays the same while further ones are made."""

    serial: int
    at: float
    tool: str
    target: str
    behavior: str
    by: str
    why: str


class Recent:
    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._kept: deque[tuple[DecisionRecord, Judged]] = deque(maxlen=KEPT)
        self._times: deque[float] = deque(maxlen=KEPT)
        self._count = 0
        self._now = now

    def add(self, record: DecisionRecord, judged: Judged) -> None:
        call = replace(judged.call, input=_shortened(judged.call.input))
        self._kept.append((record, replace(judged, call=call)))
        self._times.append(self._now())
        self._count += 1

    def judged(self) -> list[Judged]:
        """The newest first."""
        return [judged for _, judged in reversed(self._kept)]

    def past(self) -> list[Past]:
        """The newest first."""
        kept = zip(reversed(self._kept), reversed(self._times), strict=True)
        return [
            Past(
                self._count - n,
                at,
                r.tool,
                _line(r.target, LINE),
                r.behavior,
                ended(r),
                _line(_shown(judged) or r.reason, LINE),
            )
            for n, ((r, judged), at) in enumerate(kept)
        ]

    def explain(self, serial: int) -> Sequence[Block]:
        """Like `why`, of one that was shown. Raises ValueError when it is too old."""
        number = self._count - serial + 1
        if number > len(self._kept):
            raise ValueError("That was too long ago: it is not kept any more.")
        return self.why(number)

    def table(self) -> Table | None:
        """The newest first, with the numbers that `why` takes."""
        if not self._kept:
            return None
        newest = list(self._kept)[: -SHOWN - 1 : -1]
        rows = tuple(
            (str(number), record.behavior, record.tool, _line(record.target), ended(record))
            for number, (record, _) in enumerate(newest, 1)
        )
        return Table(("why", "decision", "tool", "target", "by"), rows)

    def why(self, number: int) -> Sequence[Block]:
        """Stage by stage, as it was decided then. Raises ValueError where there is none."""
        from gatewright.permissions.explain import trace  # noqa: PLC0415  lazy: only to explain

        if not 1 <= number <= len(self._kept):
            raise ValueError(
                f"There are {len(self._kept)} decisions to explain."
                if self._kept
                else "Nothing was decided yet."
            )
        record, judged = self._kept[-number]
        lines, _ = trace(judged.call, judged.context)
        said = (_line(record.reason, LINE), *_judged(record))
        return (
            Text(f"{record.tool} {_line(record.target, LINE)}: {record.behavior}, {ended(record)}"),
            Text("\n".join((*said, *lines)), "dim"),
        )


def ended(record: DecisionRecord) -> str:
    """Who or what settled it: the person's answer, else the rule, else the stage."""
    if record.answer:
        return f"you ({record.answer})" if record.answer != "cancelled" else "nobody answered"
    if record.rule:
        return f"{record.rule} ({record.source})"
    return JUDGE if record.stage == Stage.CLASSIFIER else record.stage


def _shown(judged: Judged) -> str:
    return judged.decision.shown if isinstance(judged.decision, Deny) else ""


def _judged(record: DecisionRecord) -> Sequence[str]:
    """Who judged it in a person's place, and what that took."""
    judged = record.judged
    if judged is None:
        return ()
    told = [judged.verdict or "no verdict", judged.label, judged.stage and f"{judged.stage} look"]
    told += ["as before" if judged.reused else f"{judged.ms} ms, {judged.tokens} tokens"]
    told += [f"${judged.cost:.4f}" if judged.cost else ""]
    return (f"Judged by {judged.model or 'nobody'}: {', '.join(filter(None, told))}.",)


def _line(text: str, most: int = TARGET) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _shortened(given: Mapping[str, object]) -> Mapping[str, object]:
    return {
        key: value[:LONGEST] if isinstance(value, str) else value for key, value in given.items()
    }
