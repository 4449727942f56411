"""Events as sentences in reading order, and typed words as answers; only a torn line is kept."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.events import (
    Answered,
    AnyEvent,
    Asked,
    AssistantMessage,
    Cleared,
    Envelope,
    MessageDropped,
    ModeChanged,
    Noticed,
    RetryScheduled,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from gatewright.agent.frontends.turn import MAIN, text_of
from gatewright.tools.blocks import Diff, plain
from gatewright.tools.interact import Answer, Ask


class Spoken:
    """Holds text back until its line is complete: a screen reader reads lines."""

    def __init__(self) -> None:
        self._held = ""
        self._streamed = False

    def text(self, envelope: Envelope) -> str:
        """What to print for one event."""
        said = self._text(envelope.event)
        if said and envelope.agent != MAIN:
            return f"[{envelope.agent}] {said}"
        return said

    def still_open(self, asked: list[Asked], event: AnyEvent) -> list[Asked]:
        if isinstance(event, Answered):
            return [each for each in asked if each.id != event.id]
        return asked

    def _text(self, event: AnyEvent) -> str:
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
            case _:
                return _line(event)

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
        case ToolFinished(ok=ok, summary=summary, view=view):
            diffs = "".join(f"{plain(block)}\n" for block in view if isinstance(block, Diff))
            return diffs + f"  {'ok' if ok else 'failed'}{f': {summary}' if summary else ''}\n"
        case RetryScheduled(attempt=attempt, attempts=attempts, seconds=seconds, reason=reason):
            return f"{reason} Trying again in {seconds:.0f} s ({attempt} of {attempts}).\n"
        case Noticed(text=text):
            return f"{text}\n"
        case ModeChanged(mode=mode):
            return f"Mode: {mode}\n"
        case Cleared():
            return "The conversation begins anew.\n"
        case TurnEnded(message=message) if message:
            return f"{message}\n"
        case _:
            return ""


def question(ask: Ask) -> str:
    """The whole question: what is at stake, why it is asked, and how to answer."""
    lines = [ask.title, *(plain(block) for block in ask.body)]
    if ask.reason:
        lines.append(ask.reason)
    for number, option in enumerate(ask.options, 1):
        help = f" ({option.help})" if option.help else ""
        lines.append(f"  {option.key or number}: {option.label}{help}")
    lines.append("Type your answer, or what to do instead." if ask.free_text else "Type an answer.")
    return "\n".join(lines) + "\n"


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
