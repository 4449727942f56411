"""Answers of several who listen merge one way, and a turn goes on while something is missing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gatewright.tools import moments
from gatewright.tools.moments import TurnWouldEnd, Verdict, Word, merged
from tests.fakes.house import house


@pytest.mark.parametrize(
    ("words", "wins"),
    [
        (("", "allow"), "allow"),
        (("allow", "ask"), "ask"),
        (("ask", "defer"), "defer"),
        (("defer", "deny"), "deny"),
        (("deny", "stop", "allow"), "stop"),
        (("", ""), ""),
    ],
)
def test_the_strictest_word_wins(words: Sequence[Word], wins: Word) -> None:
    said = [Verdict(word=word, text=word, context=(f"by {n}",)) for n, word in enumerate(words)]
    both = merged(said)
    assert both.word == wins
    assert both.text == wins
    assert both.context == tuple(f"by {n}" for n in range(len(words)))


def test_of_several_rewrites_the_first_counts() -> None:
    both = merged([Verdict(), Verdict(input={"a": 1}, output="x"), Verdict(input={"a": 2})])
    assert (both.input, both.output) == ({"a": 1}, "x")


class Insisting:
    def __init__(self, until: int) -> None:
        self.until, self.asked = until, list[int]()

    async def at(self, moment: moments.Moment) -> Verdict:
        if isinstance(moment, TurnWouldEnd):
            self.asked.append(moment.again)
            if len(self.asked) <= self.until:
                return Verdict(word="deny", text="Run the tests first.")
        return Verdict()


@pytest.mark.parametrize(("until", "answers"), [(0, 1), (2, 3), (99, 9)])
async def test_a_turn_goes_on_while_somebody_says_what_is_missing_eight_times_at_most(
    until: int, answers: int
) -> None:
    listening = Insisting(until)
    async with house("say: done\n---\n" * 10, moments=listening) as made:
        made.session.submit("go")
        await made.session.idle()
    assert listening.asked == list(range(answers))
    assert len(made.provider.requests) == answers
    assert str(made.talk.view()).count("Run the tests first.") == answers - 1
