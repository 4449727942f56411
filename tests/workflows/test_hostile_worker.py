"""A worker that an attacker has taken over: whatever it says, a run ends once and keys work.

The real one is replaced by a process of ours, or by bytes that hypothesis makes up.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from time import thread_time

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from gatewright.agent.workflows.engine.engine import Engine, EngineProblem
from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.engine.wire import (
    MOST_UNSETTLED,
    BudgetNow,
    Called,
    Ended,
    Message,
    Settled,
)
from gatewright.agent.workflows.script.check import check
from gatewright.agent.workflows.script.checked import ScriptProblem
from gatewright.tools.protocol import Child, Spawn, SpawnRequest
from gatewright.tools.system.processes import spawn
from tests.fakes.examples import many
from tests.workflows.hostile_worker import DOES
from tests.workflows.playing import META

WORKER = Path(__file__).with_name("hostile_worker.py")
ENDS = 100.0
BREATH = 0.5  # seconds of the processor between two turns of the loop: a line of 4 MB takes 0.02
MUTE = ("it is silent", "it shuts its pipe")
KINDS = {
    "it ends twice": "",
    "it waits for nothing": "deadlock",
    "it talks unasked": "deadlock",
    "an endless line": "line",
    "a million calls": "calls",
    "it is silent": "died",
    "it shuts its pipe": "died",
    "it exits": "died",
    "it exits with a code": "died",
    "it is killed": "died",
    "it has used its time": "cpu",
}


@asynccontextmanager
async def started(starts: Spawn, patience: float = 60.0) -> AsyncGenerator[Engine]:
    engine = await Engine.start(check(META), Limits(patience=patience), starts)
    try:
        yield engine
    finally:
        await engine.close()


def instead(what: str) -> Spawn:
    async def starts(request: SpawnRequest) -> Child:
        argv = (sys.executable, "-I", "-S", str(WORKER), what)
        return await spawn(msgspec.structs.replace(request, argv=argv))

    return starts


async def heard(engine: Engine) -> list[Message]:
    await engine.begin(UNSET, BudgetNow())
    async with asyncio.timeout(ENDS):
        return [message async for message in engine.messages()]


@pytest.mark.parametrize("what", DOES)
async def test_whatever_it_says_the_run_ends_once_and_keys_are_answered(what: str) -> None:
    longest = 0.0

    async def keys() -> None:
        nonlocal longest
        while True:
            before = thread_time()
            await asyncio.sleep(0)
            longest = max(longest, thread_time() - before)

    gc.freeze()  # what other tests left is not looked through meanwhile: a second, in a whole run
    async with started(instead(what), patience=1.0 if what in MUTE else 60.0) as engine:
        pressed = asyncio.create_task(keys())
        try:
            found = await heard(engine)
        finally:
            pressed.cancel()
    assert [isinstance(message, Ended) for message in found].index(True) == len(found) - 1
    end = found[-1]
    assert isinstance(end, Ended)
    assert end.kind == KINDS.get(what, "wire")
    assert bool(end.message) == bool(end.kind)
    calls = [message.id for message in found if isinstance(message, Called)]
    assert sorted(set(calls)) == calls
    assert len(calls) <= MOST_UNSETTLED
    assert longest < BREATH


async def test_it_says_something_else_than_that_it_compiled() -> None:
    for said in (b"hello\n", b'{"out":[],"idle":true}\n', b""):
        with pytest.raises(EngineProblem, match="The engine failed"):
            async with started(made_of([said])):
                pass


async def test_it_says_that_the_script_is_wrong() -> None:
    said = b'{"out":[{"t":"end","kind":"syntax","message":"no","line":3,"column":4}],"idle":true}\n'
    with pytest.raises(ScriptProblem, match="Line 3, column 4: the script is no JavaScript: no"):
        async with started(made_of([said])):
            pass


async def test_what_was_not_asked_is_not_answered() -> None:
    asked = b'{"out":[{"t":"call","id":5,"prompt":"x"}],"idle":true}\n'
    child = Made([COMPILED, asked])
    async with started(child.starts) as engine:
        await engine.begin(UNSET, BudgetNow())
        batches = engine.batches()
        assert [m.id for m in await anext(batches) if isinstance(m, Called)] == [5]
        sent = child.sent()
        for id in (4, 6, -1, 1 << 40):
            await engine.settle(Settled(id, ok=True))
        assert child.sent() == sent
        await engine.settle(Settled(5, ok=True, value="v"))
        await engine.settle(Settled(5, ok=True, value="again"))
    assert child.sent().count(b"\nsettled ") == 1


# --- bytes that are made up ---

COMPILED = b'{"out":[{"t":"compiled"}],"idle":true}\n'


class Made:
    """A child whose output is a list of chunks; then it has ended."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks
        self._stdin = -1
        self._sent = b""
        self.pid = 1
        self.code: int | None = 0

    async def starts(self, request: SpawnRequest) -> Child:
        self._stdin = os.dup(request.stdin)
        os.set_blocking(self._stdin, False)
        return self

    def sent(self) -> bytes:
        while self._stdin >= 0:
            try:
                chunk = os.read(self._stdin, 65536)
            except BlockingIOError:
                return self._sent
            if not chunk:
                return self._sent
            self._sent += chunk
        return self._sent

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        return self._chunks.pop(0) if self._chunks else b""

    async def wait(self) -> int:
        return 0

    async def kill(self, grace: float = 2.0) -> None:
        if self._stdin >= 0:
            self.sent()
            os.close(self._stdin)
            self._stdin = -1


def made_of(chunks: list[bytes]) -> Spawn:
    return Made(chunks).starts


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
TAGS = st.sampled_from(["call", "nested", "log", "phase", "end", "compiled", "settled", "x"])
MESSAGES = st.fixed_dictionaries(
    {"t": TAGS},
    optional={
        "id": st.integers(-1, 9) | JSON,
        "prompt": st.text(max_size=5) | JSON,
        "options": JSON,
        "text": st.text(max_size=5) | JSON,
        "title": st.text(max_size=5) | JSON,
        "kind": st.sampled_from(["", "error", "cpu", "x"]),
        "name": JSON,
        "value": JSON,
    },
)
LINES = st.one_of(
    st.binary(max_size=40),
    JSON.map(msgspec.json.encode),
    st.fixed_dictionaries({"out": st.lists(MESSAGES, max_size=4), "idle": st.booleans()}).map(
        msgspec.json.encode
    ),
)


@settings(
    max_examples=many(400),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(LINES, max_size=8), st.integers(1, 60), st.booleans())
def test_no_bytes_make_it_raise_or_end_twice(lines: list[bytes], size: int, answers: bool) -> None:
    data = COMPILED + b"".join(line + b"\n" for line in lines)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]

    async def play() -> list[Message]:
        found: list[Message] = []
        async with started(made_of(chunks)) as engine:
            await engine.begin(UNSET, BudgetNow())
            async for message in engine.messages():
                found.append(message)
                if answers and isinstance(message, Called):
                    await engine.settle(Settled(message.id, ok=True, value=[message.prompt]))
        return found

    found = asyncio.run(play())
    assert [isinstance(message, Ended) for message in found] == [False] * (len(found) - 1) + [True]
