"""What a session teaches, as text: the person's words, what was called and how that went.

Answers of tools are left out: they are other people's words. Secrets are taken out here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gatewright.agent.record.events import (
    AnyEvent,
    Decided,
    Envelope,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from gatewright.agent.text.printable import escaped
from gatewright.agent.text.redact import Redactor
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import TextContent

WHOLE = 40_000  # characters of all; the beginning and the end of a longer one
WORDS, CALL, WRONG = 2_000, 400, 200
BEGINNING = 0.4


def material(events: Iterable[Envelope], redactor: Redactor) -> str:
    """In its order, a paragraph each; empty where nothing was done."""
    lines = [line for each in events if each.agent == MAIN for line in _lines(each.event, redactor)]
    if not any(line.startswith("CALL") for line in lines):
        return ""
    text = "\n".join(lines)
    if len(text) <= WHOLE:
        return text
    first = int(WHOLE * BEGINNING)
    return f"{text[:first]}\n(... left out ...)\n{text[first - WHOLE :]}"


def _lines(event: AnyEvent, redactor: Redactor) -> Iterator[str]:
    """Secrets go before anything is cut: half of one is not known as one."""
    match event:
        case UserMessage(hidden=False, source="", content=content):
            said = "\n".join(part.text for part in content if isinstance(part, TextContent))
            if said.strip():
                yield f"PERSON: {_cut(redactor.text(said.strip()), WORDS)}"
        case ToolStarted() as started:
            yield f"CALL: {_cut(redactor.text(signature(started)), CALL)}"
        case ToolFinished(ok=False, summary=summary, content=content):
            first = next((part.text for part in content if isinstance(part, TextContent)), "")
            line = redactor.text(summary or first.strip()).partition("\n")[0]
            yield f"FAILED: {_cut(line, WRONG)}"
        case Decided(behavior="deny", answer=answer, tool=tool) if answer:
            yield f"REFUSED BY THE PERSON: {tool}"
        case _:
            pass


def signature(started: ToolStarted) -> str:
    """The tool with what it was about."""
    about = started.input.get("command") or started.target
    return f"{started.name} {about}".strip()


def _cut(text: str, limit: int) -> str:
    text = escaped(" ".join(text.split()))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
