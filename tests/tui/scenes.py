"""The screens that are pictured: events written down once, for snapshots at any size and theme."""

from __future__ import annotations

from collections.abc import Callable

from gatewright.agent.record import events as ev
from gatewright.agent.record.messages import TextPart, ThinkingPart, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools import blocks as b
from gatewright.tools.access import Looks
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import TextContent
from tests.fakes.fake_session import FakeSession
from tests.tui.agent_scenes import AGENT_SCENES

MARKDOWN = """\
# Leases

Two things stand out in `harbour/locks.py`:

1. **The lease is renewed after the work**, so a slow task loses it half way.
2. The retry loop swallows `TimeoutError` and tries again at once.
   - a nested point
   - another one

> Renew *before* each step, ~~not after~~.

```python
async def hold(self, name: str) -> Lease:
    \"\"\"Acquire and renew.\"\"\"
    return await self.acquire(name, ttl=30)  # seconds
```

| case | before | after |
|------|-------:|------:|
| short task | 12 ms | 12 ms |
| slow task | lost | 31 s |

See [the notes](https://example.com/leases) and <https://example.com>.

---
"""
HUNK = b.Hunk(
    41,
    41,
    (
        " async def hold(self, name, work):",
        "     lease = await self.acquire(name, ttl=30)",
        "-    result = await work()",
        "-    await lease.renew()",
        "+    try:",
        "+        return await self._renewing(lease, work)",
        "+    finally:",
        "+        await lease.release()",
    ),
)
DIFF = b.Diff("harbour/locks.py", (HUNK,), 4, 2)
OUTPUT = "\n".join([*(f"test {n} passed" for n in range(30)), "FAILED test_slow - LeaseLost"])
TOOLS: dict[str, tuple[str, str, tuple[b.Block, ...], str, bool]] = {
    "read": ("Read", "harbour/locks.py", (), "212 lines", True),
    "bash": ("Run", "pytest -q", (b.Command("pytest -q"), b.Output(OUTPUT, 1)), "exit 1", False),
    "edit": ("Edit", "harbour/locks.py", (DIFF,), "+4 -2", True),
    "table": (
        "List",
        "servers",
        (b.Table(("Name", "State"), (("docs", "ready"), ("search", "off"))),),
        "2 servers",
        True,
    ),
    "todo": (
        "Plan",
        "",
        (
            b.Todo(
                (
                    b.TodoItem("Find the cause", "completed"),
                    b.TodoItem("Renew before each step", "in_progress"),
                    b.TodoItem("Add a test"),
                )
            ),
        ),
        "1 of 3",
        True,
    ),
    "image": ("Read", "plan.png", (b.Image("image/png", "plan.png"),), "640 x 480", True),
    "unknown": ("Call", "future", (b.Unknown("chart", {"x": 1}),), "done", True),
    "code": (
        "Show",
        "main.py",
        (b.Code("import sys\n\nmain(sys.argv)", "python"),),
        "3 lines",
        True,
    ),
}


def said(text: str) -> ev.UserMessage:
    return ev.UserMessage(content=(TextContent(text),))


def tool(kind: str, id: str) -> tuple[ev.ToolStarted, ev.ToolFinished]:
    verb, target, view, summary, ok = TOOLS[kind]
    return (
        ev.ToolStarted(call_id=id, name=verb, input={}, verb=verb, target=target),
        ev.ToolFinished(
            call_id=id, ok=ok, content=(), view=view, summary=summary, ms=1234 if not ok else 12
        ),
    )


def empty(session: FakeSession) -> None:
    """Nothing happened yet."""


def prose(session: FakeSession) -> None:
    session.publish(said("the lease test is flaky, can you find out why?"), ev.TurnStarted())
    session.publish(ev.ThinkingDelta(text="Hm"))
    session.now += 4
    parts = (ThinkingPart("Hm"), TextPart(MARKDOWN))
    session.publish(ev.AssistantMessage(id="m", model="x", parts=parts))
    session.publish(
        ev.TurnEnded(stop=Stop.COMPLETED, usage=Usage(4100, 512, 32000), cost=0.0421, ms=21400)
    )


def tools(session: FakeSession) -> None:
    session.publish(said("show every kind of block"))
    for number, kind in enumerate(TOOLS):
        session.publish(*tool(kind, str(number)))
    session.publish(
        ev.UsageChanged(usage=Usage(4100, 512, 32000), cost=0.0421, context=36600, window=200_000)
    )


def errors(session: FakeSession) -> None:
    session.publish(said("what can go wrong?"))
    session.publish(ev.Noticed(text="The settings file of this project is not trusted yet."))
    session.publish(ev.Noticed(text="Two servers did not start: docs, search.", tone="warning"))
    session.publish(ev.TurnEnded(stop=Stop.PROVIDER_AUTH, message="The key was refused (401)."))
    session.publish(ev.Compacted(summary="x", trigger="auto", tokens_before=180_000))
    session.publish(ev.TurnEnded(stop=Stop.ABORTED_STREAMING))


def permission(session: FakeSession) -> None:
    prose(session)
    options = (
        Option("once", "Yes, once", "y"),
        Option("always", "Yes, and always allow Bash(npm test:*) (kept in this project)", "Y"),
        Option("no", "No", "n"),
    )
    ask = Ask(
        kind="permission",
        title="Run npm test -- --watch=false",
        body=(b.Command("npm test -- --watch=false", note="Run the tests once"),),
        options=options,
        reason="Commands ask in default mode.",
        free_text=True,
    )
    session.publish(ev.Asked(id=1, ask=ask), ev.Asked(id=2, ask=ask))


