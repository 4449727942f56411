"""A recorded working day: few of its calls reach a judge, and a server has most of each check."""

from __future__ import annotations

from tests.bench.auto import day, reaches, share
from tests.bench.auto_day import figures


def test_most_calls_of_a_day_reach_no_judge() -> None:
    assert share().good, share().line()


def test_a_server_has_most_of_a_check_from_the_one_before() -> None:
    calls = [(call["tool"], call["input"], reaches(call)) for call in day()]
    for figure in figures(calls):
        assert figure.good, figure.line()
