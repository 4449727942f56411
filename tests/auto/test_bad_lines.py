"""Judges at the other end of a bad line: nothing is allowed, in time, and the person is told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.auto.judge import SECONDS, Judge, Ruling
from gatewright.agent.auto.lists import defaults
from gatewright.agent.auto.request import standing
from gatewright.agent.providers.protocol import Piece, Provider, Request, TextPiece
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.record.messages import Usage
from tests.auto.test_classifier import House, limits
from tests.fakes.model_server import ModelServer
from tests.fakes.waiting import PATIENCE

MB = 1024 * 1024
ALLOW = '{"why": "", "label": "", "verdict": "allow"}'
DENY = '{"why": "", "label": "", "verdict": "deny"}'
TALKS = json.dumps({"why": "x" * 30_000, "label": "", "verdict": "allow"})
LIMIT = 0.7  # seconds of a look


def streamed(kind: str, field: str) -> str:
    """10 MB in pieces of 64 kB, as the server's own bytes."""
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": kind, field: ""}}
    delta = {"type": f"{kind}_delta", field: "maybe " * 10_922}
    piece = {"type": "content_block_delta", "index": 0, "delta": delta}
    rows = [json.dumps(each) for each in (begun, *[piece] * 160)]
    return "raw: " + "".join(f"data: {row}\\n\\n" for row in rows)


FAULTS = {
    "silence": "hang:",
    "silence behind an answer": f"say: {ALLOW}\nhang:",
    "a byte a second": f"trickle: 1\nsay: {ALLOW}",
    "10 MB of text": f"{streamed('text', 'text')}\nsay: {ALLOW}",
    "10 MB of thoughts": f"{streamed('thinking', 'thinking')}\nsay: {ALLOW}",
    "a long answer": f"words: 65536\nsay: {TALKS}",
    "10 MB on one line": f"raw: data: {'x' * 10 * MB}",
    "10 MB of an error": f"status: 500 body={'x' * 10 * MB}",
    "cut behind an answer": f"say: {ALLOW}\ncut:",
    "reset behind an answer": f"say: {ALLOW}\ndrop:",
    "half closed": f"say: {ALLOW}\nhalf:",
    "a closed socket": "drop:",
    "busy": "status: 529",
    "busy for long": "status: 529 retry_after=60",
    "too many": "status: 429 retry_after=60",
    "broken": "status: 502",
    "refused": "status: 403",
    "declined": f"say: {ALLOW}\nstop: refusal",
    "cut short": f"say: {ALLOW}\nstop: length",
    "empty": "say: ",
    "both": "say: <verdict>allow</verdict><verdict>block</verdict>",
    "in the reasoning": "say: <think><verdict>allow</verdict></think>",
    "no events": "raw: <html>allow</html>",
    "a call": 'call: Bash {"verdict": "allow"}',
}
MODEL = "anthropic/claude-haiku-5-5"


@asynccontextmanager
async def judge(server: ModelServer, paid: list[Usage]) -> AsyncGenerator[Judge]:
    env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
    opened = open_provider(MODEL, settings={}, env=env)
    made = Judge(
        opened,
        standing(defaults(), ()),
        seconds=limits(LIMIT),
        paid=lambda model, usage, cost: paid.append(usage),
    )
    try:
        yield made
    finally:
        await made.close()


async def ruled(script: str, first: float = LIMIT) -> tuple[Ruling, float]:
    """A first look that is to be answered has all the time of a busy machine."""
    async with ModelServer(script, repeat=True) as server, judge(server, []) as made:
        made.seconds = limits(LIMIT, first)
        began = time.monotonic()
        ruling = await asyncio.wait_for(made.rule(("{}",)), PATIENCE)
        return ruling, time.monotonic() - began


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_first_look_over_a_bad_line_allows_nothing(fault: str) -> None:
    ruling, seconds = await ruled(FAULTS[fault])
    assert ruling.verdict is None
    assert ruling.failure
    assert len(ruling.failure) < 1_000
    assert seconds < 15 * LIMIT, "a look ends in its time, tries and all"


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_second_look_over_a_bad_line_allows_nothing(fault: str) -> None:
    ruling, _ = await ruled(f"say: {DENY}\n---\n{FAULTS[fault]}", first=PATIENCE)
    assert ruling.verdict is None
    assert ruling.stage == "thinking"


async def test_the_person_is_told_who_gave_no_verdict_on_what() -> None:
    house = House()
    async with ModelServer("status: 529", repeat=True) as server, judge(server, []) as made:
        house.judge = made
        opinion = await house.asks("make")
    assert opinion.word == ""
    assert "Not judged." in opinion.text
    assert MODEL in opinion.text
    assert "Bash" in opinion.text


async def test_what_passes_is_tried_once_more() -> None:
    script = f"status: 529\n---\nsay: {ALLOW}"
    async with ModelServer(script) as server, judge(server, []) as made:
        made.seconds = limits(PATIENCE)
        ruling = await made.rule(("{}",))
    assert ruling.verdict is not None
    assert ruling.looks == 2


class Watched:
    """Structurally a provider: says when the last of some requests has told what it used."""

    name = "watched"

    def __init__(self, inner: Provider, requests: int) -> None:
        self._inner = inner
        self._left = requests
        self.last = asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        self._left -= 1
        async with aclosing(self._inner.stream(request)) as pieces:
            async for piece in pieces:
                yield piece
                if self._left == 0 and isinstance(piece, TextPiece):
                    self.last.set()

    async def close(self) -> None:
        await self._inner.close()


async def asking(made: Judge, requests: int) -> asyncio.Task[Ruling]:
    """It has told what it used, and goes on."""
    watched = Watched(made.opened.provider, requests)
    made.opened = msgspec.structs.replace(made.opened, provider=watched)
    made.seconds = limits(PATIENCE)
    asked = asyncio.create_task(made.rule(("{}",)))
    await asyncio.wait_for(watched.last.wait(), PATIENCE)
    return asked


async def test_a_check_that_nobody_waits_for_any_more_is_paid() -> None:
    paid: list[Usage] = []
    first = f"usage: in=700 out=9\nsay: {DENY}"
    second = "usage: in=900 out=1\nsay: {\nwait: never"
    async with ModelServer(f"{first}\n---\n{second}") as server, judge(server, paid) as made:
        asked = await asking(made, requests=2)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
    assert [usage.input for usage in paid] == [700, 900]


async def test_a_look_that_took_too_long_is_paid() -> None:
    paid: list[Usage] = []
    script = "usage: in=900 out=1\nsay: {\nhang:"
    async with ModelServer(script) as server, judge(server, paid) as made:
        asked = await asking(made, requests=1)
        loop = asyncio.get_running_loop()
        vars(loop)["time"] = lambda: time.monotonic() + PATIENCE  # its time is over
        assert (await asked).verdict is None
    assert [usage.input for usage in paid] == [900]


def test_the_limits_of_a_look_are_those_that_are_promised() -> None:
    page = Path(__file__).parents[2] / "docs" / "auto-mode.md"
    told = page.read_text(encoding="utf-8")
    assert SECONDS == {"fast": 5.0, "thinking": 20.0}
    assert "5 or 20 seconds" in told
