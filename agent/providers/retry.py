"""The one retry policy: which failures are worth another try, and how long to wait before it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gatewright.agent.errors import FailureKind, ModelLoading, ProviderError

TRANSIENT = frozenset({FailureKind.RATE, FailureKind.OVERLOADED, FailureKind.TRANSPORT})


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. `total` bounds all waits of one request, `reset` where the server says how long.

    Most faults are over at once, so the first tries come soon: five in a row take about 6 seconds.
    """

    attempts: int = 12
    total: float = 300.0
    reset: float = 600.0
    first: float = 0.2
    patient: float = 1.0  # the first where there were too many requests, or a model is loaded
    longest: float = 32.0
    loading: float = 600.0  # for a server that loads its model
    look: float = 10.0  # how often it is asked then, at the rarest


class Backoff:
    """Doubling waits with jitter; what the server asks for is a lower bound.

    Call it with the failure and the number of attempts made so far: seconds, or None to give up.
    Attempt 1 begins a new request.
    """

    def __init__(self, policy: RetryPolicy, *, random: Callable[[], float]) -> None:
        self._policy = policy
        self._random = random
        self._waited = 0.0
        self._loaded = 0.0

    def __call__(self, error: ProviderError, attempt: int) -> float | None:
        policy = self._policy
        if isinstance(error, ModelLoading):
            return self._until_loaded(attempt)
        if attempt <= 1:
            self._waited = 0.0
        if error.kind not in TRANSIENT or attempt >= policy.attempts:
            return None
        wait = self._wait(error, attempt) if error.waits is None else error.waits
        if self._waited + wait > (policy.reset if error.retry_after else policy.total):
            return None
        self._waited += wait
        return wait

    def _wait(self, error: ProviderError, attempt: int) -> float:
        policy = self._policy
        first = policy.patient if error.kind is FailureKind.RATE else policy.first
        step = min(policy.longest, first * 2.0 ** (attempt - 1))
        return max(step * (0.75 + 0.5 * self._random()), error.retry_after or 0.0)

    def _until_loaded(self, attempt: int) -> float | None:
        """Nothing is wrong, it only takes its time: no jitter, and no number of tries."""
        policy = self._policy
        if attempt <= 1:
            self._loaded = 0.0
        wait = min(policy.look, policy.patient * 2.0 ** min(attempt - 1, 10))
        if self._loaded + wait > policy.loading:
            return None
        self._loaded += wait
        return wait
