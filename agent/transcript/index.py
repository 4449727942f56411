"""Lists sessions. The directory is the index: both ends of each file tell enough."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import SessionStarted, TitleChanged, UserMessage
from gatewright.agent.transcript.reader import decoded, head_and_tail
from gatewright.tools.protocol import TextContent
from gatewright.tools.system.patterns import later

TITLE_LIMIT = 100
SILENT = 64 * 1024  # bytes: so much is read; what is larger holds more than choices
ID_TEXT = later(r"[A-Za-z0-9-]+")
_WORD = b'{"type":"user",'
_CUT_TEXT = later(rb'^\{"type":"user",.*?"text":"((?:[^"\\]|\\.)*)', re.DOTALL)


class Listed(msgspec.Struct, frozen=True, rename="camel"):
    """`title` is what the person or the model named it, else how its first prompt begins."""

    id: str
    path: Path
    title: str
    cwd: str
    changed: float
    size: int
    created: float = 0.0
    branch: str = ""
    prompt: str = ""
    forked_from: str = ""
    said: bool = True  # somebody spoke in it: of others an id is all that anybody knows


def list_sessions(
    folder: Path, *, limit: int = 0, known: dict[Path, Listed] | None = None
) -> list[Listed]:
    """The sessions of one project folder, newest first; files that are none are left out.

    With a limit only so many of the newest files are opened; of `known` ones, which are kept up to
    date, only those that changed.
    """
    return _described(_dated(folder), limit, {} if known is None else known)


def list_everywhere(home: Path, *, limit: int = 0) -> list[Listed]:
    """The sessions of all projects, newest first; only the `limit` newest files are opened."""
    folders = (home / "projects").glob("*/")
    return _described((each for folder in folders for each in _dated(folder)), limit, {})


def _described(
    files: Iterable[tuple[float, int, str]], limit: int, known: dict[Path, Listed]
) -> list[Listed]:
    dated = sorted(files, reverse=True)
    found: list[Listed] = []
    for changed, size, name in dated[:limit] if limit else dated:
        path = Path(name)
        listed = known.get(path)
        if listed is None or (listed.changed, listed.size) != (changed, size):
            listed = describe(path)
        if listed is not None:
            known[path] = listed
            if listed.said or listed.title:
                found.append(listed)
    return found


def _dated(folder: Path) -> Iterator[tuple[float, int, str]]:
    """When each file of a session changed, and its size; one that is gone meanwhile is no more."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".jsonl"):
                with suppress(OSError):
                    status = entry.stat()
                    yield status.st_mtime, status.st_size, entry.path


def describe(path: Path) -> Listed | None:
    try:
        status = path.stat()
        head, tail = head_and_tail(path)
        header = wire.decode_header(head[0] if head else b"")
    except (OSError, wire.WireError):
        return None
    prompt = _prompt(head)
    return Listed(
        id=header.id,
        path=path,
        title=_title(tail) or prompt,
        cwd=header.cwd,
        changed=status.st_mtime,
        size=status.st_size,
        created=header.created,
        branch=_branch(head, tail),
        prompt=prompt,
        forked_from=header.forked_from,
        said=status.st_size > SILENT or _spoken(head) or _spoken(tail),
    )


def _spoken(lines: Sequence[bytes]) -> bool:
    return any(line.startswith(_WORD) for line in lines)


def _title(tail: Sequence[bytes]) -> str:
    """A title is said again as the file grows, so the newest is near the end or nowhere."""
    for envelope in decoded([line for line in reversed(tail) if b'"title"' in line]):
        if isinstance(envelope.event, TitleChanged):
            return envelope.event.title
    return ""


def _branch(head: Sequence[bytes], tail: Sequence[bytes]) -> str:
    for lines in (reversed(tail), head):
        for envelope in decoded([line for line in lines if b'"session_started"' in line]):
            if isinstance(envelope.event, SessionStarted):
                return envelope.event.branch
    return ""


def _prompt(head: Sequence[bytes]) -> str:
    for envelope in decoded(head[1:]):
        event = envelope.event
        if isinstance(event, UserMessage) and not event.hidden:
            texts = (part.text for part in event.content if isinstance(part, TextContent))
            return shortened(" ".join(texts))
    if cut := _CUT_TEXT.match(head[-1]):  # the first prompt is longer than what was read
        text = cut[1][: 4 * TITLE_LIMIT].decode("utf-8", errors="ignore")
        return shortened(text.replace("\\n", " ").replace('\\"', '"'))
    return ""


def shortened(text: str) -> str:
    return " ".join(text[: 4 * TITLE_LIMIT].split())[:TITLE_LIMIT]


def ago(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return "now"


def find_session(folder: Path, wanted: str) -> Path:
    """The transcript a person means by an id, the beginning of one, a path, or words of its title.

    Sessions of this directory come first, then those of all others. Raises SessionError saying
    what to do when there is none or more than one.
    """
    if wanted.endswith(".jsonl") or "/" in wanted:
        path = Path(wanted).expanduser()
        if path.is_file():
            return path.resolve()
        raise SessionError(f"There is no session file {wanted}.")
    matches = _by_id(folder, wanted) or _by_title(list_sessions(folder), wanted)
    if not matches:
        matches = _by_title(list_everywhere(folder.parent.parent), wanted)
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise SessionError(f"No session here matches {wanted!r}. `agent --resume` lists them.")
    names = ", ".join(path.stem[:13] for path in matches[:5])
    raise SessionError(f"{len(matches)} sessions match {wanted!r} ({names}). Give more of the id.")


def _by_id(folder: Path, wanted: str) -> list[Path]:
    if not ID_TEXT.fullmatch(wanted):
        return []
    for paths in (folder.glob(f"{wanted}*.jsonl"), folder.parent.glob(f"*/{wanted}*.jsonl")):
        found = sorted(paths)
        exact = [path for path in found if path.stem == wanted]
        if found := exact or [path for path in found if describe(path) is not None]:
            return found
    return []


def _by_title(sessions: Sequence[Listed], wanted: str) -> list[Path]:
    words = wanted.lower()
    return [
        listed.path
        for listed in sessions
        if words in listed.title.lower() or words in listed.prompt.lower()
    ]
