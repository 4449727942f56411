"""Providers against a real server on the loopback interface."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    MessageStarted,
    Piece,
    Provider,
    Request,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.record.messages import Usage, UserTurn
from gatewright.tools.protocol import TextContent, ToolSpec
from tests.fakes.model_server import ModelServer
from tests.fakes.waiting import PATIENCE
from tests.providers.conftest import Open

ENDED = ("end", StopReason.END)
APIS = ["anthropic", "openai", "openai-responses"]
REQUEST = Request(
    model="some-model",
    system=("Be kind.",),
    tools=(ToolSpec("Read", "Reads.", {"type": "object", "properties": {}}),),
    turns=(UserTurn((TextContent("hello"),)),),
    max_output=1000,
)


async def collect(provider: Provider, request: Request = REQUEST) -> list[Piece]:
    async with aclosing(provider.stream(request)) as stream:
        return [piece async for piece in stream]


def told(pieces: list[Piece]) -> list[object]:
    """Pieces joined block by block: what matters is the same however the bytes were cut."""
    out: list[tuple[str, str]] = []
    for piece in pieces:
        match piece:
            case TextPiece(text=words):
                key = "say"
            case ThinkingPiece(text=words):
                key = "think"
            case InputPiece(json=words):
                key = out[-1][0]
            case CallStarted(name=name):
                out.append((name, ""))
                continue
            case Finished(reason=reason):
                out.append(("end", reason))
                continue
            case _:
                continue
        if out and out[-1][0] == key:
            out[-1] = (key, out[-1][1] + words)
        else:
            out.append((key, words))
    return [item for item in out if item[1]]


@pytest.mark.parametrize("api", APIS)
async def test_text_calls_thinking_and_usage(api: str, open_fake: Open) -> None:
    script = (
        "think: Let me think about that.\nsay: Hello wörld, how are you? 🎉\n"
        'call: Read {"file_path": "a.py"}\ncall: Grep {"pattern": "x+"}\n'
        "usage: in=7 out=30 cache_read=100 cache_write=20"
    )
    async with ModelServer(script) as server:
        pieces = await collect(open_fake(server, api).provider)
    assert told(pieces) == [
        ("think", "Let me think about that."),
        ("say", "Hello wörld, how are you? 🎉"),
        ("Read", '{"file_path": "a.py"}'),
        ("Grep", '{"pattern": "x+"}'),
        ("end", StopReason.CALLS),
    ]
    ids = {"anthropic": "msg_1", "openai": "chatcmpl-1", "openai-responses": "resp_1"}
    assert pieces[0] == MessageStarted(ids[api], "some-model")
    assert pieces[-2] == UsageReported(Usage(input=7, output=30, cache_read=100, cache_write=20))
    assert sum(isinstance(piece, BlockEnded) for piece in pieces) == 4
    calls = [piece.id for piece in pieces if isinstance(piece, CallStarted)]
    assert len(set(calls)) == 2
    assert all(calls)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "twist",
    [
        "chunks: 1",
        "chunks: 3\nframing: close",
        "double:",
        "atonce:",
        "noindex:",
        "ping:",
        "words: 1",
        "json:",
    ],
)
async def test_careless_servers_say_the_same(api: str, twist: str, open_fake: Open) -> None:
    script = f'{twist}\nsay: Grüße, dear reader.\ncall: Read {{"file_path":"ä"}}\nusage: in=3 out=4'
    async with ModelServer(script) as server:
        pieces = await collect(open_fake(server, api).provider)
    assert told(pieces) == [
        ("say", "Grüße, dear reader."),
        ("Read", '{"file_path":"ä"}'),
        ("end", StopReason.CALLS),
    ]
    assert pieces[-2] == UsageReported(Usage(input=3, output=4))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("length", Finished(StopReason.LENGTH)),
        ("end", Finished(StopReason.END)),
    ],
)
async def test_stop_reasons(api: str, stop: str, reason: Finished, open_fake: Open) -> None:
    async with ModelServer(f"say: x\nstop: {stop}") as server:
        assert (await collect(open_fake(server, api).provider))[-1] == reason


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        ("error: overloaded retry_after=7", FailureKind.OVERLOADED, "overloaded"),
        ("error: rate retry_after=7", FailureKind.RATE, "rate"),
        ("error: auth", FailureKind.AUTH, "key"),
        ("error: too_long", FailureKind.TOO_LONG, "too long"),
        ("say: a\nerror: overloaded message=Busy", FailureKind.OVERLOADED, "Busy"),
        ("status: 502 body=<html>", FailureKind.TRANSPORT, "502"),
        ("say: abc\ndrop:", FailureKind.TRANSPORT, "127.0.0.1"),
        ("say: abc\nhalf:", FailureKind.TRANSPORT, "middle of the answer"),
        ("raw: data: {oops\\n\\n", FailureKind.TRANSPORT, "not readable"),
        ("header: content-type text/html\nsay: x", FailureKind.REFUSED, "base URL"),
        ("status: 307", FailureKind.REFUSED, "redirects"),
    ],
)
async def test_failures_have_a_kind_and_a_sentence(
    api: str, script: str, kind: FailureKind, words: str, open_fake: Open
) -> None:
    async with ModelServer(script) as server:
        with pytest.raises(ProviderError) as caught:
            await collect(open_fake(server, api).provider)
    assert caught.value.kind is kind
    assert words in str(caught.value)
    if "retry_after" in script:
        assert caught.value.retry_after == 7.0


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("script", ["cut:", "say: half\ncut:", "think: x\ncut:"])
async def test_a_cut_stream_has_no_last_piece(api: str, script: str, open_fake: Open) -> None:
    async with ModelServer(script) as server:
        pieces = await collect(open_fake(server, api).provider)
    assert not any(isinstance(piece, Finished) for piece in pieces)


@pytest.mark.parametrize("api", APIS)
async def test_one_connection_serves_many_requests(api: str, open_fake: Open) -> None:
    async with ModelServer("say: again", repeat=True) as server:
        provider = open_fake(server, api).provider
        for _ in range(5):
            assert told(await collect(provider)) == [("say", "again"), ENDED]
        assert (server.connections, len(server.requests)) == (1, 5)


@pytest.mark.parametrize("api", APIS)
async def test_closing_the_stream_ends_the_connection(api: str, open_fake: Open) -> None:
    async with ModelServer("say: first words\nwait: never\n---\nsay: next") as server:
        provider = open_fake(server, api).provider
        async with aclosing(provider.stream(REQUEST)) as stream:
            async for piece in stream:
                if isinstance(piece, TextPiece):
                    break
        assert told(await collect(provider)) == [("say", "next"), ENDED]
        assert server.connections == 2


@pytest.mark.parametrize("api", APIS)
async def test_cancelling_is_prompt(api: str, open_fake: Open) -> None:
    async with ModelServer("say: x\nwait: gate") as server:
        task = asyncio.create_task(collect(open_fake(server, api).provider))
        await server.reached("gate")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, PATIENCE)


async def test_a_connection_the_server_closed_is_replaced(open_fake: Open) -> None:
    async with ModelServer("say: one\n---\nsay: two") as server:
        port = server.port
        provider = open_fake(server, "anthropic").provider
        assert told(await collect(provider)) == [("say", "one"), ENDED]
    again = ModelServer("say: two")
    await again.start(port)
    assert told(await collect(provider)) == [("say", "two"), ENDED]
    await again.stop()


async def test_nobody_there(open_fake: Open) -> None:
    async with ModelServer() as server:
        opened = open_fake(server, "anthropic")
    with pytest.raises(ProviderError, match="Nothing answers at 127"):
        await collect(opened.provider)
