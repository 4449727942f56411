"""Whatever a server sends, a reader gives pieces or a named failure, and pieces stay in order."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewright.agent.errors import ProviderError
from gatewright.agent.providers.apis.anthropic_events import MessagesReader
from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.apis.openai_chat_events import ChatReader
from gatewright.agent.providers.apis.openai_responses_events import ResponsesReader
from gatewright.agent.providers.errors import failure_of
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    Piece,
    TextPiece,
    ThinkingPiece,
)
from gatewright.agent.providers.streams.sse import Sse, SseReader
from gatewright.agent.turn.answer_stream import Assembly
from tests.fakes.examples import many
from tests.fakes.scripted_provider import read_script
from tests.fakes.scripts import rendered

READERS: dict[str, Callable[[str, str], EventReader]] = {
    "/messages": MessagesReader,
    "/chat/completions": ChatReader,
    "/responses": ResponsesReader,
}
KEYS = [
    "type", "delta", "index", "content_block", "message", "usage", "choices", "tool_calls",
    "function", "arguments", "id", "name", "content", "text", "finish_reason", "item",
    "output_index", "response", "status", "output", "summary", "stop_reason", "input",
    "partial_json", "error",
    "reasoning_details", "extra_content", "incomplete_details", "stop_details", "signature",
]  # fmt: skip
WORDS = [
    "content_block_start", "content_block_delta", "content_block_stop", "message_start",
    "message_delta", "message_stop", "text", "text_delta", "tool_use", "input_json_delta",
    "thinking", "thinking_delta", "signature_delta", "response.created", "response.completed",
    "response.output_item.added", "response.output_item.done", "response.output_text.delta",
    "response.function_call_arguments.delta", "function_call", "reasoning", "stop", "{", "}", "",
]  # fmt: skip
leaves: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 5), st.sampled_from(WORDS), st.floats(allow_nan=False)
)
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)


def check_order(pieces: list[Piece]) -> None:
    """Input belongs to a call that began; nothing comes behind the end; a fold accepts it all."""
    inside = ""
    for number, piece in enumerate(pieces):
        match piece:
            case CallStarted():
                assert not inside
                inside = "call"
            case TextPiece() | ThinkingPiece():
                assert inside in ("", "words")
                inside = "words"
            case InputPiece():
                assert inside == "call"
            case BlockEnded():
                inside = ""
            case Finished():
                assert number == len(pieces) - 1
            case _:
                pass
    assembly = Assembly(frozenset())
    for piece in pieces:
        assembly.add(piece)


def collected(reader: EventReader, events: list[Sse]) -> list[Piece]:
    pieces: list[Piece] = []
    with suppress(ProviderError):
        for event in events:
            pieces.extend(reader.feed(event))
        pieces.extend(reader.end())
    return pieces


@pytest.mark.parametrize("api", READERS)
@settings(max_examples=many(300), deadline=None)
@given(events=st.lists(values, max_size=8))
def test_any_json(api: str, events: list[Any]) -> None:
    sent = [Sse("", json.dumps(event).encode()) for event in events]
    collected(READERS[api]("m", "x"), sent)


SCRIPT = (
    'think: Let me see.\nsay: Hello there.\ncall: Read {"x": 1}\ncall: Grep {"y": 2}\n'
    "say: More words.\nusage: in=5 out=6"
)


@pytest.mark.parametrize("api", READERS)
@settings(max_examples=many(150), deadline=None)
@given(data=st.data())
def test_events_lost_doubled_and_out_of_order(api: str, data: st.DataObject) -> None:
    wire = rendered(api, read_script(SCRIPT)[0])
    events = list(SseReader().feed(wire))
    order = data.draw(st.lists(st.sampled_from(range(len(events))), max_size=2 * len(events)))
    check_order(collected(READERS[api]("m", "x"), [events[number] for number in order]))


@pytest.mark.parametrize("api", READERS)
@settings(max_examples=many(200), deadline=None)
@given(body=st.dictionaries(st.sampled_from(KEYS), values, max_size=6))
def test_any_document(api: str, body: dict[str, Any]) -> None:
    try:
        pieces = list(READERS[api]("m", "x").whole(body))
    except ProviderError:
        return
    check_order(pieces)


@settings(max_examples=many(200), deadline=None)
@given(status=st.integers(100, 599), body=st.one_of(st.binary(max_size=80), values.map(json.dumps)))
def test_any_error(status: int, body: bytes | str) -> None:
    raw = body if isinstance(body, bytes) else body.encode()
    text = str(failure_of(status, {}, raw))
    assert 10 < len(text) < 700
    assert "Traceback" not in text
