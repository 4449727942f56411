"""The screen as a fold over events: no widget, no clock, no colour.

`reduce` is pure. The view holds what is needed to place the next event; the records themselves
go to the transcript as changes.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from msgspec.structs import replace

from gatewright.agent.record import events as ev
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content, TextContent
from gatewright.tui.agents.fold import of_agent, of_child, of_question, turn_over, was_read
from gatewright.tui.hooking import HookEvent, hooked, passed
from gatewright.tui.message_records import Told, of_message
from gatewright.tui.state import (
    Appended,
    Emptied,
    Marked,
    Patched,
    Reduced,
    Removed,
    Returned,
    View,
)
from gatewright.tui.transcript.calls import (
    Call,
    all_stopped,
    of_call,
    patched,
    plain_content,
)
from gatewright.tui.transcript.items import Ending, Invocation, Item, Note, Rule, Said
from gatewright.tui.workflows.fold import of_run, run_of

HALF = 0.5  # seconds below which no wait is told
FULL = "The server takes no requests yet"

Question: TypeAlias = ev.Asked | ev.Answered
Turn: TypeAlias = (
    ev.TurnStarted
    | ev.TurnEnded
    | ev.MessageDropped
    | ev.InputDelta
    | ev.RetryScheduled
    | ev.RequestQueued
)
Record: TypeAlias = (
    ev.UserMessage
    | ev.Noticed
    | ev.DiagnosticsTold
    | ev.Compacted
    | ev.Cleared
    | ev.InputRefused
    | ev.Rewound
)
Facts: TypeAlias = (
    ev.SessionStarted
    | ev.ModeChanged
    | ev.AutoChanged
    | ev.ModelChanged
    | ev.TitleChanged
    | ev.UsageChanged
    | ev.QueueChanged
    | ev.Unconfined
    | ev.UltracodeSwitched
    | ev.Moved
    | ev.WorktreeChanged
    | ev.StreamSilent
)


def reduce(view: View, envelope: ev.Envelope) -> Reduced:
    """The view after an event, and what changed in the transcript."""
    if envelope.agent != view.path:
        return of_child(view, envelope)
    view, changes = _of_main(view, envelope.event, envelope.timestamp)
    return view, (*changes, Marked(envelope.uuid)) if envelope.uuid else changes


def _of_main(view: View, event: ev.AnyEvent, at: float) -> Reduced:  # noqa: C901, PLR0911, PLR0912  one kind each
    if isinstance(event, Told):
        return of_message(view, event, at)
    if isinstance(event, Call):
        return of_call(view, event, at)
    if isinstance(event, Question):
        return of_question(view, event, MAIN, at)
    if isinstance(event, Turn):
        return _turn(view, event, at)
    if isinstance(event, Record):
        return _record(view, event)
    if isinstance(event, Facts):
        return _status(view, event), ()
    if isinstance(event, HookEvent):
        return _hook(view, event, at)
    match event:
        case ev.TasksChanged():
            return _background(view, event)
        case ev.SkillInvoked():
            return _skill(view, event)
        case ev.JobChanged(job=job):
            waits = not (event.gone or job.paused)
            jobs = view.jobs | {job.id} if waits else view.jobs - {job.id}
            return replace(view, jobs=jobs), ()
        case ev.AgentStarted() | ev.AgentFinished() | ev.AgentProgressed():
            return of_agent(view, event, at)
        case ev.WorkflowStarted() | ev.WorkflowProgressed() | ev.WorkflowEnded():
            return of_run(view, event, at), ()
        case (
            ev.AttemptPaid()
            | ev.ResultsCleared()
            | ev.Snipped()
            | ev.FileSaved()
            | ev.TreeSaved()
            | ev.FilesRestored()
            | ev.ImagesDropped()
            | ev.InstructionsLoaded()
            | ev.DirectoryAdded()
            | ev.EffortChanged()
            | ev.LanguageServerStarted()
            | ev.UnknownEvent()
        ):
            return view, ()
        case _:
            assert_never(event)


def add(view: View, item: Item) -> Reduced:
    """Give the item its number and append it."""
    numbered = replace(item, id=view.next_id)
    return replace(view, next_id=view.next_id + 1), (Appended(numbered),)


def _turn(view: View, event: Turn, at: float) -> Reduced:
    match event:
        case ev.TurnStarted():
            view = replace(view, busy_since=at, doing="", doing_since=0.0, waited=0.0, remark="")
            return replace(view, written_before=view.usage.output), ()
        case ev.InputDelta(name=name):
            doing = f"Preparing {name}"
            since = view.doing_since if doing == view.doing else at
            view = replace(view, busy_since=view.busy_since or at)
            return replace(view, doing=doing, doing_since=since, until=0.0), ()
        case ev.RetryScheduled():
            tries = f"{event.attempt} of {event.attempts}" if event.attempts else ""
            until = at + event.seconds
            view = replace(view, doing=event.reason, doing_since=0.0)
            return replace(view, tries=tries, until=until), ()
        case ev.RequestQueued():
            if view.until > at:  # how long it waits is told
                return view, ()
            until = at + event.seconds if event.seconds >= HALF else 0.0
            view = replace(view, doing_since=0.0, until=until, tries="")
            return replace(view, doing=FULL if until else event.why), ()
        case ev.MessageDropped():
            removed = tuple(Removed(item.id) for item in view.live)
            return replace(view, live=()), removed
        case ev.TurnEnded():
            return _ended(view, event)


def settle(view: View, *, all: bool = False) -> Reduced:
    """No turn runs any more: what still looked so has stopped, but what is in the background.

    `all`: that neither.
    """
    view, changes = all_stopped(view)
    changes = (*changes, *(Patched(replace(item, done=True)) for item in view.live))
    view, ended = turn_over(view, all=all)
    view = replace(view, busy_since=0.0, doing="", doing_since=0.0, until=0.0, live=())
    return view, (*changes, *ended)


def _ended(view: View, event: ev.TurnEnded) -> Reduced:
    view, changes = settle(view)
    waited = max(event.waited, round(view.waited * 1000))  # the person's own counts for nobody
    ms = max(0, event.ms - waited)
    ending = Ending(0, event.stop, event.message, event.usage, event.cost, ms, waited)
    view, more = add(view, ending)
    return replace(view, waited=0.0), (*changes, *more)


def _record(view: View, event: Record) -> Reduced:  # noqa: PLR0911  one case each
    match event:
        case ev.UserMessage(hidden=True, content=content):
            return _text_of_skill(view, plain_content(content))
        case ev.UserMessage(content=content):
            return add(was_read(view), Said(0, _said(content)))
        case ev.Noticed(brief=brief) if brief:
            return replace(view, remark=brief), ()
        case ev.Noticed(text=text, tone=tone):
            return add(view, Note(0, text, tone))
        case ev.DiagnosticsTold(summary=summary, text=text, files=files):
            where = ", ".join(files[:2]) + (f" and {len(files) - 2} more" if len(files) > 2 else "")
            return add(view, Invocation(0, f"Diagnostics: {summary} in {where}", text))
        case ev.Compacted(tokens_before=tokens, carried=carried, summary=summary):
            view = replace(view, title=carried.title or view.title, todo=carried.todo)
            told, first = f"earlier messages summarised, {tokens:,} tokens", view.next_id == 1
            return add(view, Rule(0, told, summary, first))
        case ev.Cleared():
            fresh = replace(view, live=(), tools={}, looks=(), todo=(), context=0)
            after, changes = add(fresh, Rule(0, "new conversation"))
            return after, (Emptied(), *changes)
        case ev.Rewound(to=to, carried=carried):
            view = replace(view, live=(), tools={}, looks=(), todo=carried.todo)
            view, more = add(view, Rule(0, "back at an earlier message"))
            return view, (Returned(to), *more)
        case ev.InputRefused():
            return add(view, _unsent(event))


def _unsent(event: ev.InputRefused) -> Note:
    if event.declined:
        return Note(0, event.reason, "dim")
    return Note(0, f"Not sent: {event.reason}\n{event.text}".rstrip(), "warning")


def _hook(view: View, event: HookEvent, at: float) -> Reduced:
    view, text = hooked(view, event, at)
    if text:
        return add(view, Note(0, text, "dim"))
    if not isinstance(event, ev.HookRan) or (known := view.tools.get(event.call_id)) is None:
        return view, ()
    heard = replace(known, hooks=(*known.hooks, passed(event)))
    return patched(replace(view, tools={**view.tools, event.call_id: heard}), heard)


def _skill(view: View, event: ev.SkillInvoked) -> Reduced:
    """One that the person typed; what a call invoked is the record of that call."""
    if event.call_id or event.carried:
        return view, ()
    files = f" · {event.files} {'file' if event.files == 1 else 'files'}" if event.files else ""
    text = f"Skill {event.name} · {event.origin}{files}"
    item = Invocation(view.next_id, text)
    return add(replace(view, skills=(*view.skills, (event, item))), item)


def _text_of_skill(view: View, text: str) -> Reduced:
    for each in view.skills:
        if each[0].opens(text):
            left = tuple(other for other in view.skills if other is not each)
            return replace(view, skills=left), (Patched(replace(each[1], more=text)),)
    return view, ()


def _background(view: View, event: ev.TasksChanged) -> Reduced:
    """An end is told: the turn that it wakes would seem to begin by itself.

    Ends that follow each other are one note.
    """
    view = replace(view, tasks=event.running)
    if not event.ended:
        return view, ()
    title = event.title.partition("\n")[0]
    row = next((row for path, row in view.agents.items() if path.endswith(f"/{event.ended}")), None)
    name, title = (row.label, row.task) if row else (f"Background {event.ended}", title)
    if row is not None and row.over and run_of(row.path) and row.doing:
        title = row.doing  # why a run did not come to its end is told nowhere else
    text = f"{name} has ended, {event.status}"
    text = f"{text}: {title}" if title else text
    before = view.ends
    if before is not None and before.id == view.next_id - 1:
        note = replace(before, text=f"{before.text}\n{text}")
        return replace(view, ends=note), (Patched(note),)
    note = Note(view.next_id, text, "dim")
    return replace(view, ends=note, next_id=view.next_id + 1), (Appended(note),)


def _status(view: View, event: Facts) -> View:  # noqa: C901, PLR0911  one case each
    match event:
        case ev.SessionStarted():
            return replace(view, model=event.model, mode=event.mode, cwd=event.cwd)
        case ev.WorktreeChanged(cwd=cwd):
            return replace(view, cwd=cwd or view.cwd)
        case ev.ModeChanged(mode=mode):
            return replace(view, mode=mode, auto="")
        case ev.AutoChanged(state=state):
            return replace(view, auto=state)
        case ev.ModelChanged(model=model):
            return replace(view, model=model)
        case ev.TitleChanged(title=title):
            return replace(view, title=title)
        case ev.UsageChanged():
            view = replace(view, usage=event.usage, cost=event.cost)
            return replace(view, context=event.context, window=event.window)
        case ev.QueueChanged(texts=texts):
            return replace(view, queue=texts)
        case ev.UltracodeSwitched(on=on):
            return replace(view, ultracode=on)
        case ev.Unconfined():
            return replace(view, confined=False)
        case ev.Moved(where=where):
            return replace(view, moved=where)
        case ev.StreamSilent():
            silent = f"Nothing from the model for {event.seconds:.0f} s"
            return replace(view, doing=silent, doing_since=0.0, until=0.0)


def _said(content: tuple[Content, ...]) -> str:
    """The message as it was typed; what was attached to it in a word each."""
    texts = [piece.text for piece in content if isinstance(piece, TextContent)]
    others = [piece for piece in content if not isinstance(piece, TextContent)]
    rows = [texts[0]] if texts else []
    rows += [f"[{text.count(chr(10)) + 1} lines attached]" for text in texts[1:]]
    return "\n".join([*rows, *([plain_content(tuple(others))] if others else [])])
