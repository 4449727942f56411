"""Halves of characters in what a server sends: no failure, and nothing that no file can hold."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from gatewright.agent.errors import ProviderError
from gatewright.agent.providers.apis.anthropic_events import MessagesReader
from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.apis.openai_chat_events import ChatReader
from gatewright.agent.providers.apis.openai_responses_events import ResponsesReader
from gatewright.agent.providers.errors import failure_of
from gatewright.agent.providers.streams.foreign_json import Unreadable, decoded
from gatewright.agent.providers.streams.sse import Sse
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import AnyEvent, AssistantMessage, Envelope
from gatewright.agent.record.messages import CallPart, TextPart
from gatewright.agent.text.well_formed import Seam
from gatewright.agent.turn.answer_stream import Assembly, parsed_call

LOST = "\N{REPLACEMENT CHARACTER}"
ARGUMENTS = '{"path": "\\ud800", "\\udfff": ["x\\ud83d\\ude00"]}'


def placed(event: AnyEvent) -> Envelope:
    return Envelope(seq=1, uuid="u", parent="", timestamp=1.0, agent="main", event=event)


def anthropic(text: str) -> list[Any]:
    return [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}]


def chat(text: str) -> list[Any]:
    return [{"choices": [{"index": 0, "delta": {"content": text}}]}]


def responses(text: str) -> list[Any]:
    return [{"type": "response.output_text.delta", "output_index": 0, "delta": text}]


APIS: dict[str, tuple[Any, Any]] = {
    "anthropic": (MessagesReader, anthropic),
    "chat": (ChatReader, chat),
    "responses": (ResponsesReader, responses),
}


def shown(reader: EventReader, texts: list[str], made: Any) -> tuple[list[AnyEvent], Assembly]:
    assembly = Assembly(frozenset())
    events: list[AnyEvent] = []
    for text in texts:
        for event in made(text):
            for piece in reader.feed(Sse("", json.dumps(event).encode())):
                events += [found] if (found := assembly.add(piece)) else []
    return events, assembly


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("texts", "kept", "told"),
    [
        (["a \ud800 b"], f"a {LOST} b", f"a {LOST} b"),
        (["so \ud83d", "\ude00!"], "so 😀!", "so 😀!"),
        (["so \ud83d"], f"so {LOST}", "so "),
        (["\ud83d", "x"], f"{LOST}x", f"{LOST}x"),
    ],
)
def test_text_is_kept_and_shown_whole(api: str, texts: list[str], kept: str, told: str) -> None:
    kind, made = APIS[api]
    events, assembly = shown(kind("m", "x"), texts, made)
    assert assembly.partial() == (TextPart(kept),)
    lines = [wire.encode(placed(event), "s") for event in events]
    assert "".join(msgspec.json.decode(line)["text"] for line in lines) == told
    for event in events:
        msgspec.json.encode(event)  # a screen and a pipe can show it as it is


def test_arguments_are_well_formed() -> None:
    call = parsed_call("c", "Read", ARGUMENTS)
    assert call == CallPart("c", "Read", {"path": LOST, LOST: ["x😀"]})
    message = AssistantMessage(id="", model="m", parts=(call,))
    line = wire.encode(placed(message), "s")
    assert wire.decode(line).event == message


def test_a_failure_is_told_in_words_that_can_be_printed() -> None:
    body = b'{"error": {"type": "overloaded_error", "message": "Busy \\ud800 now"}}'
    str(failure_of(529, {}, body, who="x")).encode()
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy \ud83d"}}
    with pytest.raises(ProviderError) as caught:
        list(MessagesReader("m", "x").feed(Sse("error", json.dumps(event).encode())))
    str(caught.value).encode()


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": "\\ud800"',
        b'{"a": "\\ud800", "b": NaN}',
        b'{"a": "\\ud800 \xff"}',
        b'{"a": "\\ud800"} more',
        b'["\\ud800", ' + b"[" * 2000 + b"]" * 2000 + b"]",
        b'["\\ud800", ' + b"9" * 5000 + b"]",
    ],
)
def test_what_is_no_json_stays_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        decoded(data)


def test_halves_as_bytes_are_read_too() -> None:
    assert decoded(b'{"a": "x\xed\xa0\x80"}') == {"a": f"x{LOST}"}


def test_pieces_are_joined_at_their_seams() -> None:
    seam = Seam()
    assert [seam.add(text) for text in ("a\ud83d", "", "\ude00b", "", "c")] == [
        "a",
        "",
        "😀b",
        "",
        "c",
    ]


def details(**detail: Any) -> Any:
    return {"choices": [{"index": 0, "delta": {"reasoning_details": [detail]}}]}


def called(**call: Any) -> Any:
    whole = {"index": 0, "id": "a", **call}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [whole]}}]}


def opened(given: Any) -> Any:
    block = {"type": "tool_use", "id": "a", "name": "x", "input": given}
    return {"type": "content_block_start", "content_block": block}


HALF = {"a": "\ud800x"}
ENDS: dict[str, tuple[Any, list[Any]]] = {
    "details": (ChatReader, [details(type="t", text="\ud83d"), details(type="t", text="\ude00")]),
    "half a detail": (ChatReader, [details(type="t", text="\ud800", data=["\udfff"])]),
    "extra content": (
        ChatReader,
        [called(function={"name": "x", "arguments": "{}"}, extra_content=HALF)],
    ),
    "arguments": (ChatReader, [called(function={"name": "x", "arguments": HALF})]),
    "input": (MessagesReader, [opened(HALF), {"type": "message_stop"}]),
}


@pytest.mark.parametrize("where", ENDS)
def test_halves_in_what_is_written_as_json_again(where: str) -> None:
    made, events = ENDS[where]
    reader: EventReader = made("m", "x")
    assembly = Assembly(frozenset())
    for event in [*events, {"choices": [{"finish_reason": "stop"}]}]:
        for piece in reader.feed(Sse("", json.dumps(event).encode())):
            assembly.add(piece)
    for piece in reader.end():
        assembly.add(piece)
    message = AssistantMessage(id="m", model="m", parts=assembly.parts)
    stored = wire.encode(placed(message), "s")
    assert wire.decode(stored).event == message
    assert ("\N{GRINNING FACE}" if where == "details" else LOST).encode() in stored
