"""One agent below, live on the whole screen: its transcript in place of the main one.

What is typed goes to it; commands, questions and keys stay the session's. Once it is closed nothing
of it is kept here but a draft, and the main transcript is where it was.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.css.query import NoMatches
from textual.widgets import Static

from gatewright.agent.errors import GatewrightError
from gatewright.agent.record.events import Envelope
from gatewright.tools.access import MAIN
from gatewright.tui import cells
from gatewright.tui.agents.known import AgentRow
from gatewright.tui.agents.shown import attended
from gatewright.tui.apply import apply
from gatewright.tui.event_pump import pump
from gatewright.tui.line import Line, Span, clip, line
from gatewright.tui.reduce import add, reduce
from gatewright.tui.rows import Drawn
from gatewright.tui.sanitize import one_line
from gatewright.tui.session_calls import Talk
from gatewright.tui.state import Change, View
from gatewright.tui.status.waiting import Queued
from gatewright.tui.style.look import Look
from gatewright.tui.transcript.items import Note
from gatewright.tui.transcript.view import Transcript
from gatewright.tui.workflows.fold import run_of

if TYPE_CHECKING:
    from gatewright.agent.record.hub import Subscription
    from gatewright.tui.app import AgentApp
    from gatewright.tui.screens.repl import Repl  # it makes this

MARK = "\u276f"
NAME = 20  # cells of a name before the prompt
DRAFTS = 20  # agents whose draft is kept
WATCHING = "watching"  # for style sheets


class Watching:
    """`transcript` and `view` are those of the agent that is seen; None while none is."""

    def __init__(self, repl: Repl, look: Look, talk: Talk, host: AgentApp) -> None:
        self._repl = repl
        self._look = look
        self._talk = talk
        self._host = host
        self._head: Drawn[AgentRow | None] | None = None
        self._events: Subscription | None = None
        self._following = False
        self._drafts: dict[str, str] = {}
        self.path = MAIN
        self._came = ""  # the row of the strip that it was opened from
        self.view: View | None = None
        self.transcript: Transcript | None = None

    @property
    def open(self) -> bool:
        return self.transcript is not None

    def act(self, row: AgentRow, act: str) -> None:
        """What was chosen for an agent, or a run of a workflow: stop, resume or open."""
        if run := run_of(row.path):
            self._repl.agents.leave()
            self._talk.call("workflows", run if act == "open" else f"{act} {run}")
            return
        match act:
            case "stop":
                self._talk.stop_agent(row.path)
            case "resume":
                self._talk.resume_agent(row.path)
            case _:
                self._repl.agents.leave()
                self.show(row)
                self._came = row.path

    def back(self) -> None:
        """To where the person was: in the strip too, so that one more Esc leaves it and stops
        nothing.
        """
        came = self._came
        self.close()
        if came and not self._repl.box.text:
            self._repl.agents.enter(came)

    def show(self, row: AgentRow) -> None:
        """Open the view of this agent, in place of any other."""
        if row.path == self.path:
            return
        self.close()
        self.path, self.view = row.path, View(path=row.path)
        self.transcript = Transcript(self._look, id="watched")
        self._head = Drawn(self._look, _head, row, id="watched-head")
        repl = self._repl
        repl.mount(self._head, self.transcript, before=repl.transcript)
        repl.set_class(True, WATCHING)
        self._swap(MAIN, row.path, one_line(row.label))
        self._follow()

    def close(self) -> None:
        """Back to the main transcript, where it was."""
        if self.transcript is None or self._head is None:
            return
        path, self.path, self._came = self.path, MAIN, ""
        if self._events is not None:
            self._events.close()
        self._events, self._following = None, False
        self.transcript.remove()
        self._head.remove()
        self.view = self.transcript = self._head = None
        self._repl.set_class(False, WATCHING)
        self._swap(path, MAIN, "")
        self._moved()

    def update(self, main: View) -> None:
        """The main view is another: the agent may have ended, or go on."""
        row = main.agents.get(self.path)
        if row is not None and self._head is not None:
            self._head.show(row)
            if row.lives and not self._following:
                self._follow()
        self._moved()

    def _moved(self) -> None:
        """What moves above the prompt and waits there is the agent's, questions whosever."""
        repl, main = self._repl, self._repl.view
        seen = replace(self.view, asks=main.asks) if self.view is not None else main
        repl.spinner.show(seen)
        repl.queue.show(Queued(seen.queue, bool(seen.queue and attended(seen.agents))))
        repl.box.queued = bool(main.queue) and not self.open

    def _swap(self, here: str, there: str, name: str) -> None:
        """The draft is for whom it was written; the prompt says for whom that is."""
        box = self._repl.box
        self._drafts.pop(here, None)
        if draft := box.chips.unfold(box.text):
            self._drafts[here] = draft
            while len(self._drafts) > DRAFTS:
                self._drafts.pop(next(iter(self._drafts)))
        box.put(self._drafts.pop(there, ""))
        self._talk.to = there
        label = cells.fit(name, NAME)
        box.address(label)
        self._repl.status.look_at(label)
        with suppress(NoMatches):  # before the first frame there is no prompt
            mark = self._repl.query_one("#prompt-mark", Static)
            text = f"to {label} {MARK}" if label else MARK
            mark.update(text)
            mark.styles.width = cells.width(text) + 2

    # its events

    def _follow(self) -> None:
        self._following = True
        self._host.spawn(partial(self._live, self.path))

    async def _live(self, path: str) -> None:
        """From its first event that is kept; one that goes on after its end is read anew."""
        session = self._talk.session
        if session is None:
            return
        try:
            events = await session.watch(path)
        except GatewrightError as error:
            self._note(path, str(error))
            return
        if self.path != path or self._events is not None or self.transcript is None:
            events.close()
            return
        self._events = events
        self.view = View(path=path)
        self.transcript.empty()
        if kept := events.waiting():  # at once: the view is never seen empty
            self._take(kept)
        await pump(events, self._take)
        if self._events is events:
            self._events, self._following = None, False
            self.update(self._repl.view)

    def _note(self, path: str, text: str) -> None:
        if self.path == path and self.view is not None and self.transcript is not None:
            self.view, changes = add(self.view, Note(0, text, "warning"))
            apply(self.transcript, changes)

    def _take(self, batch: list[Envelope]) -> None:
        view, transcript = self.view, self.transcript
        if view is None or transcript is None:
            return
        changes: list[Change] = []
        for envelope in batch:
            view, more = reduce(view, envelope)
            changes += more
        self.view = view
        apply(transcript, changes)
        self._moved()


def _head(row: AgentRow | None, width: int) -> list[Line]:
    """Who it is and what for, with a line across to the way back."""
    if row is None:
        return []
    back = " esc goes back"
    label = cells.fit(one_line(row.label), width // 3)
    doing = one_line(row.doing) if row.state == "waiting" else ""  # else it is seen below
    told = f" {cells.fit(doing or row.state, width // 3)}" if doing or not row.lives else ""
    room = max(0, width - cells.width(label + back + told) - 9)
    task = cells.fit(one_line(row.task), room)
    rule = "─" * max(1, room - cells.width(task) + 1)
    spans = (
        Span("── ", "faint"),
        Span(label, "accent:b"),
        Span(f"  {task}" if task else "", "dim"),
        Span(told, "warning"),
        Span(f" {rule}", "faint"),
        Span(back, "faint"),
    )
    return [clip(line(*(span for span in spans if span.text)), width)]
