"""The exit codes of the program and what each means."""

from __future__ import annotations

import enum

from gatewright.agent.errors import FailureKind, GatewrightError, ProviderError
from gatewright.agent.record.events import TurnEnded
from gatewright.agent.turn.stop import Stop


class Exit(enum.IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    BAD_INPUT = 42
    LIMIT = 53
    LOOP = 54
    TEMPORARY = 75
    SIGHUP = 129
    SIGINT = 130
    SIGPIPE = 141
    SIGTERM = 143


MEANINGS: tuple[tuple[Exit, str], ...] = (
    (Exit.OK, "done"),
    (Exit.ERROR, "an error, said on standard error"),
    (Exit.USAGE, "the command line is wrong"),
    (Exit.BAD_INPUT, "the input is wrong: empty, too large, not text, not the format asked for"),
    (Exit.LIMIT, "a limit was reached: --max-turns or --max-budget-usd"),
    (Exit.LOOP, "stopped because the model repeated itself"),
    (Exit.TEMPORARY, "try again: rate limit, overload or network"),
    (Exit.SIGINT, "interrupted (130), terminated (143), output closed (141), hung up (129)"),
)

TEMPORARY = frozenset({FailureKind.RATE, FailureKind.OVERLOADED, FailureKind.TRANSPORT})


class BadInput(GatewrightError):
    """What was given to work on cannot be used."""


class UsageError(GatewrightError):
    """The command line is wrong in a way only the composition root can know."""


def code_of(ended: TurnEnded) -> Exit:
    match ended.stop:
        case Stop.COMPLETED | Stop.USER_REFUSED | Stop.HOOK_STOPPED | Stop.TOOL_DEFERRED:
            return Exit.OK
        case Stop.MAX_TURNS | Stop.BUDGET_EXHAUSTED:
            return Exit.LIMIT
        case Stop.LOOP_GUARD:
            return Exit.LOOP
        case Stop.ABORTED_STREAMING | Stop.ABORTED_TOOLS:
            return Exit.SIGINT
        case _:
            return Exit.TEMPORARY if ended.failure in TEMPORARY else Exit.ERROR


def code_for(error: GatewrightError) -> Exit:
    match error:
        case BadInput():
            return Exit.BAD_INPUT
        case UsageError():
            return Exit.USAGE
        case ProviderError(kind=kind) if kind in TEMPORARY:
            return Exit.TEMPORARY
        case _:
            return Exit.ERROR