def edit(session: FakeSession) -> None:
    ask = Ask(
        kind="permission",
        title="Edit harbour/locks.py",
        body=(DIFF,),
        options=(
            Option("once", "Yes, once", "y"),
            Option("always", "Yes, and switch this session to acceptEdits", "Y"),
            Option("no", "No", "n"),
        ),
        reason="Edits ask in default mode.",
        free_text=True,
    )
    session.publish(said("fix it"), ev.Asked(id=1, ask=ask))


def question(session: FakeSession) -> None:
    ask = Ask(
        kind="question",
        title="Which store should sessions use?",
        body=(b.Text("Both work with the code that is there."),),
        options=(
            Option("a", "SQLite", "1", "One file, no server."),
            Option("b", "PostgreSQL", "2", "Shared between machines."),
        ),
        multiple=True,
        free_text=True,
    )
    session.publish(said("add sessions"), ev.Asked(id=1, ask=ask))


def plan(session: FakeSession) -> None:
    ask = Ask(
        kind="plan",
        title="Is this the plan?",
        body=(b.Markdown("1. Renew in `hold`\n2. Let the timeout through\n\n**Risk:** none."),),
        options=(
            Option("yes", "Yes, and accept edits", "y"),
            Option("ask", "Yes, and ask before each edit", "a"),
            Option("no", "No, keep planning", "n"),
        ),
        free_text=True,
    )
    session.publish(said("plan the fix"), ev.Asked(id=1, ask=ask))


def trust(session: FakeSession) -> None:
    ask = Ask(
        kind="trust",
        title="Do you trust /home/sam/harbour?",
        body=(b.Text("It brings settings of its own, which may run commands on this machine."),),
        options=(
            Option("trust", "Yes, use its settings", "y"),
            Option("without", "Go on without them", "n"),
            Option("leave", "Leave", "q", leaves=True),
        ),
    )
    session.publish(ev.Asked(id=1, ask=ask))


def busy(session: FakeSession) -> None:
    session.publish(said("run everything"), ev.TurnStarted())
    session.publish(ev.TextDelta(text="I will run the tests, then the linter.\n\n```sh\npytest -q"))
    started, _ = tool("bash", "1")
    session.publish(started)
    tail = "\n".join(f"test {n} passed" for n in range(12))
    session.publish(ev.ToolProgressed(call_id="1", tail=tail, size=900, seconds=12.0))
    session.publish(ev.AgentStarted(child="main/a1", kind="explore", prompt="look"))
    doing = ev.AgentProgressed(child="main/a1", state="Run", target="pytest -q")
    session.publish(doing, agent="main/a1")
    session.publish(ev.QueueChanged(texts=("and then commit", "with a short message")))
    session.publish(ev.TasksChanged(running=("dev server",)))
    session.now += 12


def rhythm(session: FakeSession) -> None:
    """A turn as it goes: what was looked at is one row, the steps stand above the prompt."""
    session.publish(said("the lease test is flaky"), ev.TurnStarted())
    looks: tuple[tuple[str, Looks], ...] = (
        ("harbour/locks.py", "file"),
        ("tests/test_locks.py", "file"),
        ("renew in harbour", "pattern"),
        ("harbour/store.py", "file"),
    )
    session.publish(ev.ThinkingDelta(text="Where is it renewed?"))
    session.now += 3
    parts = (ThinkingPart("Where is it renewed?"), TextPart("I will look at the locks first."))
    session.publish(ev.AssistantMessage(id="m", model="x", parts=parts))
    for number, (target, kind) in enumerate(looks):
        verb = "Read" if kind == "file" else "Search"
        id = f"look-{number}"
        session.publish(
            ev.ToolStarted(call_id=id, name=verb, input={}, verb=verb, target=target, looks=kind),
            ev.ToolFinished(call_id=id, ok=True, content=(), summary="40 lines", ms=8),
        )
    session.publish(*tool("todo", "todo"), *tool("edit", "edit"))
    started, _ = tool("bash", "run")
    session.publish(started)
    session.publish(ev.ToolProgressed(call_id="run", tail="test 1 passed", size=9, seconds=14.0))
    session.now += 60
    session.publish(
        ev.UsageChanged(usage=Usage(4100, 2112, 32000), cost=0.04, context=36600, window=200_000)
    )


def hostile(session: FakeSession) -> None:
    text = (
        "[bold]not markup[/bold] \x1b[31mred\x1b]52;c;aGk=\x07 "
        "\u202egnp.exe\u202c zero\u200bwidth\n\n"
        "e\u0301 \u6f22\u5b57 \U0001f468\u200d\U0001f469\u200d\U0001f467 Z" + "\u0334" * 12
    )
    session.publish(said(text))
    session.publish(ev.AssistantMessage(id="m", model="x", parts=(TextPart(text),)))
    started, _ = tool("bash", "1")
    session.publish(started)
    session.publish(
        ev.ToolFinished(call_id="1", ok=True, content=(), view=(b.Output(text),), summary="ok")
    )


OWN: tuple[Callable[[FakeSession], None], ...] = (
    empty,
    prose,
    tools,
    errors,
    permission,
    edit,
    question,
    plan,
    trust,
    busy,
    rhythm,
    hostile,
)
SCENES: dict[str, Callable[[FakeSession], None]] = {
    **{scene.__name__: scene for scene in OWN},
    **AGENT_SCENES,
}
