"""Transcripts for tests and benches: written as the program writes them, without its session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Envelope,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart, TextPart, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools.protocol import TextContent


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextContent(text),))


def answer(text: str) -> AssistantMessage:
    return AssistantMessage(id="m", model="m", parts=(TextPart(text),), usage=Usage(100, 10))


def turn(number: int, *, output: str = "line\n") -> list[AnyEvent]:
    """Six records: a prompt, a call with its result, an answer, and the end."""
    call = CallPart(f"c{number}", "Read", {"file_path": f"/w/{number}.py"})
    return [
        user(f"prompt {number}"),
        AssistantMessage(id=f"a{number}", model="m", parts=(TextPart("I look."), call)),
        ToolStarted(call_id=call.id, name="Read", input=call.input, verb="Read", target="x"),
        ToolFinished(call_id=call.id, ok=True, content=(TextContent(output),), summary="1 line"),
        answer(f"answer {number}"),
        TurnEnded(stop=Stop.COMPLETED),
    ]


def started() -> SessionStarted:
    return SessionStarted(model="m", mode="default", cwd="/w", app="0", branch="main")


def chained(
    events: Iterable[AnyEvent], *, after: str = "", prefix: str = "u"
) -> Iterator[Envelope]:
    parent = after
    for number, event in enumerate(events):
        uuid = f"{prefix}{number}"
        yield Envelope(
            seq=number + 1, uuid=uuid, parent=parent, timestamp=float(number), agent="main",
            event=event,
        )  # fmt: skip
        parent = uuid


def write(path: Path, envelopes: Iterable[Envelope], *, cwd: str = "/w") -> Path:
    """The file of the session named by the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = wire.Header(version=1, id=path.stem, cwd=cwd, created=1.0, app="0")
    with path.open("wb") as file:
        file.write(wire.encode_header(header))
        file.writelines(wire.encode(envelope, path.stem) for envelope in envelopes)
    return path
