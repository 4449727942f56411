"""What agents look like on the screen: made up by hand, for pictures and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gatewright.agent.record import events as ev
from gatewright.agent.record.events_of_agents import AgentStatus
from gatewright.agent.record.messages import TextPart, Usage
from gatewright.tools import blocks as b
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import TextContent
from tests.fakes.fake_session import FakeSession

KINDS = ("Explore", "general-purpose", "verification", "Plan")
TASKS = (
    "Find who renews the lease",
    "Write the test for a slow step",
    "Try to break the renewal",
    "Plan the change of the store",
)
DOING = (("Read", "harbour/locks.py"), ("Run", "pytest -q tests/test_locks.py"), ("Search", "ttl="))
REPORT = (
    "The lease is renewed **after** each step, in `hold` (harbour/locks.py:12).\n\n"
    "- A step longer than the lease loses it half way.\n"
    "- Nothing retries: `LeaseLost` leaves the loop.\n\n"
    "I changed nothing. Not looked at: the store's own tests."
)


def path(number: int) -> str:
    return f"main/a{number}"


def said(text: str) -> ev.UserMessage:
    return ev.UserMessage(content=(TextContent(text),))


def start(
    session: FakeSession, number: int, *, background: bool = False, parent: str = "main"
) -> str:
    """One agent more, by a call of its parent."""
    child = f"{parent}/a{number}"
    kind, task = KINDS[number % len(KINDS)], TASKS[number % len(TASKS)]
    call = f"agent-{number}"
    session.publish(
        ev.ToolStarted(call_id=call, name="Agent", input={}, verb="Agent", target=task),
        ev.AgentStarted(
            child=child,
            kind=kind,
            prompt=f"{task}. Look in harbour first, and report what you find with file and line.",
            call_id=call,
            description=task,
            background=background,
        ),
        agent=parent,
    )
    if background:
        content = (TextContent("launched"),)
        session.publish(ev.ToolFinished(call_id=call, ok=True, content=content), agent=parent)
    return child


def works(session: FakeSession, child: str, number: int) -> None:
    state, target = DOING[number % len(DOING)]
    session.publish(
        ev.AgentProgressed(
            child=child,
            state=state,
            target=target,
            tokens=4_200 * (number + 1),
            cost=0.031 * (number + 1),
            tools=3 + number,
        ),
        agent=child,
    )


def ends(session: FakeSession, child: str, *, status: AgentStatus = "completed") -> None:
    parent = child.rpartition("/")[0]
    ok = status == "completed"
    report = REPORT if ok else "The model's service did not answer (503)."
    session.publish(
        ev.AgentFinished(
            child=child,
            ok=ok,
            report=report,
            status=status,
            usage=Usage(2100, 800, 31_000),
            cost=0.1240,
            ms=65_000,
            tools=12,
        ),
        agent=parent,
    )


def asks(session: FakeSession, child: str, id: int = 1) -> None:
    options = (
        Option("once", "Yes, once", "y"),
        Option("always", "Yes, and always allow Bash(pytest:*) (kept in this project)", "Y"),
        Option("no", "No", "n"),
    )
    ask = Ask(
        kind="permission",
        title="Run pytest -q",
        body=(b.Command("pytest -q tests/test_locks.py"),),
        options=options,
        reason="Commands ask in default mode.",
        free_text=True,
    )
    session.publish(ev.Asked(id=id, ask=ask), agent=child)


def agent(session: FakeSession) -> None:
    """One in the foreground, at work."""
    session.publish(said("who renews the lease?"), ev.TurnStarted())
    child = start(session, 0)
    session.now += 12
    works(session, child, 0)


def agents(session: FakeSession) -> None:
    """Three: one at work, one below it, one that asks, one that is done."""
    session.publish(said("find out why the lease test is flaky"), ev.TurnStarted())
    first, second, third = (start(session, n) for n in range(3))
    below = start(session, 3, parent=first)
    session.now += 47
    works(session, first, 0)
    works(session, below, 1)
    works(session, second, 2)
    ends(session, third)
    asks(session, second)


def crowd(session: FakeSession) -> None:
    """Twenty in the background, two of which ask."""
    session.publish(said("look through every module"), ev.TurnStarted())
    children = [start(session, n, background=True) for n in range(20)]
    session.publish(
        ev.AssistantMessage(id="m", model="x", parts=(TextPart("Twenty agents are on their way."),))
    )
    session.now += 75
    for n, child in enumerate(children):
        works(session, child, n)
    ends(session, children[4], status="failed")
    ends(session, children[7])


AGENT_SCENES: Mapping[str, Callable[[FakeSession], None]] = {
    scene.__name__: scene for scene in (agent, agents, crowd)
}
