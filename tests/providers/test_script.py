from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.agent.providers.protocol import (
    BlockEnded,
    CallStarted,
    Finished,
    InputPiece,
    MessageStarted,
    Piece,
    Request,
    StopReason,
    TextPiece,
    ThinkingPiece,
    UsageReported,
)
from gatewright.agent.record.messages import Usage
from tests.fakes.scripted_provider import ScriptedProvider

REQUEST = Request(model="m", system=(), tools=(), turns=(), max_output=100)


async def collect(provider: ScriptedProvider) -> list[Piece]:
    return [piece async for piece in provider.stream(REQUEST)]


def joined(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


async def test_answers_in_order_and_in_chunks() -> None:
    provider = ScriptedProvider.parse(
        """
        say: I will look first, then tell you.
        call: Read {"file_path": "a.py"}
        ---
        say: Done.
        usage: in=7 out=3 cache_read=20
        """.replace("        ", "")
    )
    first = await collect(provider)
    assert first[0] == MessageStarted("msg_1", "m")
    assert joined(first) == "I will look first, then tell you."
    assert sum(isinstance(piece, TextPiece) for piece in first) > 3
    assert CallStarted("call_1", "Read") in first
    raw = "".join(piece.json for piece in first if isinstance(piece, InputPiece))
    assert raw == '{"file_path": "a.py"}'
    assert first.count(BlockEnded()) == 2
    assert first[-1] == Finished(StopReason.CALLS)
    second = await collect(provider)
    assert UsageReported(Usage(input=7, output=3, cache_read=20)) in second
    assert second[-1] == Finished(StopReason.END)
    assert provider.requests == [REQUEST, REQUEST]
    with pytest.raises(ProviderError) as caught:
        await collect(provider)
    assert caught.value.kind is FailureKind.REFUSED


async def test_continuation_lines_thinking_and_stop() -> None:
    provider = ScriptedProvider.parse("think: Hmm.\nsay: one\n  two\n\nstop: length cut short")
    pieces = await collect(provider)
    assert joined(pieces) == "one\ntwo"
    assert ThinkingPiece(opaque="signed-4") in pieces
    assert pieces[-1] == Finished(StopReason.LENGTH, "cut short")


async def test_error_after_text_and_cut() -> None:
    provider = ScriptedProvider.parse(
        "say: half\nerror: overloaded retry_after=2 status=529 message=Too busy now.\n---\n"
        "say: half\ncut:"
    )
    seen: list[Piece] = []
    with pytest.raises(ProviderError) as caught:
        async for piece in provider.stream(REQUEST):
            seen.append(piece)  # noqa: PERF401  a comprehension would lose what came before
    assert joined(seen) == "half"
    assert (
        caught.value.kind,
        caught.value.status,
        caught.value.retry_after,
        str(caught.value),
    ) == (
        FailureKind.OVERLOADED,
        529,
        2.0,
        "Too busy now.",
    )
    assert not any(isinstance(piece, Finished) for piece in await collect(provider))


async def test_ids_and_malformed_arguments() -> None:
    provider = ScriptedProvider.parse("call[]: A {}\ncall[x]: B {}\nbadcall: C {oops")
    pieces = await collect(provider)
    started = [piece for piece in pieces if isinstance(piece, CallStarted)]
    assert [(call.id, call.name) for call in started] == [("", "A"), ("x", "B"), ("call_3", "C")]
    assert [piece.json for piece in pieces if isinstance(piece, InputPiece)][-1] == "{oops"


async def test_wait_holds_until_released() -> None:
    provider = ScriptedProvider.parse("say: a\nwait: gate\nsay: b")
    task = asyncio.create_task(collect(provider))
    await provider.reached("gate")
    assert not task.done()
    provider.release("gate")
    assert joined(await task) == "ab"


async def test_repeat_gives_the_last_answer_again() -> None:
    provider = ScriptedProvider.parse("say: one\n---\nsay: two", repeat=True)
    assert [joined(await collect(provider)) for _ in range(4)] == ["one", "two", "two", "two"]


@pytest.mark.parametrize("text", ["hello", "call: X [1]", "call: X {nope"])
async def test_a_wrong_script_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        await collect(ScriptedProvider.parse(text))
