"""A session as a document: Markdown, JSON or one HTML page. Secrets are taken out on the way.

Each format is written piece by piece, so that the size of a session does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from html import escape
from typing import Literal, TypeAlias, get_args

import msgspec

from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    Envelope,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import TextPart
from gatewright.agent.text.redact import Redactor
from gatewright.tools.blocks import Diff, plain
from gatewright.tools.protocol import Content, TextContent

Format: TypeAlias = Literal["md", "json", "html"]
FORMATS: tuple[str, ...] = get_args(Format)
OUTPUT_LIMIT = 20_000  # characters of one tool's output in a document

Conversation: TypeAlias = tuple[wire.Header, Iterable[Envelope]]

_STYLE = """
body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.6rem;border-radius:.3rem}
.you{border-left:.25rem solid #48f;padding-left:.8rem}.note{opacity:.65}
summary{cursor:pointer}:root{color-scheme:light dark}
"""


class Piece(msgspec.Struct, frozen=True):
    """One paragraph of a document; `kind` is you, agent, tool or note."""

    kind: str
    text: str
    detail: str = ""


def export(
    header: wire.Header,
    events: Iterable[Envelope],
    format: Format,
    redactor: Redactor,
    agents: Iterable[Conversation] = (),
) -> Iterator[str]:
    """The document in pieces of text; behind the session, those of its agents."""
    match format:
        case "json":
            yield from _json(header, events, redactor, agents)
        case "md":
            yield from _document(header, _pieces(events, redactor), _markdown, _markdown_head)
            for about, said in agents:
                yield f"\n## {_agent(about, redactor)}\n"
                yield from map(_markdown, _pieces(said, redactor))
        case "html":
            yield from _document(header, _pieces(events, redactor), _html, _html_head)
            for about, said in agents:
                yield f"<h2>{escape(_agent(about, redactor))}</h2>\n"
                yield from map(_html, _pieces(said, redactor))
            yield "</body></html>\n"


def _agent(header: wire.Header, redactor: Redactor) -> str:
    about = {} if header.agent is msgspec.UNSET else header.agent
    named = about.get("name") or about.get("kind", "")
    title = f"Agent {header.id}: {named}, {about.get('description', '')}"
    return " ".join(redactor.text(title).split()).rstrip(", ")


def _json(
    header: wire.Header,
    events: Iterable[Envelope],
    redactor: Redactor,
    agents: Iterable[Conversation] = (),
) -> Iterator[str]:
    """Our own records as one JSON object; what it holds can be read by the next version too."""
    yield from _records(header, events, redactor)
    lead = ',\n"agents": [\n'
    for about, said in agents:
        yield lead
        yield from _records(about, said, redactor)
        yield "}\n"
        lead = ",\n"
    yield "}\n" if lead != ",\n" else "]\n}\n"


def _records(header: wire.Header, events: Iterable[Envelope], redactor: Redactor) -> Iterator[str]:
    """All of an object but its end."""
    head = msgspec.to_builtins(header)
    yield '{\n"session": ' + json.dumps(redactor.value(head), ensure_ascii=False)
    yield ',\n"events": [\n'
    lead = ""
    for envelope in events:
        record = redactor.value(json.loads(wire.encode(envelope, header.id)))
        yield lead + json.dumps(record, ensure_ascii=False)
        lead = ",\n"
    yield "\n]\n"


def _pieces(events: Iterable[Envelope], redactor: Redactor) -> Iterator[Piece]:
    titles: dict[str, str] = {}
    for envelope in events:
        event = envelope.event
        if isinstance(event, ToolStarted):
            titles[event.call_id] = f"{event.verb} {event.target}".strip()
        elif piece := _piece(event, titles):
            yield Piece(piece.kind, redactor.text(piece.text), redactor.text(piece.detail))


def _piece(event: AnyEvent, titles: dict[str, str]) -> Piece | None:
    match event:
        case UserMessage(hidden=False, content=content):
            return Piece("you", _text(content))
        case AssistantMessage(parts=parts):
            text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
            return Piece("agent", text) if text else None
        case ToolFinished(call_id=call_id, content=content, summary=summary, view=view):
            title = titles.pop(call_id, "Tool call")
            diffs = "\n".join(plain(block) for block in view if isinstance(block, Diff))
            detail = (diffs or _text(content))[:OUTPUT_LIMIT]
            return Piece("tool", f"{title}: {summary}" if summary else title, detail)
        case Compacted(summary=summary):
            return Piece("note", "What came before was summarised.", summary)
        case Cleared():
            return Piece("note", "The conversation began anew.")
        case TurnEnded(message=message) if message:
            return Piece("note", message)
        case _:
            return None


def _text(content: Iterable[Content]) -> str:
    return "\n".join(
        part.text if isinstance(part, TextContent) else f"[{part.media_type}]" for part in content
    )


def _document(
    header: wire.Header,
    pieces: Iterable[Piece],
    write: Callable[[Piece], str],
    head: Callable[[str, str], str],
) -> Iterator[str]:
    when = datetime.fromtimestamp(header.created).astimezone().strftime("%Y-%m-%d %H:%M")
    yield head(f"Session {header.id}", f"{header.cwd}, {when}")
    for piece in pieces:
        yield write(piece)


def _markdown_head(title: str, about: str) -> str:
    return f"# {title}\n\n{about}\n"


def _markdown(piece: Piece) -> str:
    match piece.kind:
        case "you":
            quoted = "\n".join(f"> {line}".rstrip() for line in piece.text.splitlines())
            return f"\n{quoted}\n"
        case "agent":
            return f"\n{piece.text}\n"
        case _:
            return f"\n*{piece.text}*\n" + (f"\n{_fenced(piece.detail)}\n" if piece.detail else "")


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _html_head(title: str, about: str) -> str:
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>{escape(title)}</h1><p>{escape(about)}</p>\n"
    )


def _html(piece: Piece) -> str:
    text = escape(piece.text)
    match piece.kind:
        case "you":
            return f'<pre class="you">{text}</pre>\n'
        case "agent":
            return f"<pre>{text}</pre>\n"
        case _ if piece.detail:
            body = f"<pre>{escape(piece.detail)}</pre>"
            return f'<details class="note"><summary>{text}</summary>{body}</details>\n'
        case _:
            return f'<p class="note">{text}</p>\n'
