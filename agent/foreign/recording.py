"""What another agent says while it works, as events like those of ours: bounded, and inert.

Its own calls are told as calls of one tool that nobody has, so that no fold takes them for ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.foreign.said import MANY, Tokens, Update, brief, text_of
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    AttemptPaid,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
)
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.messages import CallPart, TextPart, ThinkingPart, Usage
from gatewright.agent.text.printable import visible
from gatewright.tools.blocks import Block, Text, Todo, TodoItem, TodoState
from gatewright.tools.protocol import TextContent
from gatewright.tools.system.untyped_json import items, obj

OWN_CALL = "AcpCall"  # what its own calls are told as
SAID = 1_000_000  # characters of a turn
HELD = 4_000_000  # bytes of what its open calls said: it takes many times that here
ROWS = 500  # calls of its own in a turn
SHOWN, TITLE = 4_000, 200  # characters of what one shows, and of its title
STEPS = 100  # of a plan
DEAREST = 1e6  # dollars that anybody believes
STEP = 0.01  # of what it used: less more is not told, so that it cannot be told for ever
LEAST = 0.0001  # dollars that are told by themselves
CUT = "\n[cut: it said more than {:,} characters]"
VERBS = {
    "read": "Read", "edit": "Edit", "delete": "Delete", "move": "Move", "search": "Search",
    "execute": "Run", "fetch": "Fetch", "think": "Think",
}  # fmt: skip
_STATES: dict[str, TodoState] = {"in_progress": "in_progress", "completed": "completed"}


class Row(msgspec.Struct):
    """A call of its own, as told so far."""

    call_id: str
    update: Update
    over: bool = False
    size: int = 0  # bytes of what is kept of it


class Recording:
    """Of one turn; `name` is who it says wrote it."""

    def __init__(self, emit: Callable[[AnyEvent], None], name: str, paid: Paid) -> None:
        self._emit, self._name, self._paid = emit, name, paid
        self._text: list[str] = []
        self._thought: list[str] = []
        self._size = 0
        self._held = 0  # bytes of what is kept of calls that are not over
        self.rows: dict[str, Row] = {}  # by its id
        self.cost = 0.0
        self.usage = Usage()

    def saw(self, update: Update, size: int = 0) -> None:
        """`size` is that of what it sent."""
        match update.session_update:
            case "agent_message_chunk":
                self._said(self._text, text_of(update.content), TextDelta)
            case "agent_thought_chunk":
                self._said(self._thought, text_of(update.content), ThinkingDelta)
            case "tool_call" | "tool_call_update":
                self._row(update, size)
            case "plan":
                self._plan(update.entries or ())
            case "usage_update" if update.cost is not None and update.cost.currency == "USD":
                self._costs(update.cost.amount)
            case _:
                pass  # modes, commands and titles of its own are nothing to us

    def flush(self, calls: Sequence[CallPart] = (), *, cut: bool = False) -> None:
        """What it said so far is a message, with these calls at its end."""
        thought, text = "".join(self._thought), "".join(self._text)
        self._thought.clear()
        self._text.clear()
        spoken = (ThinkingPart(thought),) if thought.strip() else ()
        parts = (*spoken, *((TextPart(text),) if text.strip() else ()), *calls)
        if parts:
            self._emit(AssistantMessage(id=new_id(), model=self._name, parts=parts, cut=cut))

    def finish(self, *, cut: bool) -> None:
        """The turn is over: what it left open had no end."""
        for row in self.rows.values():
            if not row.over:
                self._ended(row, ok=False, summary="not finished")
        self.flush(cut=cut)

    def paid(self, tokens: Tokens) -> None:
        """What it says it used so far, in all its turns."""
        used = self._paid.tokens(tokens)
        if used != Usage():
            self.usage = self.usage.plus(used)
            self._emit(AttemptPaid(model=self._name, usage=used))

    def _said(
        self, kept: list[str], text: str, delta: type[TextDelta] | type[ThinkingDelta]
    ) -> None:
        if not text or self._size > SAID:
            return
        self._size += len(text)
        plain = visible(text) if self._size <= SAID else CUT.format(SAID)
        kept.append(plain)
        self._emit(delta(text=plain))

    def _costs(self, amount: float) -> None:
        more = self._paid.dollars(amount)
        if more:
            self.cost += more
            self._emit(AttemptPaid(model=self._name, usage=Usage(), cost=more))

    def _row(self, update: Update, size: int) -> None:
        id = update.tool_call_id
        row = self.rows.get(id)
        if row is not None and row.over:
            return
        if self._held + size > HELD:
            update, size = brief(update), 0
        if row is None:
            if not id or len(id) > MANY or len(self.rows) >= ROWS:
                return
            row = self.rows[id] = Row(new_id(), update)
            self._started(row)
        else:
            row.update = joined(row.update, update)
        row.size += size
        self._held += size
        if row.update.status in ("completed", "failed"):
            self._ended(row, ok=row.update.status == "completed")

    def _started(self, row: Row) -> None:
        update = row.update
        title = titled(update)
        given = {"title": title, "kind": in_line(update.kind or "other")[:20]}
        self.flush((CallPart(row.call_id, OWN_CALL, given),))
        self._emit(
            ToolStarted(
                call_id=row.call_id,
                name=OWN_CALL,
                input=given,
                verb=VERBS.get(update.kind or "", "Use"),
                target=title,
            )
        )

    def _ended(self, row: Row, *, ok: bool, summary: str = "") -> None:
        row.over = True
        view = tuple(shown(row.update.content))
        said = "\n".join(block.text for block in view if isinstance(block, Text))
        self._emit(
            ToolFinished(
                call_id=row.call_id,
                ok=ok,
                content=(TextContent(said or ("done" if ok else summary or "failed")),),
                view=view,
                summary=summary or ("done" if ok else "failed"),
            )
        )
        self._held -= row.size
        row.update, row.size = brief(row.update), 0

    def _plan(self, entries: Sequence[Any]) -> None:
        steps = tuple(
            TodoItem(in_line(text)[:TITLE], _STATES.get(str(obj(each).get("status")), "pending"))
            for each in entries[:STEPS]
            if isinstance(text := obj(each).get("content"), str)
        )
        if len(self.rows) >= ROWS or not steps:
            return
        row = Row(new_id(), Update(), over=True)
        self.rows[f"plan {row.call_id}"] = row
        given = {"title": "plan"}
        self.flush((CallPart(row.call_id, OWN_CALL, given),))
        done = sum(step.state == "completed" for step in steps)
        target = f"{done} of {len(steps)} done"
        self._emit(
            ToolStarted(call_id=row.call_id, name=OWN_CALL, input=given, verb="Plan", target=target)
        )
        view = (Todo(steps),)
        content = (TextContent("\n".join(f"{step.state}: {step.text}" for step in steps)),)
        self._emit(
            ToolFinished(call_id=row.call_id, ok=True, content=content, view=view, summary=target)
        )


class Paid:
    """What it says it used, which only grows, and is counted once; what nobody believes is not."""

    def __init__(self) -> None:
        self._dollars, self._tokens = 0.0, Usage()

    def dollars(self, amount: float) -> float:
        """More than before."""
        least = max(LEAST, self._dollars * STEP)
        if not least <= amount - self._dollars <= DEAREST:  # and no number that is none
            return 0.0
        more, self._dollars = amount - self._dollars, amount
        return more

    def tokens(self, said: Tokens) -> Usage:
        counts = (
            said.input_tokens,
            said.output_tokens,
            said.cached_read_tokens or 0,
            said.cached_write_tokens or 0,
        )
        now = Usage(*(min(max(0, count), 10**12) for count in counts))
        more = now.less(self._tokens)
        self._tokens = self._tokens.plus(more)
        return more


def joined(before: Update, now: Update) -> Update:
    """What is not said again stays."""
    return msgspec.structs.replace(
        before,
        title=now.title if now.title is not None else before.title,
        kind=now.kind or before.kind,
        status=now.status or before.status,
        content=now.content if now.content is not None else before.content,
        locations=now.locations if now.locations is not None else before.locations,
        raw_input=now.raw_input if now.raw_input is not None else before.raw_input,
    )


def titled(update: Update) -> str:
    return in_line((update.title or update.kind or "a tool of its own")[: TITLE * 2])[:TITLE]


def shown(content: object) -> list[Block]:
    """What a call of it shows, as blocks."""
    found: list[Block] = []
    room = SHOWN
    for each in items(content)[:20]:
        table = obj(each)
        if table.get("type") == "diff":
            found.append(changed(table))
        elif (text := text_of(table.get("content"))) and room > 0:
            found.append(Text(visible(text[:room])))
            room -= len(text)
    return found


def changed(table: dict[str, Any]) -> Block:
    """A change as it says it is; large ones only by their path."""
    path, old, new = (table.get(key) for key in ("path", "oldText", "newText"))
    named = in_line(str(path)[: TITLE * 2])[:TITLE]
    before, after = old if isinstance(old, str) else "", new if isinstance(new, str) else ""
    if len(before) + len(after) > 50 * SHOWN:
        return Text(f"changes {named}")
    from gatewright.tools.files.diff import diff  # noqa: PLC0415  lazy: 1 ms, with a change

    return diff(named, before, after)
