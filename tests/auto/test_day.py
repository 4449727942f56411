"""A recorded working day: few of its calls reach a judge, and a check sends little that is new."""

from __future__ import annotations

from tests.bench.auto import prefix, share


def test_most_calls_of_a_day_reach_no_judge() -> None:
    assert share().good, share().line()


def test_a_check_sends_again_what_the_last_one_sent() -> None:
    for figure in prefix():
        assert figure.good, figure.line()
