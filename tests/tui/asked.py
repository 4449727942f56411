"""Questions for tests of the screen, and the pause after which they may be answered."""

from __future__ import annotations

from gatewright.agent.record.events import Asked
from gatewright.tools.blocks import Command, Diff, Hunk
from gatewright.tools.interact import Ask, Option
from gatewright.tui.ask.guard import QUIET
from tests.tui.stage import Stage

OPTIONS = (
    Option("once", "Yes, once", "y"),
    Option("always", "Yes, and always allow Bash(npm test:*)", "Y"),
    Option("no", "No", "n"),
)


def permission(command: str = "npm test") -> Ask:
    return Ask(
        kind="permission",
        title=f"Bash {command}",
        body=(Command(command),),
        options=OPTIONS,
        reason="No rule covers npm test.",
        free_text=True,
    )


def write(lines: int) -> Ask:
    """A file of so many lines that is to be written."""
    hunk = Hunk(0, 1, tuple(f"+line {n}" for n in range(1, lines + 1)))
    diff = Diff("notes.txt", (hunk,), lines, 0)
    return Ask(
        kind="permission",
        title="Write notes.txt",
        body=(diff,),
        options=OPTIONS,
        reason="Writing asks in default mode.",
        free_text=True,
    )


async def ask(s: Stage, *asks: Ask, guarded: bool = False, first: int = 1) -> None:
    for number, question in enumerate(asks, first):
        s.session.publish(Asked(id=number, ask=question))
    await s.see("Yes, once")
    await s.settled()
    if not guarded:
        s.clock.now += 2 * QUIET
