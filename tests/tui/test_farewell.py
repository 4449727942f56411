"""What stays after leaving: the last answer with the question that it answers."""

from __future__ import annotations

from gatewright.tools.blocks import Text
from gatewright.tui.sessions.farewell import farewell
from gatewright.tui.transcript.items import Item, Note, Prose, Said, Shown, ToolRun

ONE: tuple[Item, ...] = (Said(1, "First?"), Prose(2, "One.", done=True))


def shown(*items: Item) -> str:
    return farewell(items, "s1").partition("\n\nGo on")[0]


def test_the_last_pair_is_shown() -> None:
    two = (Said(3, "Second?"), ToolRun(4, "c", "Read", "Read", "a"), Prose(5, "Two.", done=True))
    assert shown(*ONE, *two) == "> Second?\n\nTwo."


def test_a_command_of_the_screen_is_no_question() -> None:
    cost = (Said(3, "/cost"), Shown(4, "", (Text("$1"),)))
    assert shown(*ONE, *cost) == "> First?\n\nOne."
    assert shown(ONE[0], *cost, Prose(5, "One.", done=True)) == "> First?\n\nOne."


def test_an_answer_is_not_put_under_the_question_after_it() -> None:
    assert shown(*ONE, Said(3, "Second?"), Note(4, "Interrupted.")) == "> First?\n\nOne."


def test_where_nothing_was_answered_nothing_stays() -> None:
    assert farewell((Said(1, "First?"),), "s1") == ""


def test_words_stay_whole_on_a_narrow_terminal() -> None:
    text = "some more words follow the quick brown fox over and over again " * 3
    for columns in (30, 80):
        rows = farewell((Said(1, "hi"), Prose(2, text)), "s1", columns).splitlines()
        assert max(map(len, rows[:-2])) <= columns
        assert " ".join(rows[2:-3] + rows[-3:-2]).split() == text.split()
