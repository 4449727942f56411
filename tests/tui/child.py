"""The real app in a process of its own: `python -m tests.tui.child WHAT`."""

from __future__ import annotations

import asyncio
import os
import sys

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


def main() -> int:
    what = sys.argv[1]
    session = FakeSession()

    async def stream() -> None:
        """Much faster than any terminal reads."""
        session.publish(TurnStarted())
        text = ""
        for number in range(3000):
            piece = f"word{number} "
            text += piece
            session.publish(TextDelta(text=piece))
            await asyncio.sleep(0.001)
        text += "THE-END"
        session.publish(AssistantMessage(id="m", model="x", parts=(TextPart(text),)))

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
            tasks.append(asyncio.create_task(stream()))
        elif what in scenes:
            scenes[what](session)
        return session.facade()

    return app.run(open_session)


if __name__ == "__main__":
    sys.exit(main())
