"""Streams as servers really send them, where they depart from the documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatewright.agent.providers.apis.anthropic_events import Echo, MessagesReader
from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.apis.openai_chat_events import ChatReader
from gatewright.agent.providers.apis.openai_chat_request import Bodies
from gatewright.agent.providers.apis.openai_responses_events import ResponsesReader
from gatewright.agent.providers.catalog import ModelFacts
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    Piece,
    Request,
    StopReason,
)
from gatewright.agent.providers.quirks import Quirks
from gatewright.agent.providers.streams.sse import Sse
from gatewright.agent.record.messages import (
    AssistantPart,
    AssistantTurn,
    CallPart,
    TextPart,
    ThinkingPart,
    Usage,
)
from gatewright.agent.turn.answer_stream import Assembly

Json = dict[str, Any]


def feed(reader: EventReader, *events: Json | str) -> list[Piece]:
    pieces: list[Piece] = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        pieces += reader.feed(Sse("", data.encode()))
    return [*pieces, *reader.end()]


def assembled(pieces: list[Piece]) -> Assembly:
    assembly = Assembly(frozenset())
    for piece in pieces:
        assembly.add(piece)
    return assembly


def chat(*deltas: Json, finish: str = "stop", **last: Any) -> Assembly:
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end: Json = {"id": "c", "choices": [{"delta": {}, "finish_reason": finish}], **last}
    return assembled(feed(ChatReader("m", "x"), *chunks, end, "[DONE]"))


def call(index: int | None, arguments: Any = "", *, id: str = "", name: str = "") -> Json:
    function: Json = {"arguments": arguments}
    found: Json = {"function": function}
    if index is not None:
        found["index"] = index
    if id:
        found["id"] = id
    if name:
        function["name"] = name
    return found


def calls(*each: Json) -> Json:
    return {"tool_calls": list(each)}


A, B = CallPart("a", "Read", {"x": 1}), CallPart("b", "Grep", {"y": 2})


@pytest.mark.parametrize(
    "deltas",
    [
        # one after the other
        [calls(call(0, '{"x"', id="a", name="Read")), calls(call(0, ":1}")),
         calls(call(1, '{"y":', id="b", name="Grep")), calls(call(1, "2}"))],
        # at once
        [calls(call(0, '{"x":1}', id="a", name="Read"), call(1, '{"y":2}', id="b", name="Grep"))],
        # interleaved
        [calls(call(0, '{"x"', id="a", name="Read")), calls(call(1, '{"y"', id="b", name="Grep")),
         calls(call(0, ":1}")), calls(call(1, ":2}"))],
        # begun together, the arguments crosswise
        [calls(call(0, id="a", name="Read"), call(1, id="b", name="Grep")),
         calls(call(1, '{"y":2}')), calls(call(0, '{"x":1}'))],
        # no index at all
        [calls(call(None, '{"x"', id="a", name="Read")), calls(call(None, ":1}")),
         calls(call(None, '{"y":2}', id="b", name="Grep"))],
        # no index, but the id every time
        [calls(call(None, '{"x"', id="a", name="Read")), calls(call(None, ":1}", id="a")),
         calls(call(None, '{"y":2}', id="b", name="Grep"))],
        # every call has index 0
        [calls(call(0, '{"x":1}', id="a", name="Read")),
         calls(call(0, '{"y":2}', id="b", name="Grep"))],
        # arguments as an object
        [calls(call(0, {"x": 1}, id="a", name="Read")),
         calls(call(1, {"y": 2}, id="b", name="Grep"))],
        # id and name again in every piece
        [calls(call(0, '{"x"', id="a", name="Read")), calls(call(0, ":1}", id="a", name="Read")),
         calls(call(1, '{"y":2}', id="b", name="Grep"))],
        # empty text in between
        [calls(call(0, '{"x":1}', id="a", name="Read")), {"content": ""},
         calls(call(1, '{"y":2}', id="b", name="Grep")), {"content": None}],
    ],
    ids=["in turn", "at once", "interleaved", "crosswise", "no index", "ids for index",
         "all index 0", "objects", "repeated heads", "empty text"],
)  # fmt: skip
def test_two_calls_however_they_come(deltas: list[Json]) -> None:
    answer = chat(*deltas, finish="tool_calls")
    assert (answer.parts, answer.reason) == ((A, B), StopReason.CALLS)


def test_calls_never_interleave_in_pieces() -> None:
    pieces = feed(
        ChatReader("m", "x"),
        {"choices": [{"delta": calls(call(0, '{"x"', id="a", name="Read"))}]},
        {"choices": [{"delta": calls(call(1, '{"y":2}', id="b", name="Grep"))}]},
        {"choices": [{"delta": calls(call(0, ":1}"))}]},
        {"choices": [{"delta": {"content": "words"}}]},
        "[DONE]",
    )
    shape = [
        type(piece) for piece in pieces if isinstance(piece, CallStarted | InputPiece | BlockEnded)
    ]
    first = [CallStarted, InputPiece, InputPiece, BlockEnded]
    assert shape == [*first, CallStarted, InputPiece, BlockEnded, BlockEnded]
    assert assembled(pieces).parts == (A, B, TextPart("words"))


def test_words_behind_a_call_that_never_ends_are_not_lost() -> None:
    answer = chat(calls(call(0, '{"x"', id="a", name="Read")), {"content": "late"})
    broken = CallPart("a", "Read", {}, malformed='{"x"')
    assert answer.parts == (broken, TextPart("late"))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_under_its_two_names(field: str) -> None:
    answer = chat({field: "Hm"}, {field: "m."}, {"content": "Yes."})
    assert answer.parts == (ThinkingPart("Hmm."), TextPart("Yes."))


def test_reasoning_details_are_put_together_and_kept_as_they_came() -> None:
    def detail(**fields: Any) -> Json:
        return {"type": "reasoning.text", "index": 0, **fields}

    answer = chat(
        {"reasoning": "Let ", "reasoning_details": [detail(text="Let ", signature=None)]},
        {"reasoning": "me.", "reasoning_details": [detail(text="me.")]},
        {"reasoning_details": [detail(signature="sig")]},
        {"content": "Yes."},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "xyz", "index": 1}]},
    )
    thinking = [part for part in answer.parts if isinstance(part, ThinkingPart)]
    assert "".join(part.text for part in thinking) == "Let me."
    kept = [json.loads(part.opaque) for part in thinking if part.opaque]
    assert kept == [
        [
            {"type": "reasoning.text", "index": 0, "text": "Let me.", "signature": "sig"},
            {"type": "reasoning.encrypted", "data": "xyz", "index": 1},
        ]
    ]


def test_what_a_call_was_signed_with_goes_back_with_it() -> None:
    signed = {"google": {"thought_signature": "abc"}}
    first = {**call(0, '{"x":1}', id="a", name="Read"), "extra_content": signed}
    answer = chat(calls(first), calls(call(1, '{"y":2}', id="b", name="Grep")))
    assert answer.parts[:2] == (A, B)
    quirks = Quirks(reasoning_back="extra_content", call_extra={"google": "none"})
    turn = AssistantTurn(answer.parts, "m")
    foreign = AssistantTurn((A, B), "n")
    request = Request(model="m", system=(), tools=(), turns=(turn, foreign), max_output=9)
    body = Bodies().body(request, ModelFacts(), quirks)
    sent = [m["tool_calls"] for m in body["messages"] if "tool_calls" in m]
    assert [[made.get("extra_content") for made in message] for message in sent] == [
        [signed, None],
        [{"google": "none"}, None],
    ]


def test_content_in_parts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    answer = chat({"content": [thought]}, {"content": [{"type": "text", "text": "Yes."}]})
    assert answer.parts == (ThinkingPart("Hm."), TextPart("Yes."))


@pytest.mark.parametrize(
    ("last", "usage"),
    [
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 2}}, Usage(10, 2)),
        (
            {
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 1},
                }
            },
            Usage(2, 2, 7, 1),
        ),
        ({"usage": {"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}}, Usage(6, 0, 4)),
        ({"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}}, Usage(3, 1)),
        ({"usage": {"prompt_tokens": -5, "completion_tokens": "many"}}, Usage()),
        ({"usage": None}, Usage()),
    ],
)
def test_usage_in_its_shapes(last: Json, usage: Usage) -> None:
    assert chat({"content": "x"}, **last).usage == usage


@pytest.mark.parametrize(
    ("finish", "reason", "detail"),
    [
        ("stop", StopReason.END, ""),
        ("tool_calls", StopReason.CALLS, ""),
        ("length", StopReason.LENGTH, ""),
        ("content_filter", StopReason.REFUSAL, ""),
        ("banana", StopReason.OTHER, "banana"),
    ],
)
def test_finish_reasons(finish: str, reason: StopReason, detail: str) -> None:
    answer = chat({"content": "x"}, finish=finish)
    assert (answer.reason, answer.detail) == (reason, detail)


def test_a_refusal_is_told() -> None:
    answer = chat({"refusal": "I won't "}, {"refusal": "do that."})
    assert (answer.reason, answer.detail) == (StopReason.REFUSAL, "I won't do that.")


# ---- Messages API


def messages(*events: Json) -> Assembly:
    return assembled(feed(MessagesReader("m", "x"), *events))


def start(block: Json, index: int = 0) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(kind: str, **fields: Any) -> Json:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **fields}}


STOP: Json = {"type": "content_block_stop", "index": 0}
END: Json = {"type": "message_stop"}


def stopped(reason: str, **fields: Any) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **fields}, "usage": {}}


def test_a_stream_without_its_frame() -> None:
    answer = messages(start({"type": "text", "text": ""}), delta("text_delta", text="hi"), END)
    assert (answer.parts, answer.reason) == ((TextPart("hi"),), StopReason.END)


def test_a_block_that_is_not_closed_is_closed_by_the_next() -> None:
    answer = messages(
        start({"type": "text", "text": ""}),
        delta("text_delta", text="hi"),
        start({"type": "tool_use", "id": "a", "name": "Read", "input": {}}, 1),
        delta("input_json_delta", partial_json='{"x":1}'),
        END,
    )
    assert answer.parts == (TextPart("hi"), A)


def test_input_at_the_start_counts_only_without_deltas() -> None:
    given = {"type": "tool_use", "id": "a", "name": "Read", "input": {"x": 1}}
    assert messages(start(given), STOP, END).parts == (A,)
    again = delta("input_json_delta", partial_json='{"x":1}')
    assert messages(start(given), again, STOP, END).parts == (A,)


@pytest.mark.parametrize(
    ("events", "part"),
    [
        (
            [start({"type": "thinking", "thinking": "", "signature": ""}),
             delta("thinking_delta", thinking="Hm"), delta("signature_delta", signature="s"), STOP],
            ThinkingPart("Hm", "s"),
        ),
        (
            [start({"type": "thinking", "thinking": "Hm", "signature": "s"}), STOP],
            ThinkingPart("Hm", "s"),
        ),
        (
            [start({"type": "thinking", "thinking": "", "signature": ""}),
             delta("signature_delta", signature="s"), STOP],
            ThinkingPart("", "s"),
        ),
        (
            [start({"type": "redacted_thinking", "data": "xyz"}), STOP],
            ThinkingPart("", "xyz", redacted=True),
        ),
    ],
)  # fmt: skip
def test_thinking_comes_with_its_signature(events: list[Json], part: AssistantPart) -> None:
    text = [start({"type": "text", "text": "a"}), STOP]
    assert messages(*events, *text, END).parts == (part, TextPart("a"))


def test_blocks_of_the_servers_own_tools_are_passed_over() -> None:
    answer = messages(
        start({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        delta("input_json_delta", partial_json='{"query":"x"}'),
        STOP,
        start({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
        STOP,
        start({"type": "text", "text": ""}),
        delta("text_delta", text="Found."),
        delta("citations_delta", citation={}),
        STOP,
        END,
    )
    assert answer.parts == (TextPart("Found."),)


@pytest.mark.parametrize(
    ("event", "finished"),
    [
        (stopped("end_turn"), Finished(StopReason.END)),
        (stopped("stop_sequence"), Finished(StopReason.END)),
        (stopped("tool_use"), Finished(StopReason.CALLS)),
        (stopped("max_tokens"), Finished(StopReason.LENGTH)),
        (stopped("pause_turn"), Finished(StopReason.PAUSE)),
        (stopped("refusal"), Finished(StopReason.REFUSAL)),
        (
            stopped("refusal", stop_details={"category": "cyber", "explanation": "Not this."}),
            Finished(StopReason.REFUSAL, "Not this."),
        ),
        (
            stopped("refusal", stop_details={"category": "cyber"}),
            Finished(StopReason.REFUSAL, "cyber"),
        ),
        (stopped("banana"), Finished(StopReason.OTHER, "banana")),
    ],
)
def test_stop_reasons_of_messages(event: Json, finished: Finished) -> None:
    for tail in ([END], []):
        assert feed(MessagesReader("m", "x"), event, *tail)[-1] == finished


def test_later_counts_replace_only_what_they_name() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1}
    answer = messages(
        {"type": "message_start", "message": {"id": "m", "usage": usage}},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9}},
        END,
    )
    assert answer.usage == Usage(input=5, output=9, cache_read=100)


def test_nothing_counts_behind_the_end() -> None:
    answer = messages(start({"type": "text", "text": "a"}), STOP, END, start({"type": "text"}), END)
    assert answer.parts == (TextPart("a"),)


# ---- Responses


def test_two_items_at_once() -> None:
    def item(index: int, id: str, name: str) -> Json:
        call = {"type": "function_call", "call_id": id, "name": name, "arguments": ""}
        return {"type": "response.output_item.added", "output_index": index, "item": call}

    def arguments(index: int, text: str) -> Json:
        kind = "response.function_call_arguments.delta"
        return {"type": kind, "output_index": index, "delta": text}

    def done(index: int, id: str, name: str, text: str) -> Json:
        call = {"type": "function_call", "call_id": id, "name": name, "arguments": text}
        return {"type": "response.output_item.done", "output_index": index, "item": call}

    pieces = feed(
        ResponsesReader("m", "x"),
        item(0, "a", "Read"),
        item(1, "b", "Grep"),
        arguments(1, '{"y":2}'),
        arguments(0, '{"x":1}'),
        done(1, "b", "Grep", '{"y":2}'),
        done(0, "a", "Read", '{"x":1}'),
        {"type": "response.completed", "response": {"status": "completed"}},
    )
    assert assembled(pieces).parts == (A, B)


def test_parts_of_a_summary_stand_apart() -> None:
    def summary(text: str, part: int) -> list[Json]:
        at = {"output_index": 0, "summary_index": part}
        return [
            {"type": "response.reasoning_summary_part.added", **at},
            {"type": "response.reasoning_summary_text.delta", "delta": text, **at},
        ]

    whole = {"type": "reasoning", "id": "rs", "encrypted_content": "sealed"}
    answer = assembled(
        feed(
            ResponsesReader("m", "x"),
            *summary("First.", 0),
            *summary("Second.", 1),
            {"type": "response.output_item.done", "output_index": 0, "item": whole},
            {"type": "response.output_text.delta", "output_index": 1, "delta": "Yes."},
            {"type": "response.completed", "response": {"status": "completed"}},
        )
    )
    thought = ThinkingPart("First.\n\nSecond.", "sealed", "rs")
    assert answer.parts == (thought, TextPart("Yes."))


@pytest.mark.parametrize(
    ("response", "finished"),
    [
        ({"status": "completed"}, Finished(StopReason.END)),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            Finished(StopReason.LENGTH),
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            Finished(StopReason.REFUSAL),
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "steered"}},
            Finished(StopReason.OTHER, "steered"),
        ),
    ],
)
def test_how_a_response_ends(response: Json, finished: Finished) -> None:
    kind = f"response.{response['status']}"
    last = feed(ResponsesReader("m", "x"), {"type": kind, "response": response})[-1]
    assert last == finished


# ---- words given twice


@pytest.mark.parametrize(
    ("start", "deltas", "whole"),
    [
        ("", ["a", "b"], "ab"),
        ("Hel", ["Hel", "lo"], "Hello"),
        ("Hello", ["Hel", "lo", " you"], "Hello you"),
        ("Hello", [], "Hello"),
        ("Hel", ["lo"], "Hello"),
        ("Hello", ["Help"], "HelloHelp"),
        ("ab", ["abab"], "abab"),
        ("Hello", ["Hel", "p"], "HelloHelp"),
        ("Hello", ["He", "l"], "Hello"),
        ("Hello", ["He", "", "llo"], "Hello"),
    ],
)
def test_words_of_the_start_are_given_once(start: str, deltas: list[str], whole: str) -> None:
    echo = Echo(start)
    assert "".join([*map(echo.delta, deltas), echo.end()]) == whole
