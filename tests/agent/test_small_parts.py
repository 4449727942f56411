"""Inbox, guard, stream assembly and ids."""

from __future__ import annotations

import pytest

from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    MessageStarted,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.session.inbox import Inbox, Input, Priority
from gatewright.agent.turn.answer_stream import Assembly, parsed_call
from gatewright.agent.turn.loop_guard import NOTE_AT, STOP_AT, LoopGuard, Verdict
from gatewright.tools.protocol import TextContent, ToolCall


def item(text: str, priority: Priority = Priority.NEXT) -> Input:
    return Input(text, (TextContent(text),), priority)


def test_notices_never_overtake_the_person() -> None:
    inbox = Inbox()
    for entry in (
        item("notice", Priority.LATER),
        item("one"),
        item("two"),
        item("now", Priority.NOW),
    ):
        inbox.put(entry)
    assert inbox.texts() == ("now", "one", "two", "notice")
    assert [entry.text for entry in inbox.take_back()] == ["now", "one", "two"]
    assert [entry.text for entry in inbox.take()] == ["notice"]
    assert len(inbox) == 0


def verdicts(calls: list[tuple[str, str, bool]]) -> list[Verdict]:
    guard = LoopGuard()
    return [
        guard.saw(ToolCall("id", name, {}), (TextContent(result),), ok=ok)
        for name, result, ok in calls
    ]


def test_the_same_call_with_the_same_result_is_noted_then_stopped() -> None:
    seen = verdicts([("Read", "same", True)] * STOP_AT)
    assert seen[NOTE_AT - 1] is Verdict.NOTE
    assert seen[-1] is Verdict.STOP
    assert seen.count(Verdict.GO_ON) == STOP_AT - 2


def test_two_calls_in_turn_are_a_circle_too() -> None:
    seen = verdicts([("Read", "a", True), ("Grep", "b", True)] * STOP_AT)
    assert seen[-1] is Verdict.STOP


def test_the_same_error_from_different_calls_is_a_circle() -> None:
    seen = verdicts([(f"Tool{number}", "no such file", False) for number in range(5)])
    assert seen == [Verdict.GO_ON] * 4 + [Verdict.STOP]


def test_a_result_that_changes_is_progress() -> None:
    seen = verdicts([("TaskOutput", str(number), True) for number in range(50)])
    assert set(seen) == {Verdict.GO_ON}


def keyed(inputs: list[dict[str, str]], key: str | None, *, ok: bool) -> Verdict:
    guard = LoopGuard()
    result = (TextContent("the same"),)
    seen = [guard.saw(ToolCall("id", "T", each), result, ok=ok, key=key) for each in inputs]
    return seen[-1]


def test_a_tool_says_which_of_its_calls_are_the_same() -> None:
    reworded = [{"command": "make", "description": str(n)} for n in range(STOP_AT)]
    assert keyed(reworded, None, ok=True) is Verdict.GO_ON
    assert keyed(reworded, "make", ok=True) is Verdict.STOP


def test_polling_is_no_circle_but_failing_at_it_is() -> None:
    polls = [{"task_id": "b1"}] * 3 * STOP_AT
    assert keyed(polls, "", ok=True) is Verdict.GO_ON
    assert keyed(polls, "", ok=False) is Verdict.STOP


def test_a_message_is_assembled_from_its_pieces() -> None:
    assembly = Assembly(frozenset({"taken"}))
    for piece in (
        MessageStarted("m1", "model"),
        ThinkingPiece("hm"),
        ThinkingPiece(opaque="sig"),
        TextPiece("Hel"),
        TextPiece("lo"),
        BlockEnded(),
        CallStarted("taken", "Read"),
        InputPiece('{"a"'),
        InputPiece(":1}"),
        BlockEnded(),
        CallStarted("", "Read"),
        BlockEnded(),
        UsageReported(Usage(1, 2)),
        Finished(StopReason.CALLS),
    ):
        assembly.add(piece)
    thinking, text, first, second = assembly.parts
    assert thinking == ThinkingPart("hm", "sig")
    assert text == TextPart("Hello")
    assert isinstance(first, CallPart)
    assert isinstance(second, CallPart)
    assert (first.input, second.input) == ({"a": 1}, {})
    assert len({first.id, second.id, "taken", ""}) == 4
    assert (assembly.usage, assembly.reason) == (Usage(1, 2), StopReason.CALLS)


def test_a_cut_message_keeps_text_and_no_half_call() -> None:
    assembly = Assembly(frozenset())
    for piece in (TextPiece("Half"), CallStarted("c", "Bash"), InputPiece('{"command": "rm')):
        assembly.add(piece)
    assert assembly.partial() == (TextPart("Half"),)


@pytest.mark.parametrize("json", ["{", "[1]", '"x"', "null", '{"a":1}}', "nonsense"])
def test_arguments_that_are_no_object_are_kept_as_they_came(json: str) -> None:
    assert parsed_call("c", "Read", json) == CallPart("c", "Read", {}, malformed=json)


def test_ids_are_distinct_and_sort_by_time() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert ids[0][:8] <= ids[-1][:8]
    assert all(id[14] == "7" and id[19] in "89ab" for id in ids)
