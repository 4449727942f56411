"""The course of one feature, as a function: from what happened to what comes next.

Done only where its check and then the verification passed, with nothing in between; after two
repairs, or where nothing can be repaired, it is blocked with the reason.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

REPAIRS = 2
IN_A_ROW = 2  # blocked features after which a run pauses
Phase: TypeAlias = Literal["work", "check", "verify", "done", "blocked"]


class Passed(msgspec.Struct, frozen=True):
    """What was to be done in this phase was done, or seen to be true."""


class Failed(msgspec.Struct, frozen=True):
    """It was not: another attempt may help."""

    reason: str


class Refused(msgspec.Struct, frozen=True):
    """It cannot be done here: no attempt helps."""

    reason: str


Outcome: TypeAlias = Passed | Failed | Refused


class At(msgspec.Struct, frozen=True):
    """`reason` is why the attempt before failed, or why it is blocked."""

    phase: Phase = "work"
    repairs: int = 0
    reason: str = ""

    @property
    def over(self) -> bool:
        return self.phase in ("done", "blocked")


def after(at: At, outcome: Outcome, *, checks: bool) -> At:
    """`checks`: the feature has a command that shows some of it."""
    match outcome:
        case Refused(reason=reason):
            return At("blocked", at.repairs, reason)
        case Failed(reason=reason):
            if at.repairs >= REPAIRS:
                return At("blocked", at.repairs, reason)
            return At("work", at.repairs + 1, reason)
        case Passed():
            return At(_behind(at.phase, checks=checks), at.repairs)


def _behind(phase: Phase, *, checks: bool) -> Phase:
    match phase:
        case "work":
            return "check" if checks else "verify"
        case "check":
            return "verify"
        case "verify":
            return "done"
        case "done" | "blocked":
            return phase
