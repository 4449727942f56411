"""Several look at one session over a socket: each sees all of it, the first answer counts."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatewright.agent.client import remote, socket_line
from gatewright.agent.client.remote import Coming, OtherVersion, RemoteSession, join
from gatewright.agent.client.session_lines import VERSION
from gatewright.agent.client.socket_line import connect
from gatewright.agent.commands.outcome import Quit
from gatewright.agent.commands.registry import LINES
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import (
    Answered,
    Asked,
    Envelope,
    Noticed,
    TextDelta,
    ToolProgressed,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from gatewright.tools.interact import Answer, Ask, Option
from tests.fakes.door import Door, door, listening
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import PATIENCE, eventually

ASK = Ask(
    kind="permission",
    title="Run make",
    body=(),
    options=(Option("once", "Yes, once", "y"), Option("no", "No", "n")),
)
STAYS = "0198c0de"


class Seen:
    """One viewer, and what it was shown."""

    def __init__(self, session: RemoteSession) -> None:
        self.session = session
        self.shown: list[Envelope] = []
        self._events = session.subscribe(streamed=True)
        self._task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        async for envelope in self._events:
            self.shown.append(envelope)

    def events(self, kind: type) -> list[object]:
        return [each.event for each in self.shown if isinstance(each.event, kind)]

    async def until(self, fact: Callable[[], object], what: str) -> None:
        await eventually(lambda: bool(fact()), what=what)

    async def close(self) -> None:
        await self.session.close()
        await self._task


@asynccontextmanager
async def looking(place: Door, name: str) -> AsyncGenerator[Seen]:
    line = await connect(place.path)
    seen = Seen(await join(line, Coming(viewer=name, stays=STAYS), within=PATIENCE))
    try:
        yield seen
    finally:
        await seen.close()


async def test_the_first_answer_counts_and_the_others_hear_whose_it_was() -> None:
    session = FakeSession()
    async with (
        door(session.facade()) as place,
        looking(place, "pts/3") as one,
        looking(place, "pts/4") as two,
    ):
        session.publish(Asked(id=7, ask=ASK))
        await one.until(lambda: one.events(Asked), "the question")
        await two.until(lambda: two.events(Asked), "the question")
        assert one.session.answer(7, Answer.of("once"))
        await two.until(lambda: two.events(Answered), "the answer")
        await one.until(lambda: one.events(Answered), "the answer")
        assert two.events(Answered) == [Answered(id=7, answer=Answer.of("once"), by="pts/3")]
        assert one.events(Answered) == [Answered(id=7, answer=Answer.of("once"))]
        assert not two.session.answer(7, Answer.of("no"))
    assert session.answers == [(7, Answer.of("once"))]


async def test_who_comes_later_is_told_nothing_of_answers_before() -> None:
    session = FakeSession()
    async with door(session.facade()) as place, looking(place, "pts/3"):
        session.publish(Asked(id=7, ask=ASK))
        session.answer(7, Answer.of("once"), by="pts/3")
        async with looking(place, "pts/4") as late:
            await late.until(lambda: late.events(Answered), "the answer")
            assert late.events(Answered) == [Answered(id=7, answer=Answer.of("once"))]


async def test_who_comes_in_the_middle_sees_what_runs() -> None:
    session = FakeSession()
    session.busy = True
    started = ToolStarted(call_id="c1", name="Bash", input={}, verb="Run", target="make")
    runs = ToolProgressed(call_id="c1", tail="half", size=4, seconds=2.0, movable=True)
    session.publish(TurnStarted(), started, runs, TextDelta(text="So far"))
    async with door(session.facade()) as place, looking(place, "pts/3") as late:
        await late.until(lambda: late.events(TextDelta), "what is being written")
        assert [each.event for each in late.shown][1:] == [
            TurnStarted(), started, runs, TextDelta(text="So far"),
        ]  # fmt: skip
        assert late.session.busy
        assert late.session.to_background() == 1  # the call can be moved, and that is known


async def test_leaving_ends_nothing() -> None:
    session = FakeSession()
    async with door(session.facade()) as place:
        async with looking(place, "pts/3") as one:
            assert one.session.stays == STAYS
            session.know("exit")
            assert await one.session.commands.run("/exit", LINES) == Quit()
            assert "session_command" not in place.asked  # leaving concerns nobody else
        await eventually(lambda: not place.served, what="the viewer's end")
        assert not session.closed
        async with looking(place, "pts/4") as again:
            assert again.session.id == session.id


async def test_a_session_that_ends_says_why() -> None:
    session = FakeSession()
    async with door(session.facade()) as place, looking(place, "pts/3") as one:
        place.served[0].ending("It was stopped.")
        place.slam()
        await one.until(lambda: one.events(Noticed), "why it ended")
        assert one.events(Noticed) == [Noticed(text="It was stopped.", tone="error")]
        assert one.session.stays == ""
        assert await one.session.commands.run("/exit", LINES) == Quit()  # it still leaves


async def test_a_process_that_is_killed_ends_its_turn_here() -> None:
    session = FakeSession()
    session.busy = True
    session.publish(TurnStarted(), Asked(id=7, ask=ASK))
    async with door(session.facade()) as place, looking(place, "pts/3") as one:
        await one.until(lambda: one.events(Asked), "the question")
        place.slam()
        await one.until(lambda: one.events(TurnEnded), "its end")
        [ended] = one.events(TurnEnded)
        assert isinstance(ended, TurnEnded)
        assert ended.message == socket_line.ENDED
        assert one.events(Answered) == [Answered(id=7, answer=Answer(cancelled=True))]
        assert not one.session.busy


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"no json at all", "is not understood here"),
        (b'{"type": "session_event", "event": 3}', "no hello"),
        (b'{"type": "session_hello", "version": "one"}', "is not understood here"),
        (b"\xff\xfe", "is not understood here"),
    ],
)
async def test_strange_lines_are_a_sentence(tmp_path: Path, said: bytes, told: str) -> None:
    async with saying(tmp_path, said) as path:
        with pytest.raises(SessionError, match=told):
            await join(await connect(path), within=PATIENCE)


async def test_another_version_is_told_apart(tmp_path: Path) -> None:
    later = b'{"type":"session_hello","version":%d,"app":"9","commands":[],"facts":{"id":"x",'
    said = later % (VERSION + 1) + b'"mode":"default","model":"m"}}'
    async with saying(tmp_path, said) as path:
        with pytest.raises(OtherVersion, match=f"version {VERSION + 1}"):
            await join(await connect(path), within=PATIENCE)


async def test_silence_has_a_limit(tmp_path: Path) -> None:
    async with saying(tmp_path, b"") as path:
        with pytest.raises(SessionError, match="Nothing was heard"):
            await join(await connect(path), within=0.05)
    assert remote.HELLO_LIMIT == 10


async def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="Nobody answers"):
        await connect(tmp_path / "none")
    with socket.socket(socket.AF_UNIX) as left:  # bound once, and nobody listens any more
        left.bind(str(tmp_path / "left"))
    with pytest.raises(SessionError, match="Nobody answers"):
        await connect(tmp_path / "left")


async def test_a_socket_of_another_user_is_not_talked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def somebody(made: socket.socket) -> int:
        del made
        return os.geteuid() + 1

    monkeypatch.setattr(socket_line, "peer_uid", somebody)
    async with saying(tmp_path, b"x") as path:
        with pytest.raises(SessionError, match="Another user"):
            await connect(path)


@asynccontextmanager
async def saying(folder: Path, line: bytes) -> AsyncGenerator[Path]:
    """Whoever connects hears this, then nothing more."""
    path = folder / "s"

    async def told(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if line:
            writer.write(line + b"\n")
        await reader.read()

    async with listening(path, told):
        yield path
