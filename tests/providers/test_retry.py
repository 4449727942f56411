from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.retry import Backoff, RetryPolicy

RETRIED = [FailureKind.RATE, FailureKind.OVERLOADED, FailureKind.TRANSPORT]


def failing(kind: FailureKind, after: float | None = None) -> ProviderError:
    return ProviderError(kind, "x", retry_after=after)


@pytest.mark.parametrize("kind", list(FailureKind))
def test_only_passing_failures_are_retried(kind: FailureKind) -> None:
    backoff = Backoff(RetryPolicy(), random=lambda: 0.5)
    assert (backoff(failing(kind), 1) is not None) == (kind in RETRIED)


def test_waits_double_and_end() -> None:
    backoff = Backoff(RetryPolicy(), random=lambda: 0.5)
    waits = [backoff(failing(FailureKind.OVERLOADED), attempt) for attempt in range(1, 14)]
    assert waits[:8] == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6])
    assert waits[8:] == [32.0, 32.0, 32.0, None, None]


@pytest.mark.parametrize("dice", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("kind", [FailureKind.OVERLOADED, FailureKind.TRANSPORT])
def test_most_faults_are_over_at_once(kind: FailureKind, dice: float) -> None:
    backoff = Backoff(RetryPolicy(), random=lambda: dice)
    waits = [backoff(failing(kind), attempt) or 0.0 for attempt in range(1, 6)]
    assert 0.1 <= waits[0] <= 0.25
    assert sum(waits) <= 8.0


def test_the_server_is_heard_but_not_for_ever() -> None:
    backoff = Backoff(RetryPolicy(), random=lambda: 0.5)
    assert backoff(failing(FailureKind.RATE, 20.0), 1) == 20.0
    assert backoff(failing(FailureKind.RATE, 0.0), 2) == 2.0
    assert backoff(failing(FailureKind.RATE, 3600.0), 3) is None


def test_a_new_request_starts_anew() -> None:
    backoff = Backoff(RetryPolicy(total=10.0, reset=20.0), random=lambda: 0.5)
    assert backoff(failing(FailureKind.RATE, 19.0), 1) == 19.0
    assert backoff(failing(FailureKind.RATE, 19.0), 2) is None
    assert backoff(failing(FailureKind.RATE, 19.0), 1) == 19.0
    assert backoff(failing(FailureKind.RATE), 2) is None, "nobody said that it would be long"


def test_the_queue_says_how_long_it_waits_itself() -> None:
    backoff = Backoff(RetryPolicy(), random=lambda: 0.5)
    failure = failing(FailureKind.RATE)
    failure.waits = 3.0
    assert backoff(failure, 1) == 3.0


@given(
    afters=st.lists(st.none() | st.floats(0, 1e6), min_size=20, max_size=20),
    dice=st.floats(0, 1, exclude_max=True),
)
def test_tries_and_time_are_bounded(afters: list[float | None], dice: float) -> None:
    policy = RetryPolicy()
    backoff = Backoff(policy, random=lambda: dice)
    waited = 0.0
    for attempt, after in enumerate(afters, start=1):
        wait = backoff(failing(FailureKind.RATE, after), attempt)
        if wait is None:
            break
        assert wait >= (after or 0.0)
        waited += wait
    else:
        pytest.fail("retries never end")
    assert attempt <= policy.attempts
    assert waited <= policy.reset
