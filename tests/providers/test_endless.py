"""Servers whose answers have no end, or no bottom: a clear sentence and bounded memory."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import chain, repeat
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.api import Client
from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.providers.apis.anthropic_events import MessagesReader
from gatewright.agent.providers.apis.event_reader import EventReader
from gatewright.agent.providers.apis.openai_chat_events import ChatReader
from gatewright.agent.providers.errors import failure_of
from gatewright.agent.providers.listing import list_models
from gatewright.agent.providers.presets import endpoint
from gatewright.agent.providers.protocol import (
    CallStarted,
    Finished,
    Piece,
    Request,
    StopReason,
    UsageReported,
)
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.providers.streams import answer_limits as limits
from gatewright.agent.providers.streams.foreign_json import Unreadable, decoded
from gatewright.agent.providers.streams.sse import Sse, SseReader
from gatewright.agent.providers.transport.http import DirectTransport
from gatewright.agent.record.events import AssistantMessage, RetryScheduled, ToolFinished, TurnEnded
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.agent.turn.answer_stream import parsed_call
from gatewright.agent.turn.stop import Stop
from tests.fakes.model_server import ModelServer

MIB = 1024 * 1024
GIB = 1024 * MIB
DEEP = 100_000
HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: "
SSE = HEAD + b"text/event-stream\r\n\r\n"
START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{}}}\n\n'
    b'data: {"type":"content_block_start","content_block":{"type":"text","text":""}}\n\n'
)


def delta(kind: str, field: str, size: int) -> bytes:
    """An event of so many characters."""
    inner = {"type": kind, field: "word " * (size // 5)}
    return (
        b"data: " + json.dumps({"type": "content_block_delta", "delta": inner}).encode() + b"\n\n"
    )


class Endless:
    """Answers every request with the head and then the piece, until a gigabyte is sent."""

    def __init__(self, head: bytes, piece: bytes) -> None:
        self._head = head
        self._piece = piece
        self.sent = 0
        self.requests = 0
        self.url = ""

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            self.requests += 1
            writer.write(self._head)
            while self.sent < GIB:
                writer.write(self._piece)
                await writer.drain()
                self.sent += len(self._piece)
        writer.close()


@asynccontextmanager
async def endless(head: bytes, piece: bytes) -> AsyncGenerator[Endless]:
    served = Endless(head, piece)
    server = await asyncio.start_server(served.accept, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()


def env(url: str) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url}


async def pieces(url: str) -> AsyncGenerator[Piece]:
    opened = open_provider("anthropic/claude-sonnet-5-5", settings={}, env=env(url))
    request = Request(model="m", system=(), tools=(), turns=(), max_output=9)
    try:
        async for piece in opened.provider.stream(request):
            yield piece
    finally:
        await opened.provider.close()


CALLS = (
    b'data: {"type":"content_block_start","content_block":{"type":"tool_use","name":"x"}}\n\n'
    b'data: {"type":"content_block_stop"}\n\n'
) * 500
ENDLESS = {
    "text": (SSE + START, delta("text_delta", "text", 50_000)),
    "thinking": (SSE + START, delta("thinking_delta", "thinking", 50_000)),
    "tool input": (SSE + START, delta("input_json_delta", "partial_json", 50_000)),
    "calls": (SSE + START, CALLS),
    "one line": (SSE, b"data: " + b"x" * 65_536),
    "one event": (SSE, (b"data: " + b"x" * 999 + b"\n") * 60),
    "empty lines of one event": (SSE, b"data:\n" * 10_000),
    "comments": (SSE, (b": " + b"x" * 5_000 + b"\n\n") * 10),
    "a document": (HEAD + b"application/json\r\n\r\n", b"[" + b"1," * 32_000),
    "compressed": (HEAD + b"text/event-stream\r\ncontent-encoding: gzip\r\n\r\n", b""),
}


def bomb() -> bytes:
    """Made where it is needed: half a second of work."""
    return gzip.compress(b"data: " + b"x" * (80 * MIB))


@pytest.mark.parametrize("kind", ENDLESS)
async def test_an_answer_without_an_end_is_ended(kind: str) -> None:
    head, body = ENDLESS[kind]
    body = body or bomb()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with endless(head, body) as server:
        with pytest.raises(ProviderError, match=r"more than (16|64) MiB") as caught:
            async for piece in pieces(server.url):
                del piece
        assert server.sent < 80 * MIB
    assert caught.value.kind is FailureKind.REFUSED, "asking again would be no better"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_that_say_nothing_cost_next_to_nothing(end: bytes) -> None:
    reader = SseReader()
    before = time.process_time()
    for _ in range(160):
        assert list(reader.feed(end * (MIB // 4))) == []
    assert time.process_time() - before < 5
    assert list(reader.feed(b"data: a" + end * 9)) == [Sse("", b"a")]


async def test_a_small_answer_that_stands_for_much_leaves_everybody_their_turn() -> None:
    much = gzip.compress(b"x" * (60 * MIB))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with endless(HEAD + b"text/plain\r\ncontent-encoding: gzip\r\n\r\n", much) as server:
        transport, counting = DirectTransport({}), asyncio.create_task(others())
        async with transport.send(server.url, {}, None) as answer:
            size = 0
            async for chunk in answer.chunks():
                if (size := size + len(chunk)) >= 50 * MIB:
                    break
        counting.cancel()
        await transport.close()
    assert turns > 180, "one for each piece"


async def test_a_header_without_an_end_is_ended() -> None:
    async with endless(b"HTTP/1.1 200 OK\r\n", b"x: " + b"y" * 1000 + b"\r\n") as server:
        with pytest.raises(ProviderError, match="header never ends"):
            await anext(pieces(server.url))
        assert server.sent < 4 * MIB


async def test_an_error_and_a_list_without_an_end_are_cut() -> None:
    head = HEAD.replace(b"200", b"400") + b"text/plain\r\n\r\n"
    async with endless(head, b"words " * 9_000) as server:
        with pytest.raises(ProviderError, match="refused the request"):
            await anext(pieces(server.url))
        assert server.sent < 8 * MIB
    async with endless(HEAD + b"application/json\r\n\r\n", b"[" * 65_536) as server:
        asked = endpoint("anthropic", {}, env(server.url))
        with pytest.raises(ProviderError, match="not JSON"):
            await list_models(asked, env(server.url))
        assert server.sent < 16 * MIB


def test_what_the_longest_answer_holds_is_far_below_the_limits() -> None:
    tokens = 128_000
    assert tokens * 300 < limits.STREAM
    assert tokens * 8 * 10 < limits.CONTENT
    assert limits.weight(CallStarted("", "")) * 1000 < limits.CONTENT


WORD = {"choices": [{"index": 0, "delta": {"content": "a"}}]}


def chunk(**delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta}]}


def argued(index: int, json: str) -> dict[str, object]:
    call = {"index": index, "id": f"c{index}", "function": {"name": "x", "arguments": json}}
    return chunk(tool_calls=[call])


def read_all(reader: EventReader, events: Iterable[object]) -> None:
    for event in events:
        for piece in reader.feed(Sse("", json.dumps(event).encode())):
            del piece


WORK: dict[str, tuple[Callable[[str, str], EventReader], Callable[[int], Iterator[object]]]] = {
    "words behind a call that is not complete": (
        ChatReader,
        lambda n: chain((argued(0, '{"a":"' + "x" * 400 * n),), repeat(WORD, n)),
    ),
    "words between the pieces of a call": (
        ChatReader,
        lambda n: (one for _ in range(n) for one in (argued(0, "[{" + "x" * 800), WORD)),
    ),
    "calls of which none is complete": (
        ChatReader,
        lambda n: (argued(index % 4000, "{") for index in range(n)),
    ),
    "details in pieces": (
        ChatReader,
        lambda n: repeat(chunk(reasoning_details=[{"type": "t", "text": "x" * 800}]), n),
    ),
    "words of a start": (
        MessagesReader,
        lambda n: chain(
            (
                {
                    "type": "content_block_start",
                    "content_block": {"type": "text", "text": "x" * 800 * n},
                },
            ),
            repeat(
                {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x" * 400}},
                n,
            ),
        ),
    ),
}


@pytest.mark.parametrize("kind", WORK)
def test_twice_as_much_is_no_more_than_twice_the_work(kind: str) -> None:
    make, events = WORK[kind]

    def seconds(size: int) -> float:
        reader = make("m", "x")
        before = time.process_time()
        read_all(reader, events(size))
        return time.process_time() - before

    seconds(500)
    few = min(seconds(2_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(2)) < few * 24


def begun(n: int) -> object:
    return argued(n, "{")


def detailed(n: int) -> object:
    return chunk(reasoning_details=[{"type": "t", "index": n}] * 2000)


@pytest.mark.parametrize("event", [begun, detailed])
def test_what_is_kept_and_not_shown_is_counted(event: Callable[[int], object]) -> None:
    reader = ChatReader("m", "x")
    with pytest.raises(limits.TooMuch):
        read_all(reader, map(event, range(20_000)))


def test_the_words_of_a_refusal_are_counted() -> None:
    assert limits.weight(Finished(StopReason.REFUSAL, "no" * 100)) == 200


@pytest.mark.parametrize("number", [10**19, 10**30, 2**63])
def test_a_count_that_no_file_holds_is_cut(number: int) -> None:
    usage = {"prompt_tokens": number, "completion_tokens": number}
    reader = ChatReader("m", "x")
    events = ({"usage": usage}, {"choices": [{"finish_reason": "stop"}]})
    pieces = [p for event in events for p in reader.feed(Sse("", json.dumps(event).encode()))]
    used = [piece.usage for piece in pieces if isinstance(piece, UsageReported)]
    assert msgspec.json.decode(msgspec.json.encode(used), type=list[Usage]) == used
    assert 10**9 < used[-1].output <= 10**12, "a sum of many fits, too"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[Callable[[str], Client]]:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()

    def made(url: str) -> Client:
        given = LaunchOptions(cwd=str(project), model="anthropic/claude-sonnet-5-5")
        return Client(given, env={"HOME": str(home), "PATH": "/usr/bin:/bin", **env(url)})

    yield made


async def test_the_turn_ends_and_what_came_first_is_kept(client: Callable[[str], Client]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with endless(SSE + START, delta("text_delta", "text", 5_000)) as server:
        async with client(server.url) as opened:
            events = [event async for event in opened.ask("go")]
        assert server.requests == 1
    ended = [event for event in events if isinstance(event, TurnEnded)]
    assert [event.stop for event in ended] == [Stop.MODEL_ERROR]
    assert "more than 16 MiB in one answer" in ended[0].message
    assert not any(isinstance(event, RetryScheduled) for event in events)
    (message,) = (event for event in events if isinstance(event, AssistantMessage))
    assert message.cut
    (part,) = message.parts
    assert isinstance(part, TextPart)
    assert part.text == ("word " * 20_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024


def deep_documents() -> Iterator[bytes]:
    for depth in (101, 900, DEEP):
        yield b"[" * depth + b"]" * depth
        yield b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize("document", list(deep_documents()), ids=lambda text: str(len(text)))
def test_deep_nesting_is_unreadable_wherever_it_is_read(document: bytes) -> None:
    with pytest.raises(Unreadable):
        decoded(document)
    assert failure_of(400, {}, document).kind is FailureKind.REFUSED
    call = parsed_call("a", "Read", document.decode())
    assert (call.input, call.malformed) == ({}, document.decode())


def test_wide_is_not_deep() -> None:
    assert decoded(b"[" + b"[]," * 5000 + b"1]")[-1] == 1


def deep(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


@pytest.mark.parametrize("depth", [900, DEEP])
@pytest.mark.parametrize("form", ["event", "document"])
async def test_a_deeply_nested_answer_is_a_failure_with_a_sentence(depth: int, form: str) -> None:
    body = b"data: " + deep(depth) + b"\n\n" if form == "event" else deep(depth)
    kind = b"text/event-stream" if form == "event" else b"application/json"
    head = HEAD + kind + b"\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with endless(head, body) as server:
        with pytest.raises(ProviderError, match="not readable") as caught:
            await anext(pieces(server.url))
    assert caught.value.kind is FailureKind.TRANSPORT


async def test_a_call_with_deeply_nested_input_fails_and_the_turn_goes_on(
    client: Callable[[str], Client],
) -> None:
    script = f"call: Read {deep(900).decode()}\n---\nsay: done\n"
    async with ModelServer(script) as server, client(server.url) as opened:
        events = [event async for event in opened.ask("go")]
    assert [event.ok for event in events if isinstance(event, ToolFinished)] == [False]
    assert [event.stop for event in events if isinstance(event, TurnEnded)] == [Stop.COMPLETED]
