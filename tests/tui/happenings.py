"""Anything that may happen in a session, made up from a number: every kind of event and question.

The order is nonsense on purpose; texts are hostile. The same number makes the same events.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping

from gatewright.agent.record import events as ev
from gatewright.agent.record.events_of_past import FileState
from gatewright.agent.record.events_of_schedules import ScheduledJob
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.turn.stop import Stop
from gatewright.tools import blocks as b
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.protocol import ImageContent, TextContent

TEXTS = (
    *("", " ", "word", "a sentence of several words, then a stop.", "x" * 3000, "line\n" * 300),
    *(
        "# Head\n\n- a\n  - b\n\n```python\nx = 1\n",
        "```\nnever closed\n" * 20,
        "|a|b|\n|-|-|\n|1|",
    ),
    *("> " * 40 + "deep", "[bold]no markup[/bold] [link=x]", "<b>html</b> &amp; [a](http://[::1"),
    *("\x1b[2J\x1b]0;title\x07\x1bP+q\x1b\\", "\x9b31m\x90x\x9c", "\x00\x07\x08\r\x7f\t\v\f"),
    *("\u202egnp.exe\u202c\u2066\u2069", "\u200b\ufeff\u00ad\u2060", "\ud800 half", "\U000e0041"),
    *("e\u0301\u0301" + "\u0334" * 30, "\u6f22\u5b57\uff21" * 60, "\uac00\u1100\u1161\u11a8"),
    *("\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd" * 9,),
    *("\u0e19\u0e49\u0e33 \u0915\u094d\u0937\u093f \u0645\u0631\u062d\u0628\u0627", "a\tb\tc" * 50),
    *("| a | b |\n|---|---|\n" + "| \u6f22 | x |\n" * 40, "1. " * 30, "---\n" * 9, "~~~\n`" * 9),
)
NAMES = ("Bash", "Read", "\u202eevil", "x" * 200, "", "\u6f22\u5b57")
AGENTS = ("main", "main/a1", "main/a2", "main/a1/b\u0301\x1b[1m")


class Chance(random.Random):
    """Choices among what texts, blocks and questions can be."""

    def text(self) -> str:
        if self.random() < 0.3:
            letters = string.printable + "\u6f22\u0301\u200d\u202e\x1b\x9b\U0001f600"
            return "".join(self.choices(letters, k=self.choice((1, 7, 60, 400))))
        return self.choice(TEXTS)

    def row(self) -> str:
        return self.text()[: self.choice((3, 30, 300))]

    def call(self) -> str:
        return f"call-{self.randrange(6)}"

    def usage(self) -> Usage:
        return Usage(*(self.choice((0, 7, 4100, 3_000_000)) for _ in range(4)))

    def hunk(self) -> b.Hunk:
        lines = (self.choice(" -+") + self.row().replace("\n", " ") for _ in range(8))
        return b.Hunk(self.randrange(1, 10**6), self.randrange(1, 99), tuple(lines))

    def table(self, columns: int = 0, rows: int = 0) -> b.Table:
        columns = columns or self.randrange(1, 7)
        made = (
            tuple(self.row() for _ in range(columns)) for _ in range(rows or self.randrange(20))
        )
        return b.Table(tuple(self.row() for _ in range(columns)), tuple(made))

    def block(self) -> b.Block:
        return self.choice(list(BLOCKS.values()))(self)

    def view(self) -> tuple[b.Block, ...]:
        return tuple(self.block() for _ in range(self.choice((0, 0, 1, 1, 3))))

    def ask(self, kind: str = "") -> Ask:
        made = kind or self.choice(list(ASKS))
        return Ask(
            kind=made,
            title=self.row(),
            body=self.view(),
            options=ASKS[made],
            reason=self.choice(("", self.text())),
            multiple=made == "question" and self.random() < 0.5,
            free_text=made != "trust" and self.random() < 0.7,
            lacking=(self.row(),) if self.random() < 0.2 else (),
        )


ASKS: Mapping[str, tuple[Option, ...]] = {
    "permission": (
        Option("once", "Yes, once", "y"),
        Option("always", "Yes, and always allow \u202eBash(x:*)\x1b[2J " + "y" * 300, "Y"),
        Option("no", "No", "n"),
    ),
    "question": (
        Option("a", "One", "1", "help " * 60),
        Option("b", "\u6f22" * 50, "2"),
        *(Option(f"o{n}", f"Option {n}", str(n)) for n in range(3, 8)),
    ),
    "plan": (Option("yes", "Yes", "y"), Option("ask", "Ask", "a"), Option("no", "No", "n")),
    "trust": (Option("trust", "Trust", "y"), Option("without", "Without", "n")),
}
BLOCKS: Mapping[type[b.Block], Callable[[Chance], b.Block]] = {
    b.Text: lambda c: b.Text(c.text(), c.choice(("normal", "dim", "good", "warning", "error"))),
    b.Markdown: lambda c: b.Markdown(c.text()),
    b.Code: lambda c: b.Code(c.text(), c.choice(("python", "", c.row())), c.row(), 10**7),
    b.Diff: lambda c: b.Diff(c.row(), tuple(c.hunk() for _ in range(c.randrange(4))), 10**6, 0),
    b.Command: lambda c: b.Command(c.text(), c.row(), c.row()),
    b.Output: lambda c: b.Output(c.text(), c.choice((None, 0, 137)), c.choice((0, 10**6))),
    b.Table: lambda c: c.table(),
    b.Shares: lambda c: b.Shares(
        tuple(
            b.Share(c.row(), c.choice((0, 7, 10**7)), c.random() < 0.3)
            for _ in range(c.randrange(9))
        ),
        c.choice((0, 200_000)),
    ),
    b.Todo: lambda c: b.Todo(
        tuple(b.TodoItem(c.row(), state) for state in ("pending", "in_progress", "completed"))
    ),
    b.Image: lambda c: b.Image("image/png", c.row(), c.row()),
    b.Unknown: lambda c: b.Unknown(c.row(), {c.row(): [c.row()]}),
}
EVENTS: Mapping[type[ev.AnyEvent], Callable[[Chance], ev.AnyEvent]] = {
    ev.SessionStarted: lambda c: ev.SessionStarted(
        model=c.row(), mode="plan", cwd="/home/" + c.row(), app="t", resumed=True
    ),
    ev.UserMessage: lambda c: ev.UserMessage(
        content=(TextContent(c.text()), ImageContent("image/png", "")), hidden=c.random() < 0.2
    ),
    ev.DirectoryAdded: lambda c: ev.DirectoryAdded(path=c.row(), source="slash_command"),
    ev.WorktreeChanged: lambda c: ev.WorktreeChanged(path=c.row(), name="n", branch="b"),
    ev.InstructionsLoaded: lambda c: ev.InstructionsLoaded(
        path=c.row(), kind="user", reason="session_start"
    ),
    ev.MessageRedrawn: lambda c: ev.MessageRedrawn(id="m", text=c.text()),
    ev.AssistantMessage: lambda c: ev.AssistantMessage(
        id="m",
        model=c.row(),
        parts=(
            ThinkingPart(c.text()),
            TextPart(c.text()),
            CallPart(c.call(), c.choice(NAMES), {}),
        ),
        cut=c.random() < 0.2,
    ),
    ev.ToolStarted: lambda c: ev.ToolStarted(
        call_id=c.call(), name=c.choice(NAMES), input={}, verb=c.row(), target=c.row()
    ),
    ev.ToolFinished: lambda c: ev.ToolFinished(
        call_id=c.call(),
        ok=c.random() < 0.7,
        content=(TextContent(c.text()),),
        view=c.view(),
        summary=c.row(),
        ms=c.choice((0, 12, 10**8)),
    ),
    ev.Decided: lambda c: ev.Decided(
        call_id=c.call(),
        tool="Bash",
        target=c.row(),
        behavior=c.choice(("allow", "deny")),
        stage="rules",
        reason=c.row(),
    ),
    ev.CheckStarted: lambda c: ev.CheckStarted(call_id=c.call()),
    ev.AutoChanged: lambda c: ev.AutoChanged(state=c.choice(("", "paused", "down"))),
    ev.DiagnosticsTold: lambda c: ev.DiagnosticsTold(
        summary=c.row(), text=c.text(), errors=1, files=(c.row(), c.row(), c.row())
    ),
    ev.LanguageServerStarted: lambda c: ev.LanguageServerStarted(
        name=c.row(), command=c.row(), root=c.row()
    ),
    ev.SkillInvoked: lambda c: ev.SkillInvoked(
        name=c.row(), origin="user", path=c.row(), files=2, call_id=c.choice(("", c.call()))
    ),
    ev.Compacted: lambda c: ev.Compacted(summary=c.text(), trigger="auto", tokens_before=10**6),
    ev.Cleared: lambda _: ev.Cleared(),
    ev.Snipped: lambda c: ev.Snipped(rounds=(1,), results=(c.call(),), tokens=5),
    ev.ResultsCleared: lambda c: ev.ResultsCleared(call_ids=(c.call(),), tokens=5),
    ev.ImagesDropped: lambda c: ev.ImagesDropped(reason=c.row()),
    ev.Rewound: lambda c: ev.Rewound(
        to=c.choice(("", "id-2", "id-9")), left="x", text=c.choice(("", c.text()))
    ),
    ev.ModeChanged: lambda c: ev.ModeChanged(mode=c.choice(("plan", c.row())), by="user"),
    ev.ModelChanged: lambda c: ev.ModelChanged(model=c.row()),
    ev.EffortChanged: lambda c: ev.EffortChanged(effort=c.row()),
    ev.TitleChanged: lambda c: ev.TitleChanged(title=c.row()),
    ev.JobChanged: lambda c: ev.JobChanged(
        job=ScheduledJob(id=c.row(), prompt=c.text(), every=60.0, paused=c.choice(("", c.row()))),
        gone=c.choice(("", c.row())),
    ),
    ev.FileSaved: lambda c: ev.FileSaved(state=FileState(c.row(), "")),
    ev.TreeSaved: lambda c: ev.TreeSaved(tree=c.row()),
    ev.FilesRestored: lambda c: ev.FilesRestored(to="id-2", files=(FileState(c.row(), ""),)),
    ev.AgentStarted: lambda c: ev.AgentStarted(
        child=c.choice(AGENTS[1:]),
        kind=c.row(),
        prompt=c.text(),
        call_id=c.choice(("", c.call())),
        name=c.choice(("", c.row())),
        background=c.random() < 0.5,
        description=c.choice(("", c.row())),
        resumed=c.random() < 0.2,
    ),
    ev.AgentFinished: lambda c: ev.AgentFinished(
        child=c.choice(AGENTS[1:]),
        ok=c.random() < 0.5,
        report=c.text(),
        status=c.choice(("completed", "failed", "stopped", "budget_exhausted", "interrupted")),
        usage=c.usage(),
        cost=c.random() * 9,
        ms=c.choice((0, 12, 10**8)),
        tools=c.randrange(99),
        worktree=c.choice(("", c.row())),
        branch=c.choice(("", c.row())),
    ),
    ev.AgentProgressed: lambda c: ev.AgentProgressed(
        child=c.choice(AGENTS[1:]),
        state=c.row(),
        target=c.row(),
        tokens=c.randrange(10**7),
        cost=c.random() * 9,
        tools=c.randrange(99),
        phase=c.choice(("queued", "running", "waiting")),
        background=c.random() < 0.3,
    ),
    ev.InputRefused: lambda c: ev.InputRefused(text=c.text(), reason=c.row()),
    ev.HookRan: lambda c: ev.HookRan(
        hook_event="Stop", command=c.row(), outcome=c.choice(("ok", "failed")), message=c.row()
    ),
    ev.HookStarted: lambda c: ev.HookStarted(
        id="h", hook_event="Stop", command=c.row(), status=c.row(), waits=c.random() < 0.5
    ),
    ev.HooksSeen: lambda _: ev.HooksSeen(),
    ev.HookAnswered: lambda c: ev.HookAnswered(
        id="h", stdout=c.text(), stderr=c.text(), terminal=c.text()
    ),
    ev.Noticed: lambda c: ev.Noticed(text=c.text(), tone=c.choice(("normal", "warning", "error"))),
    ev.TurnStarted: lambda _: ev.TurnStarted(),
    ev.TurnEnded: lambda c: ev.TurnEnded(
        stop=c.choice(list(Stop)), message=c.row(), usage=c.usage(), cost=0.3, ms=10**7
    ),
    ev.TextDelta: lambda c: ev.TextDelta(text=c.text()),
    ev.ThinkingDelta: lambda c: ev.ThinkingDelta(text=c.text()),
    ev.InputDelta: lambda c: ev.InputDelta(call_id=c.call(), name=c.choice(NAMES), json=c.row()),
    ev.AttemptPaid: lambda c: ev.AttemptPaid(model=c.row(), usage=c.usage(), cost=0.1),
    ev.MessageDropped: lambda _: ev.MessageDropped(),
    ev.ToolProgressed: lambda c: ev.ToolProgressed(
        call_id=c.call(), tail=c.text(), size=c.randrange(9**9), seconds=c.random() * 1e4
    ),
    ev.UsageChanged: lambda c: ev.UsageChanged(
        usage=c.usage(), cost=c.random() * 300, context=c.randrange(10**6), window=200_000
    ),
    ev.RetryScheduled: lambda c: ev.RetryScheduled(
        attempt=1, attempts=5, seconds=c.random() * 90, reason=c.row()
    ),
    ev.RequestQueued: lambda c: ev.RequestQueued(seconds=c.random() * 90, ahead=c.randrange(9)),
    ev.StreamSilent: lambda c: ev.StreamSilent(seconds=c.random() * 99, limit=99),
    ev.QueueChanged: lambda c: ev.QueueChanged(
        texts=tuple(c.text() for _ in range(c.randrange(4)))
    ),
    ev.Moved: lambda c: ev.Moved(where=c.row()),
    ev.Unconfined: lambda c: ev.Unconfined(why=c.row()),
    ev.TasksChanged: lambda c: ev.TasksChanged(
        running=tuple(f"t{n} {c.row()}" for n in range(c.randrange(3))),
        ended=c.choice(("", "t1")),
        status=c.row(),
        title=c.text(),
    ),
    ev.WorkflowStarted: lambda c: ev.WorkflowStarted(
        run=c.row(), name="review", task="wf_1", description=c.text(), phases=(c.row(), "two")
    ),
    ev.WorkflowProgressed: lambda c: ev.WorkflowProgressed(
        run=c.row(), name="review", phase=c.row(), total=c.randrange(1000), live=c.randrange(16)
    ),
    ev.WorkflowEnded: lambda c: ev.WorkflowEnded(
        run=c.row(), name="review", status=c.choice(("done", "failed")), why=c.text()
    ),
    ev.UltracodeSwitched: lambda c: ev.UltracodeSwitched(on=c.choice((True, False))),
    ev.UnknownEvent: lambda c: ev.UnknownEvent(raw={"type": c.row()}),
}
# A session publishes these with ids of its own: see `tests/tui/fuzz.py`.
NUMBERED: Mapping[type[ev.AnyEvent], Callable[[int], ev.AnyEvent]] = {
    ev.Asked: lambda n: ev.Asked(id=n, ask=Chance(n).ask()),
    ev.Answered: lambda n: ev.Answered(id=n, answer=Answer(cancelled=True)),
}
REWRITING = (ev.Rewound,)  # what may change the draft


def happening(number: int, *, gentle: bool = False) -> tuple[ev.AnyEvent, str]:
    """One event and the agent it comes from; `gentle` ones leave the draft alone."""
    chance = Chance(number)
    kinds = [kind for kind in EVENTS if not (gentle and kind in REWRITING)]
    # Streaming is what happens most; an empty transcript is not worth testing for long.
    weights = [8 if k in STREAMED else 0.3 if k in EMPTYING else 1 for k in kinds]
    kind = chance.choices(kinds, weights)[0]
    return EVENTS[kind](chance), chance.choices(AGENTS, (10, 2, 1, 1))[0]


STREAMED = (ev.TextDelta, ev.ToolProgressed, ev.ThinkingDelta)
EMPTYING = (ev.Cleared, ev.Rewound, ev.SessionStarted)
