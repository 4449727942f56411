"""What is written comes back the same, also what this version does not know."""

from __future__ import annotations

import msgspec
import pytest

from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AnyEvent,
    Asked,
    AssistantMessage,
    Decided,
    Envelope,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UnknownEvent,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Command, Diff, Hunk, Output, Text, Todo, TodoItem, Unknown
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import ImageContent, TextContent

EVENTS: list[AnyEvent] = [
    UserMessage(content=(TextContent("héllo\n\x00"), ImageContent("image/png", "aGk="))),
    AssistantMessage(
        id="m1",
        model="m",
        parts=(ThinkingPart("hm", "sig"), TextPart("a"), CallPart("c", "Read", {"x": [1, None]})),
        usage=Usage(1, 2, 3, 4),
        cost=0.25,
    ),
    ToolStarted(call_id="c", name="Bash", input={}, verb="Run", target="ls", view=(Command("ls"),)),
    ToolFinished(
        call_id="c",
        ok=False,
        content=(TextContent("no"),),
        view=(
            Diff("a.py", (Hunk(1, 1, ("-a", "+b")),), 1, 1),
            Output("x", exit=1),
            Todo((TodoItem("t", "completed"),)),
        ),
        data={"exit": 1},
        ms=12,
    ),
    Asked(id=1, ask=Ask("permission", "Run", (Text("x"),), (Option("once", "Yes", "y"),))),
    Decided(call_id="c", tool="Bash", target="ls", behavior="allow", stage="mode", reason="safe"),
    TurnEnded(stop=Stop.COMPLETED, usage=Usage(1, 1), requests=1),
]


def envelope(event: AnyEvent) -> Envelope:
    return Envelope(seq=7, uuid="u", parent="p", timestamp=1.5, agent="main/a3", event=event)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_round_trip(event: AnyEvent) -> None:
    line = wire.encode(envelope(event), "s")
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert wire.decode(line) == envelope(event)


def test_the_line_has_the_documented_keys() -> None:
    line = msgspec.json.decode(wire.encode(envelope(EVENTS[0]), "s1"), type=dict[str, object])
    assert line["type"] == "user"
    assert (line["uuid"], line["parentUuid"], line["sessionId"]) == ("u", "p", "s1")
    assert line["timestamp"] == 1.5


def test_an_event_of_a_newer_version_survives() -> None:
    line = (
        b'{"type":"from_the_future","what":[1,{"deep":true}],"uuid":"u","parentUuid":"p",'
        b'"sessionId":"s","timestamp":1.5,"seq":7,"agent":"main/a3"}\n'
    )
    back = wire.decode(line)
    assert isinstance(back.event, UnknownEvent)
    assert msgspec.json.decode(wire.encode(back, "s")) == msgspec.json.decode(line)


def test_a_block_of_a_newer_version_does_not_hide_its_event() -> None:
    line = wire.encode(envelope(EVENTS[3]), "s").replace(b'"kind":"output"', b'"kind":"hologram"')
    event = wire.decode(line).event
    assert isinstance(event, ToolFinished)
    assert event.view[1] == Unknown("hologram", {"kind": "hologram", "text": "x", "exit": 1})


DEEP = b'{"type":"user","x":' + b"[" * 100_000


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"type":"user"}', b"\xff\xfe", b"null", DEEP])
def test_a_line_that_is_none_says_so(line: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(line)
