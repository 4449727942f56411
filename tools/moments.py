"""The few points of a session where others may speak: what each tells, and what may be answered.

Whoever asks holds a `Moments` or None. With None nothing is built, imported or awaited, so a
session that nobody listens to pays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from gatewright.tools.access import MAIN, Access
from gatewright.tools.blocks import Text
from gatewright.tools.protocol import JsonObject, TextContent, ToolCall, ToolResult

Word: TypeAlias = Literal["", "allow", "ask", "defer", "deny", "stop"]


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    agent: str = MAIN


class SessionStarts(Moment, frozen=True):
    """Before the first request, and that after a clear: it waits for the answer.

    After a summary it is `CompactionEnded`, whose context stands behind the summary. `input` in the
    answer has the `prompt` that the session begins with.
    """

    source: Literal["startup", "resume", "clear", "compact", "fork"]
    model: str = ""
    title: str = ""


class SessionEnds(Moment, frozen=True):
    reason: str


class SetUp(Moment, frozen=True):
    """Somebody asked for the one-time work of a project: `init` or `maintenance`."""

    trigger: str


class InputArrives(Moment, frozen=True):
    """A denied input is not sent; its text goes back to who typed it, or `output` in its place."""

    text: str
    source: str = "person"  # or what started by itself: schedule, channel, peer, agent


class CommandExpands(Moment, frozen=True):
    """A slash command has become text for the model; a denied one is not sent."""

    name: str
    args: str
    source: str
    text: str


class CallPrepared(Moment, frozen=True):
    """Validated, not judged yet. `input` in the answer makes another call of it."""

    call: ToolCall
    access: Access
    mode: str
    lone: bool = False  # of who listens themselves: nobody who would make such a call hears of it


class PersonNeeded(Moment, frozen=True):
    """A person would be asked, or nobody is there and the call would be refused."""

    call: ToolCall
    access: Access
    mode: str
    suggestions: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()  # those that the prompt could switch to


class CallDenied(Moment, frozen=True):
    call: ToolCall
    reason: str


class CallEnded(Moment, frozen=True):
    """`output` in the answer replaces what the model reads."""

    call: ToolCall
    result: ToolResult
    ms: int


class BatchEnded(Moment, frozen=True):
    calls: tuple[tuple[ToolCall, ToolResult], ...]


class TurnWouldEnd(Moment, frozen=True):
    """A denial lets the turn go on, with its text; `again` counts how often it did in a row."""

    said: str
    again: int = 0


class Compacting(Moment, frozen=True):
    trigger: str
    instructions: str = ""


class CompactionEnded(Moment, frozen=True):
    trigger: str
    summary: str


class AgentStarts(Moment, frozen=True):
    child: str
    kind: str


class AgentIdles(Moment, frozen=True):
    name: str
    team: str = ""


class TaskMoves(Moment, frozen=True):
    """A task of a list is created or completed; a denial takes that back."""

    id: str
    subject: str
    completed: bool = False
    description: str = ""
    name: str = ""
    team: str = ""


class WorktreeWanted(Moment, frozen=True):
    """The answer's text is where it was made; empty, and it is made as usual."""

    name: str


class WorktreeGone(Moment, frozen=True):
    path: str


class SettingsChange(Moment, frozen=True):
    """A settings file says something else: denied, it stays what it was. `source` is its layer.

    What the managed layer says counts whatever is answered.
    """

    source: str
    path: str


class ModelChange(Moment, frozen=True):
    before: str
    after: str
    reason: Literal["user", "fallback"] = "user"


class MessageShown(Moment, frozen=True):
    """`output` in the answer is what the screen shows in its place; the model is told nothing."""

    id: str
    index: int
    final: bool
    delta: str


class Elicits(Moment, frozen=True):
    server: str
    message: str
    mode: str = ""
    url: str = ""
    schema: JsonObject | None = None
    id: str = ""


class Elicited(Moment, frozen=True):
    server: str
    action: str
    content: JsonObject | None = None
    mode: str = ""
    id: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What those who listen say together; the default goes on as if nobody had listened.

    `context` is for the model, `notice` for the person; `stop` ends the turn with `text` as why.
    `always`: of the rules that a prompt could offer, those that count from now on; `session`: those
    that do for this session; `mode`: what it works in from now on. `answers`: with `input`, a call
    that is a question to the person has its answer. `defer` comes only where a call can wait.
    """

    word: Word = ""
    text: str = ""
    input: JsonObject | None = None
    output: str | None = None
    context: tuple[str, ...] = ()
    notice: str = ""
    always: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    mode: str = ""
    answers: bool = False

    def ends_turn(self) -> bool:
        return self.word == "stop"


class Moments(Protocol):
    async def at(self, moment: Moment) -> Verdict: ...


_RANK: Sequence[Word] = ("", "allow", "ask", "defer", "deny", "stop")  # the strictest wins


def merged(verdicts: Sequence[Verdict]) -> Verdict:
    """Of several answers: the strictest word, all texts of it, the first input and output."""
    if len(verdicts) == 1:
        return verdicts[0]
    word: Word = ""
    for each in verdicts:
        if _RANK.index(each.word) > _RANK.index(word):
            word = each.word
    texts = [each.text for each in verdicts if each.text and each.word == word]
    inputs = [each.input for each in verdicts if each.input is not None]
    outputs = [each.output for each in verdicts if each.output is not None]
    return Verdict(
        word=word,
        text="\n".join(texts),
        input=inputs[0] if inputs else None,
        output=outputs[0] if outputs else None,
        context=tuple(text for each in verdicts for text in each.context),
        notice="\n".join(each.notice for each in verdicts if each.notice),
        always=tuple(rule for each in verdicts for rule in each.always),
        session=tuple(rule for each in verdicts for rule in each.session),
        mode=next((each.mode for each in verdicts if each.mode), ""),
        answers=bool(inputs) and next(each for each in verdicts if each.input is not None).answers,
    )


def told_besides(result: ToolResult, verdict: Verdict) -> ToolResult:
    """The result with what was said beside it: to the model, and to people."""
    if not verdict.context and not verdict.notice:
        return result
    content = (*result.content, *(TextContent(text) for text in verdict.context))
    shown = (Text(verdict.notice, "warning"),) if verdict.notice else ()
    return msgspec.structs.replace(result, content=content, view=(*result.view, *shown))
