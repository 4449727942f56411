"""The real app in a process of its own: `python -m tests.tui.child WHAT`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from textual._context import active_app

from gatewright.agent.client.port import SessionClient
from gatewright.agent.record.events import (
    Asked,
    AssistantMessage,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from gatewright.agent.record.messages import TextPart
from gatewright.agent.turn.stop import Stop
from gatewright.tools.interact import Ask, Option
from gatewright.tui import app
from tests.fakes.fake_session import FakeSession
from tests.tui.scenes import SCENES

HOSTILE = "Go-on;\x07\x1b]0;owned\x07\x1b\\\x9c\u202e\x1b]9;two\x07"


def asking(session: FakeSession) -> None:
    ask = Ask(kind="question", title=HOSTILE, body=(), options=(Option("yes", "Yes", "y"),))
    session.publish(TurnStarted(), Asked(id=1, ask=ask))


def broken() -> None:
    raise RuntimeError("a defect")


async def stream(session: FakeSession, pause: float, more: Callable[[int], bool]) -> None:
    session.publish(TurnStarted())
    text = ""
    while more(number := text.count(" ")):
        piece = f"word{number} "
        text += piece
        session.publish(TextDelta(text=piece))
        await asyncio.sleep(pause)
    text += "THE-END"
    session.publish(AssistantMessage(id="m", model="x", parts=(TextPart(text),)))
    if told := os.environ.get("ENDED"):
        Path(told).touch()


def main() -> int:
    what = sys.argv[1]
    session = FakeSession()

    def turn(text: str) -> None:
        said = TextPart(f"{text}: {HOSTILE}")
        session.publish(TurnStarted(), TextDelta(text=said.text))
        session.publish(AssistantMessage(id="m", model="x", parts=(said,)))
        session.publish(TurnEnded(stop=Stop.COMPLETED))

    session.sent_hook = turn if what == "ending" else session.sent_hook
    scenes = {**SCENES, "asking": asking}
    tasks: list[asyncio.Task[None]] = []

    async def open_session() -> SessionClient:
        if what == "noise":
            os.write(2, b"NOISE from a library\n")
        elif what == "broken":
            active_app.get().call_later(broken)
        elif what == "crash":
            broken()
        elif what == "stream":
            # Much faster than any terminal reads.
            tasks.append(asyncio.create_task(stream(session, 0.001, lambda n: n < 3000)))
        elif what == "until":
            end = Path(os.environ["UNTIL"])
            tasks.append(asyncio.create_task(stream(session, 0.05, lambda _: not end.exists())))
        elif what in scenes:
            scenes[what](session)
        return session.facade()

    return app.run(open_session)


if __name__ == "__main__":
    sys.exit(main())
