"""A server that is alive and gives nothing cannot hold a turn: pings are no progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import pytest

from gatewright.agent.models.model import OpenModel
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.record.events import RetryScheduled, TextDelta, TurnEnded
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.request import RequestFrame
from gatewright.agent.turn.stop import Stop
from tests.fakes.house import house
from tests.fakes.recorder import Recorder
from tests.fakes.waiting import PATIENCE

OK = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n"
STARTED = (
    b'data: {"type":"message_start","message":{"id":"m","usage":{}}}\n\n'
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
)
PING = b'event: ping\ndata: {"type":"ping"}\n\n'
EMPTY = (
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}\n\n'
)
WORD = EMPTY.replace(b'"text":""', b'"text":"a "')
END = (
    b'data: {"type":"content_block_stop","index":0}\n\n'
    b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}\n\n'
    b'data: {"type":"message_stop"}\n\n'
)
ALIVE = {"comments": b": here\n\n", "pings": PING, "empty deltas": EMPTY, "starts": STARTED}


class Dripping:
    """Answers with a head, then the piece again and again, and at last the end."""

    def __init__(self, head: bytes, piece: bytes, times: int = 10_000) -> None:
        self._head = head
        self._piece = piece
        self._times = times
        self.requests = 0
        self._tasks: list[asyncio.Task[None]] = []

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.append(asyncio.ensure_future(self._answer(reader, writer)))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            self.requests += 1
            writer.write(self._head)
            for _ in range(self._times):
                writer.write(self._piece)
                await writer.drain()
                await asyncio.sleep(0.01)
            writer.write(WORD + END)
        writer.close()

    async def gone(self) -> None:
        """The client hung up each time, and nothing is left of it."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*self._tasks)


@asynccontextmanager
async def talking(served: Dripping, limits: Limits) -> AsyncGenerator[Recorder]:
    def open_model(name: str, effort: str) -> OpenModel:
        env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k"}
        opened = open_provider("anthropic/fake", settings={}, env=env)
        frame = RequestFrame(model=opened.model, system=(), tools=(), max_output=9, raised_output=9)
        return OpenModel(
            name=name, provider=opened.provider, frame=frame, window=1000, price=lambda _: 0.0
        )

    server = await asyncio.start_server(served.accept, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with (
        house("", limits=limits, open_model=open_model) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("go")
        yield seen
        await served.gone()
    server.close()


@pytest.mark.parametrize("kind", ALIVE)
async def test_signs_of_life_alone_end_the_turn_at_the_limit(kind: str) -> None:
    served = Dripping(OK + b"\r\n" + STARTED, ALIVE[kind])
    async with talking(served, Limits(silence=5, patience=0.3)) as seen:
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.MODEL_ERROR
        assert "nothing but signs of life" in ended.message
        assert "patienceMinutes" in ended.message
        assert seen.of(RetryScheduled) == []  # it would only do the same again
    assert served.requests == 1


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (OK + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"x: y\r\n"),
        (OK + b"\r\ndata: ", b"x"),
    ],
    ids=["informational answers", "trailers", "half a line"],
)
async def test_what_is_no_answer_at_all_counts_as_silence(head: bytes, piece: bytes) -> None:
    async with talking(Dripping(head, piece), Limits(silence=0.2, patience=60)) as seen:
        ended = await seen.until(TurnEnded)
        assert ended.message == "The model sent nothing for 0 s. Given up after 3 tries."


async def test_a_model_that_thinks_behind_pings_is_waited_for() -> None:
    served = Dripping(OK + b"\r\n" + STARTED, PING, times=60)
    async with talking(served, Limits(silence=0.3, patience=60)) as seen:
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.COMPLETED
        assert [event.text for event in seen.of(TextDelta)] == ["a "]


async def test_content_now_and_then_is_progress() -> None:
    served = Dripping(OK + b"\r\n" + STARTED, WORD, times=60)
    async with talking(served, Limits(silence=5, patience=0.3)) as seen:
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.COMPLETED
