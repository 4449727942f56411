"""Turns transcripts of Claude Code into sessions of ours, so that they can be gone on with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Compacted,
    Envelope,
    TitleChanged,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from gatewright.agent.record.messages import AssistantPart, CallPart, TextPart, Usage
from gatewright.agent.transcript.place import project_folder, transcript_file
from gatewright.agent.version import VERSION
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import Content, ImageContent, TextContent
from gatewright.tools.system import private
from gatewright.tools.system.regular import open_regular
from gatewright.tools.system.untyped_json import items, obj

TARGETS = ("file_path", "command", "pattern", "path", "url", "notebook_path", "description")


class Record(msgspec.Struct, frozen=True, rename="camel"):
    """One line of theirs, as far as it matters here."""

    type: str
    uuid: str = ""
    parent_uuid: str | None = None
    session_id: str = ""
    timestamp: str = ""
    cwd: str = ""
    message: dict[str, Any] = {}
    summary: str = ""
    is_sidechain: bool = False
    is_meta: bool = False
    is_compact_summary: bool = False


_decoder = msgspec.json.Decoder(Record)


def import_claude(source: Path, home: Path) -> Path:
    """Write the session into the folder of the directory it worked in; returns the new file.

    Raises SessionError when it holds no conversation, or was imported before.
    """
    records = _main_line(_records(source))
    talk = [record for record in records if record.type in ("user", "assistant")]
    if not talk:
        raise SessionError(f"{source} holds no conversation.")
    cwd = next((record.cwd for record in talk if record.cwd), "")
    session = next((record.session_id for record in talk if record.session_id), source.stem)
    target = transcript_file(project_folder(home, Path(cwd)), session)
    if target.exists():
        raise SessionError(f"Session {session} was imported before.")
    header = wire.Header(
        version=wire.VERSION, id=session, cwd=cwd, created=_time(talk[0]), app=VERSION
    )
    private.folder(target.parent)
    fresh = target.with_suffix(".new")
    with open(fresh, "wb", opener=private.opener) as out:
        out.write(wire.encode_header(header))
        out.writelines(wire.encode(envelope, session) for envelope in _envelopes(records))
    fresh.replace(target)
    return target


def _records(source: Path) -> list[Record]:
    found: list[Record] = []
    try:
        with open_regular(source) as file:
            for line in file:
                try:
                    found.append(_decoder.decode(line))
                except (msgspec.MsgspecError, RecursionError):
                    continue
    except OSError as error:
        raise SessionError(f"{source} cannot be read: {error.strerror or error}.") from error
    return found


def _main_line(records: Sequence[Record]) -> list[Record]:
    """From the newest message back to the root, summaries in front; side chains are left out."""
    by_id = {record.uuid: record for record in records if record.uuid}
    talk = [r for r in records if r.type in ("user", "assistant") and not r.is_sidechain]
    branch: list[Record] = []
    seen: set[str] = set()
    step = talk[-1] if talk else None
    while step is not None and step.uuid not in seen:
        seen.add(step.uuid)
        branch.append(step)
        step = by_id.get(step.parent_uuid or "")
    titles = [record for record in records if record.type == "summary" and record.summary]
    return [*titles[-1:], *reversed(branch)]


def _envelopes(records: Sequence[Record]) -> Iterator[Envelope]:
    parent = ""
    for record in records:
        for number, event in enumerate(_events(record)):
            uuid = (
                f"{record.uuid or 'summary'}-{number}" if number or not record.uuid else record.uuid
            )
            yield Envelope(
                seq=0, uuid=uuid, parent=parent, timestamp=_time(record), agent=MAIN, event=event
            )
            parent = uuid


def _events(record: Record) -> Iterator[AnyEvent]:
    if record.type == "summary":
        yield TitleChanged(title=record.summary[:100])
    elif record.type == "assistant":
        yield from _answer(record)
    elif record.is_compact_summary:
        text = "\n".join(part.text for part in _content(record) if isinstance(part, TextContent))
        yield Compacted(summary=text, trigger="imported", tokens_before=0)
    elif record.type == "user":
        yield from _results(record)
        if content := _content(record):
            # What of it was typed is not known there: it stands in for nobody's word.
            typed = None if record.is_meta else ""
            yield UserMessage(content=content, hidden=record.is_meta, typed=typed)


def _answer(record: Record) -> Iterator[AnyEvent]:
    message = record.message
    parts: list[AssistantPart] = []
    for block in _blocks(message):
        match block:
            case {"type": "text", "text": str(text)}:
                parts.append(TextPart(text))
            case {"type": "tool_use", "id": str(id), "name": str(name)}:
                parts.append(CallPart(id, name, block.get("input") or {}))
            case _:
                continue  # thinking is signed for their requests, not for ours
    if not parts:
        return
    yield AssistantMessage(
        id=str(message.get("id", record.uuid)),
        model=str(message.get("model", "")),
        parts=tuple(parts),
        usage=_usage(message.get("usage")),
    )
    for part in parts:
        if isinstance(part, CallPart):
            target = next((str(part.input[key]) for key in TARGETS if key in part.input), "")
            yield ToolStarted(
                call_id=part.id, name=part.name, input=part.input, verb=part.name, target=target
            )


def _results(record: Record) -> Iterator[AnyEvent]:
    for block in _blocks(record.message):
        if block.get("type") == "tool_result":
            yield ToolFinished(
                call_id=str(block.get("tool_use_id", "")),
                ok=not block.get("is_error"),
                content=_parts(block.get("content")),
            )


def _content(record: Record) -> tuple[Content, ...]:
    return _parts(record.message.get("content"))


def _parts(content: object) -> tuple[Content, ...]:
    if isinstance(content, str):
        return (TextContent(content),) if content else ()
    found: list[Content] = []
    for block in _blocks({"content": content}):
        match block:
            case {"type": "text", "text": str(text)}:
                found.append(TextContent(text))
            case {"type": "image", "source": {"media_type": str(kind), "data": str(data)}}:
                found.append(ImageContent(kind, data))
            case _:
                continue
    return tuple(found)


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in map(obj, items(content)) if block]


def _usage(raw: object) -> Usage:
    def count(name: str) -> int:
        value = obj(raw).get(name)
        return value if isinstance(value, int) else 0

    return Usage(
        input=count("input_tokens"),
        output=count("output_tokens"),
        cache_read=count("cache_read_input_tokens"),
        cache_write=count("cache_creation_input_tokens"),
    )


def _time(record: Record) -> float:
    try:
        return datetime.fromisoformat(record.timestamp).timestamp()
    except ValueError:
        return 0.0
