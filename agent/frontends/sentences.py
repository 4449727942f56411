"""Events as sentences in reading order, and typed words as answers; only a torn line is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gatewright.agent.frontends.must_know import waiting, warning
from gatewright.agent.frontends.running import Running
from gatewright.agent.frontends.turn import text_of
from gatewright.agent.record.events import (
    AnyEvent,
    Asked,
    AssistantMessage,
    Cleared,
    Envelope,
    HookRan,
    InputRefused,
    MessageDropped,
    ModeChanged,
    Noticed,
    QueueChanged,
    RetryScheduled,
    Rewound,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from gatewright.agent.text.money import dollars
from gatewright.agent.text.printable import as_run, visible
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Block, Command, Diff, Output, Text, plain
from gatewright.tools.form_values import about
from gatewright.tools.interact import Answer, Ask, words
from gatewright.tools.protocol import TextContent
from gatewright.tools.system.hosts import misread

ROWS = 6  # of an output
LAST = 12  # of an answer that is recalled


class Spoken:
    """Holds text back until its line is complete: a screen reader reads lines.

    `output` makes what a command printed readable; the whole is made harmless by who prints it.
    """

    def __init__(self, output: Callable[[str], str] = str) -> None:
        self._output = output
        self._held = ""
        self._streamed = False
        self._busy = False
        self._queued = 0
        self._running = Running()

    def text(self, envelope: Envelope) -> str:
        """What to print for one event."""
        said = self._text(envelope.event, self._running.name_of(envelope.event))
        if said and envelope.agent != MAIN:
            return f"[{envelope.agent}] {said}"
        return said

    def _text(self, event: AnyEvent, name: str) -> str:
        match event:
            case TextDelta(text=text):
                return self._stream(text)
            case AssistantMessage() as message:
                return self._complete(message)
            case MessageDropped():
                self._held, self._streamed = "", False
                return "(The answer broke off and is asked for again.)\n"
            case Asked(ask=ask):
                return question(ask)
            case TurnStarted() | TurnEnded() | QueueChanged():
                return self._turning(event)
            case ToolFinished() as finished:
                return self._finished(finished, name)
            case _:
                return _line(event)

    def _turning(self, event: TurnStarted | TurnEnded | QueueChanged) -> str:
        match event:
            case TurnStarted():
                self._busy = True
                return ""
            case TurnEnded():
                self._busy = False
                return _ended(event)
            case QueueChanged(texts=texts):
                more, self._queued = len(texts) > self._queued, len(texts)
                return "(This waits for the next step.)\n" if more and self._busy else ""

    def _finished(self, event: ToolFinished, name: str) -> str:
        said = ("", event.summary)  # it stands in the line anyway
        view = (b for b in event.view if not (isinstance(b, Text) and b.text.strip() in said))
        shown = "".join(map(self._shown, view))
        how = "ok" if event.ok else "failed"
        how = f"{how}: {event.summary}" if event.summary else how
        if name:  # of calls side by side: first of which one, then what came of it
            return f"{name}{how}\n{shown}"
        return f"{shown}  {how}\n"

    def _shown(self, block: Block) -> str:
        """A change in full, the beginning of an output."""
        match block:
            case Diff():
                return f"{plain(block)}\n"
            case Output(text=text, hidden_lines=hidden):
                return self._beginning(text, hidden)
            case Text(text=text):
                return self._beginning(text)
            case _:
                return ""

    def _beginning(self, text: str, hidden: int = 0) -> str:
        rows = self._output(text).strip("\n").split("\n")
        more = len(rows) - ROWS + hidden
        said = "".join(f"  {row}\n" for row in rows[:ROWS] if row.strip())
        return said + (f"  ({more:,} more lines)\n" if more > 0 else "")

    def _stream(self, text: str) -> str:
        self._streamed = True
        done, newline, self._held = (self._held + text).rpartition("\n")
        return done + newline

    def _complete(self, message: AssistantMessage) -> str:
        text = self._held if self._streamed else text_of(message)
        self._held, self._streamed = "", False
        return text + "\n" if text and not text.endswith("\n") else text


def _line(event: AnyEvent) -> str:
    match event:
        case ToolStarted(verb=verb, target=target):
            return f"{verb} {target}".rstrip() + "\n"
        case RetryScheduled() as retry:
            return f"{waiting(retry)}\n"
        case Noticed(text=text):
            return f"{text}\n"
        case HookRan(message=message) as ran if message:
            return f"{warning(ran)}\n"
        case InputRefused(reason=reason, declined=declined):
            return f"{'' if declined else 'Not sent: '}{reason}\n"
        case ModeChanged(mode=mode, by=by) if by != "user":  # what /mode says is enough
            return f"Mode: {mode}\n"
        case Cleared():
            return "The conversation begins anew.\n"
        case _:
            return ""


def recalled(history: Sequence[Envelope]) -> str:
    """The end of a conversation that goes on: the last words of both."""
    said = answer = ""
    for envelope in history:
        match envelope.event:
            case UserMessage(content=content, hidden=False):
                said, answer = next((c.text for c in content if isinstance(c, TextContent)), ""), ""
            case AssistantMessage() as message if envelope.agent == MAIN:
                answer = text_of(message) or answer
            case Cleared() | Rewound():
                said = answer = ""
            case _:
                pass
    lines = [f"> {row}" for row in said.split("\n")[:ROWS]] if said else []
    rows = answer.strip("\n").split("\n") if answer else []
    lines += [f"(... {len(rows) - LAST:,} lines)", *rows[-LAST:]] if len(rows) > LAST else rows
    return "".join(f"{row}\n" for row in lines)


def _ended(event: TurnEnded) -> str:
    """Why it stopped short, if it did, and what it took."""
    why = f"{event.message}\n" if event.message else ""
    usage = event.usage
    read = usage.input + usage.cache_read + usage.cache_write
    tokens = f", {read:,} tokens in, {usage.output:,} out" if read or usage.output else ""
    cost = f", {dollars(event.cost)}" if event.cost else ""
    return f"{why}({event.ms / 1000:.1f} s{tokens}{cost})\n"


def question(ask: Ask) -> str:
    """The whole question: what is at stake, why it is asked, and how to answer."""
    lines = [_exact(_headline(ask)), *map(_judged, ask.body)]
    lines += [f"  - {_exact(about(field))}" for field in ask.fields]
    lines += map(_exact, misread(words(ask)))
    if ask.reason:
        lines.append(_exact(ask.reason))
    for number, option in enumerate(ask.options, 1):
        help = f" ({_exact(option.help)})" if option.help else ""
        lines.append(f"  {option.key or number}: {_exact(option.label)}{help}")
    lines.append("Type your answer, or what to do instead." if ask.free_text else "Type an answer.")
    return "\n".join(lines) + "\n"


def _headline(ask: Ask) -> str:
    """A question as one: what is asked about must not read as if it happened."""
    if ask.kind != "permission" or ask.title.endswith("?"):
        return ask.title
    commands = any(isinstance(block, Command) for block in ask.body)
    return "Run this command?" if commands else f"{ask.title}?"


def _judged(block: Block) -> str:
    if isinstance(block, Command):
        place = f"\n  in {_exact(block.cwd)}" if block.cwd else ""
        return f"$ {as_run(block.command)}{place}"
    return _exact(plain(block))


def _exact(text: str) -> str:
    return visible(text, strict=True)


def answer_from(ask: Ask, line: str) -> Answer | None:
    """What a typed line means; None when it means nothing here."""
    words = line.replace(",", " ").split() if ask.multiple else [line.strip()]
    chosen = [_choice(_words(ask), word) for word in words]
    if chosen and all(chosen):
        return Answer(choices=tuple(chosen))
    if ask.free_text and line.strip():
        return Answer(text=line.strip())
    return None


def _words(ask: Ask) -> list[tuple[str, str]]:
    """Every word that picks an option, with the option's id."""
    return [
        (word, option.id)
        for number, option in enumerate(ask.options, 1)
        for word in (option.key, str(number), option.id, option.label)
        if word
    ]


def _choice(words: Sequence[tuple[str, str]], typed: str) -> str:
    """The id of the option meant: keys exactly (y and Y differ), numbers and labels as typed."""
    for word, option in words:
        if typed == word:
            return option
    folded = [option for word, option in words if len(word) > 1 and typed.lower() == word.lower()]
    return folded[0] if folded else ""
