"""What a person must hear of, whichever front end they look at."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.agent.frontends.must_know import KEPT, MustKnow, Told
from gatewright.agent.record.events import (
    AnyEvent,
    Decided,
    Envelope,
    ImagesDropped,
    Noticed,
    RequestQueued,
    RetryScheduled,
    StreamSilent,
    TurnEnded,
)
from gatewright.agent.turn.stop import Stop

END = TurnEnded(stop=Stop.COMPLETED)


def at(event: AnyEvent, agent: str = "main") -> Envelope:
    return Envelope(seq=1, uuid="", parent="", timestamp=0.0, agent=agent, event=event)


def denied(target: str = "rm x", answer: str = "") -> Decided:
    return Decided(
        call_id="c", tool="Bash", target=target, behavior="deny",
        stage="deny", reason="A rule says no.", answer=answer,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Noticed(text="Disk full.", tone="warning"), "Disk full."),
        (Noticed(text="Broken.", tone="error"), "Broken."),
        (denied(), "Refused: Bash(rm x). A rule says no."),
        (denied("a\nb" * 200), f"Refused: Bash({'a b' * 53}a…). A rule says no."),
        (ImagesDropped(reason="No."), "The model goes on without the pictures. No."),
        (Noticed(text="Trusted."), ""),
        (Noticed(text="Making room.", tone="dim"), ""),
        (denied(answer="no"), ""),  # whoever said no knows
        (END, ""),
    ],
)
def test_what_a_person_must_know(event: AnyEvent, said: str) -> None:
    assert MustKnow().saw(at(event)) == said
    assert Told().line(at(event)) == (f"agent: {said}" if said else "")


def test_each_is_said_once_a_turn_and_others_are_named() -> None:
    known = MustKnow()
    assert known.saw(at(denied()))
    assert not known.saw(at(denied()))
    assert known.saw(at(denied(), "scout")).startswith("[scout] Refused")
    assert len(known.taken()) == 2
    assert known.taken() == []
    assert known.saw(at(denied()))


def test_a_model_that_is_refused_for_ever_fills_no_memory() -> None:
    known, told = MustKnow(), Told()
    for number in range(KEPT + 50):
        known.saw(at(denied(str(number))))
        told.line(at(denied(str(number))))
    assert known.taken()[KEPT:] == ["And 50 more like these."]
    assert told.line(at(END)) == "agent: And 50 more like these."


def test_a_request_that_waits_for_its_turn_is_told_now_and_then() -> None:
    told = Told()

    def said(after: float, event: AnyEvent) -> str:
        return told.line(msgspec.structs.replace(at(event), timestamp=1000.0 + after))

    first = RequestQueued(seconds=0, ahead=2)
    assert said(0, first) == "agent: Waits for its turn at the server, 2 before it."
    assert said(5, first) == ""
    later = said(35, RequestQueued(seconds=20, ahead=0))
    assert later == "agent: The server takes requests again in 20 s."
    assert said(70, RetryScheduled(attempt=1, attempts=3, seconds=9, reason="Busy."))
    assert said(75, RequestQueued(seconds=4, ahead=0)) == "", "that was told with the refusal"


def test_waits_are_told_and_a_silence_now_and_then() -> None:
    told = Told()
    retry = RetryScheduled(attempt=1, attempts=3, seconds=1.0, reason="Busy.")
    assert told.line(at(retry)) == "agent: Busy. Trying again in 1 s (1 of 3)."
    for _ in range(2):
        lines = [told.line(at(StreamSilent(seconds=n, limit=90))) for n in range(20, 90)]
        said = [line for line in lines if line]
        assert [line.partition(" s;")[0].split()[-1] for line in said] == ["20", "50", "80"]
        told.line(at(retry))
