"""Lists sessions. The directory is the index: both ends of each file tell enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gatewright.agent import wire
from gatewright.agent.errors import SessionError
from gatewright.agent.events import TitleChanged, UserMessage
from gatewright.agent.transcript.reader import decoded, head_and_tail
from gatewright.tools.protocol import TextContent

TITLE_LIMIT = 100


class Listed(msgspec.Struct, frozen=True):
    id: str
    path: Path
    title: str
    cwd: str
    changed: float
    size: int


def list_sessions(folder: Path) -> list[Listed]:
    """The sessions of one project folder, newest first; files that are none are left out."""
    found: list[Listed] = []
    for path in folder.glob("*.jsonl"):
        listed = describe(path)
        if listed is not None:
            found.append(listed)
    return sorted(found, key=lambda listed: listed.changed, reverse=True)


def describe(path: Path) -> Listed | None:
    try:
        status = path.stat()
        head, tail = head_and_tail(path)
        header = wire.decode_header(head[0] if head else b"")
    except (OSError, wire.WireError):
        return None
    return Listed(
        id=header.id,
        path=path,
        title=_title(head, tail),
        cwd=header.cwd,
        changed=status.st_mtime,
        size=status.st_size,
    )


def _title(head: Sequence[bytes], tail: Sequence[bytes]) -> str:
    for envelope in decoded(tail[::-1]):
        if isinstance(envelope.event, TitleChanged):
            return envelope.event.title
    for envelope in decoded(head[1:]):
        event = envelope.event
        if isinstance(event, UserMessage) and not event.hidden:
            text = " ".join(part.text for part in event.content if isinstance(part, TextContent))
            return " ".join(text.split())[:TITLE_LIMIT]
    return ""


def find_session(folder: Path, wanted: str) -> Path:
    """The transcript a person means by an id, the beginning of one, a path, or words of its title.

    Raises SessionError saying what to do when there is none or more than one.
    """
    if wanted.endswith(".jsonl") or "/" in wanted:
        path = Path(wanted).expanduser()
        if path.is_file():
            return path
        raise SessionError(f"There is no session file {wanted}.")
    sessions = list_sessions(folder)
    matches = [listed for listed in sessions if listed.id.startswith(wanted)] or [
        listed for listed in sessions if wanted.lower() in listed.title.lower()
    ]
    if len(matches) == 1:
        return matches[0].path
    if not matches:
        raise SessionError(f"No session here matches {wanted!r}. `agent --resume` lists them.")
    names = ", ".join(listed.id[:13] for listed in matches[:5])
    raise SessionError(f"{len(matches)} sessions match {wanted!r} ({names}). Give more of the id.")
