"""What waits to be sent is told when it changes, and no crash loses it."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.record.events import QueueChanged, TurnEnded, UserMessage
from gatewright.agent.session.start.base import unsent
from gatewright.agent.transcript.reader import read_transcript
from tests.fakes.house import house, recalled
from tests.fakes.recorder import Recorder
from tests.transcript.stored import chained, started, turn, user, write


async def test_told_when_it_changes() -> None:
    script = "wait: gate\nsay: One.\n---\nsay: Two."
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("first")
        await built.provider.reached("gate")
        built.session.submit("second")
        built.session.submit("third")
        assert recalled(built.session) == ["second", "third"]
        built.session.submit("fourth")
        built.provider.release("gate")
        await built.session.idle()
        await seen.until(TurnEnded)
        assert [event.texts for event in seen.of(QueueChanged)] == [
            ("second",), ("second", "third"), (), ("fourth",), (),
        ]  # fmt: skip
        assert len(seen.of(UserMessage)) == 2


def test_what_a_crash_left_is_found(tmp_path: Path) -> None:
    waiting = QueueChanged(texts=("and then test it",))
    path = write(tmp_path / "s.jsonl", chained([started(), user("go"), waiting]))
    assert unsent(read_transcript(path).branch) == ("and then test it",)
    sent = [started(), user("go"), waiting, QueueChanged(texts=()), *turn(1)]
    path = write(tmp_path / "t.jsonl", chained(sent))
    assert unsent(read_transcript(path).branch) == ()
