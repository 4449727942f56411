"""The word ultracode: where it counts, what drops it, and the effort of that name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.text.ultracode import meant, spans, without
from gatewright.agent.workflows.opting_in import DECIDE, WANTED, OptIn
from gatewright.tools.access import Where
from gatewright.tui.prompt.keyword import Keyword

WHERE = Where(root=Path("/p"), cwd=Path("/p"), home=Path("/h"))


@pytest.mark.parametrize(
    "text",
    ["ultracode: x", "Do it. UltraCode!", "(ultracode)", "“ultracode”, please", "it's ultracode?",
     "`a` ultracode `b`", "a\nultracode\nb", "```\nx\n```\nultracode", "ultracode."],
)  # fmt: skip
def test_a_word_of_the_persons_counts(text: str) -> None:
    ((start, end),) = spans(text)
    assert text[start:end].lower() == "ultracode"
    assert not meant(without(text))


@pytest.mark.parametrize(
    "text",
    ["", "ultracodes", "an-ultracode", "ultracode-mode", "x/ultracode", "ultracode/x",
     "ultracode.py", "ultracode:now", "@ultracode", "#ultracode", "$ultracode", "--ultracode",
     "`ultracode`", "`a ultracode b`", "``ultracode``", "```\nultracode\n```", "~~~\nultracode",
     "C:\\ultracode", "ultracode\\x", "_ultracode_", "https://a.b/ultracode"],
)  # fmt: skip
def test_code_paths_and_names_do_not(text: str) -> None:
    assert not meant(text)


def keyword(*, there: bool = True) -> Keyword:
    made = Keyword()
    made.there = lambda: there
    return made


def test_dropped_for_one_message() -> None:
    word, text = keyword(), "ultracode do it"
    assert word.in_line([text], 0) == [(0, 9)] and word.typed(text) == text
    assert word.ends("ultracode", text) and not word.ends("ultracode ", text)
    assert word.drop(text) and not word.drop(text)
    assert word.in_line([text], 0) == () and not meant(word.typed(text))
    assert not word.ends("ultracode", text)
    word.saw("")
    assert word.in_line([text], 0) == [(0, 9)] and word.typed(text) == text


def test_lines_of_a_draft_are_looked_at_as_a_whole() -> None:
    lines = ["```", "ultracode", "```", "and ultracode"]
    assert [list(keyword().in_line(lines, row)) for row in range(4)] == [[], [], [], [(4, 13)]]


def test_where_there_are_no_workflows_it_is_a_word() -> None:
    word = keyword(there=False)
    assert word.in_line(["ultracode"], 0) == () and not word.drop("ultracode")
    word = keyword()
    word.wanted = False
    assert word.in_line(["ultracode"], 0) == ()


async def test_the_model_is_told_beside_the_message_and_of_the_effort() -> None:
    state, events = {"there": True, "counts": True}, list[Any]()
    opting = OptIn(lambda: state["there"], lambda: state["counts"], events.append)

    async def told(typed: str) -> list[str]:
        brought = await opting.brings(typed, typed, WHERE)
        return [part.text for content in brought for part in content]  # type: ignore[union-attr]

    assert await told("ultracode do it") == [WANTED] and await told("do it") == []
    state["counts"] = False
    assert await told("ultracode do it") == []
    assert opting.words().text == ""
    opting.switch(True)
    opting.switch(True)
    assert opting.words().text == DECIDE and [event.on for event in events] == [True]
    state["there"] = False
    assert not opting.ultracode and opting.words().text == ""
    state["there"] = True
    opting.switch(False)
    assert opting.words().text == "" and [event.on for event in events] == [True, False]
