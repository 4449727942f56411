"""Front ends of a background session: several at once, each told all, and nobody held up."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from gatewright.agent.autonomy.running import viewers
from gatewright.agent.autonomy.running.viewers import LIMIT, listening
from gatewright.agent.client.far_line import LineEnded
from gatewright.agent.client.remote import RemoteSession, join
from gatewright.agent.errors import SessionError
from gatewright.agent.record.events import Answered, Asked, TextDelta, UserMessage
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.protocol import TextContent
from tests.background.looking import deaf, watched
from tests.fakes.fake_session import FakeSession
from tests.fakes.waiting import eventually

ASK = Ask("permission", "Run make?", (), (Option("yes", "Yes", "y"), Option("no", "No", "n")))


def said(text: str) -> UserMessage:
    return UserMessage(content=(TextContent(text),))


async def test_four_front_ends_see_the_same_past_and_present(short: Path) -> None:
    session = FakeSession()
    session.publish(said("before"))
    async with watched(session, short) as at:
        fronts = [await at.front() for _ in range(4)]
        for front in fronts:
            assert (await front.until("session_hello"))["facts"]["id"] == session.id
            assert (await front.ask("session_follow"))["subtype"] == "success"
        assert at.counts == [1, 2, 3, 4]
        session.publish(said("live"))
        for front in fronts:
            await front.until("session_event", type="user")
            texts = [
                line["event"]["content"][0]["text"]
                for line in front.told
                if line["type"] == "session_event" and line["event"]["type"] == "user"
            ]
            assert texts == ["before", "live"]
        fronts[0].leave()
        await eventually(lambda: at.counts[-1] == 3)
        assert len(at.viewers) == 3


class Once(FakeSession):
    """As the broker: the first answer is the answer."""

    def answer(self, ask: int, answer: Answer, *, by: str = "") -> bool:
        if any(number == ask for number, _ in self.answers):
            return False
        return super().answer(ask, answer, by=by)


async def test_the_first_answer_counts_and_the_others_hear_of_it(short: Path) -> None:
    session = Once()
    async with watched(session, short) as at:
        fronts = [await at.front() for _ in range(4)]
        for front in fronts:
            await front.ask("session_follow")
        session.publish(Asked(id=7, ask=ASK))
        for front in fronts:
            await front.until("session_event", type="asked")
        given = await asyncio.gather(
            *(front.ask("session_answer", ask=7, answer={"choices": [c]}) for front, c in zip(
                fronts, ("yes", "no", "no", "no"), strict=True))
        )  # fmt: skip
        assert sorted(each["response"]["answered"] for each in given) == [False] * 3 + [True]
        assert len(session.answers) == 1
        for front in fronts:
            answered = [one for one in front.told if one["type"] == "session_event"]
            assert [one["event"]["type"] for one in answered][-1] == "answered"


async def test_one_that_takes_nothing_is_cut_off_and_holds_nobody_up(short: Path) -> None:
    session = FakeSession()
    async with watched(session, short) as at:
        slow = deaf(at.path)
        front = await at.front()
        await front.ask("session_follow")
        await eventually(lambda: at.counts[-1:] == [2])
        piece, sent = "x" * (512 * 1024), 0
        while sent <= LIMIT + (1 << 22):
            session.publish(TextDelta(text=piece))
            sent += len(piece)
            await front.until("session_event", type="text_delta")
        await eventually(lambda: at.counts[-1] == 1)
        session.publish(said("on"))
        await front.until("session_event", type="user")
        slow.close()


async def test_a_long_past_is_no_reason_to_cut_it_off(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "LIMIT", 1 << 20)
    session = FakeSession()
    for number in range(8):
        session.publish(said(f"{number}" + "x" * (1 << 20)))
    async with watched(session, short) as at:
        slow = deaf(at.path)
        slow.setblocking(False)
        await eventually(lambda: at.counts == [1])
        got = b""
        async with asyncio.timeout(40):
            while b'"request_id":"r"' not in got[-200:]:
                chunk = await asyncio.get_running_loop().sock_recv(slow, 1 << 20)
                assert chunk, "it was cut off"
                got += chunk
        assert got.count(b'"type":"user"') == 8
        slow.close()


async def test_one_that_asks_for_the_past_again_and_takes_nothing_is_cut_off(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "LIMIT", 1 << 20)
    session = FakeSession()
    for number in range(3):
        session.publish(said(f"{number}" + "x" * (1 << 20)))
    async with watched(session, short) as at:
        slow = deaf(at.path)
        asked = (
            b'{"type":"control_request","request_id":"%d","request":{"subtype":"session_follow"}}\n'
        )
        slow.sendall(b"".join(asked % number for number in range(8)))
        await eventually(lambda: at.counts == [1, 0])
        slow.close()


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b"[]\n", b'{"type": 7}\n', b"[" * 50_000 + b"\n", b"\xff\n"]
)
async def test_a_line_that_is_none_ends_its_own_end_alone(short: Path, line: bytes) -> None:
    async with watched(FakeSession(), short) as at:
        other, bad = await at.front(), await at.front()
        bad.writer.write(line)
        assert "no control request" in (await bad.until("session_ending"))["why"]
        assert await bad.next() is None
        assert (await other.ask("session_follow"))["subtype"] == "success"


async def test_what_it_does_not_know_is_refused_and_what_is_newer_is_left_out(
    short: Path,
) -> None:
    async with watched(FakeSession(), short) as at:
        front = await at.front()
        front.writer.write(b'{"type": "tomorrow"}\n\n')
        answer = await front.ask("initialize")
        assert answer["error"] == "There is no control request 'initialize' here."
        assert "not understood" in (await front.ask("session_tomorrow"))["error"]


async def test_a_front_end_stops_the_session(short: Path) -> None:
    async with watched(FakeSession(), short) as at:
        front = await at.front()
        assert (await front.ask("background_stop"))["subtype"] == "success"
        assert at.stops == 1


async def test_at_its_end_everybody_is_told_why(short: Path) -> None:
    session = FakeSession()
    async with watched(session, short) as at:
        front = await at.front()
        await front.ask("session_follow")
        session.publish(Answered(id=1, answer=Answer()))
        await at.viewers.close("You stopped it.")
        await front.until("session_event", type="answered")
        assert (await front.until("session_ending"))["why"] == "You stopped it."
        assert await front.next() is None
        assert not at.path.exists()


async def test_what_an_earlier_process_left_is_taken_away_and_nothing_else(short: Path) -> None:
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(short / "s"))
    left.close()
    listening(short / "s").close()
    (short / "f").write_text("mine", encoding="utf-8")
    with pytest.raises(SessionError, match="cannot be opened"):
        listening(short / "f")
    assert (short / "f").read_text(encoding="utf-8") == "mine"


async def test_the_session_at_the_other_end_is_the_one_port(short: Path) -> None:
    """What every front end speaks with: the remote session over a line."""
    session = FakeSession()
    async with watched(session, short) as at:
        line = Wire(*await asyncio.open_unix_connection(str(at.path), limit=1 << 26))
        remote: RemoteSession = await join(line)
        assert remote.id == session.id
        remote.submit("hello")
        await eventually(lambda: session.sent == ["hello"])
        await remote.close()


class Wire:
    """The least that is a `Line`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, line: bytes) -> None:
        self._writer.write(line)

    async def next(self) -> bytes:
        if not (line := await self._reader.readline()):
            raise LineEnded("It is over.")
        return line

    async def close(self, *, at_once: bool = False) -> None:
        del at_once
        self._writer.close()
        await self._writer.wait_closed()
