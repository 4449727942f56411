"""Full-text search over all sessions: an index beside the transcripts, never the truth.

What was appended since the last search is read then; a broken or deleted index is built anew.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import AnyEvent, AssistantMessage, TitleChanged, UserMessage
from gatewright.agent.record.messages import TextPart
from gatewright.tools.protocol import TextContent
from gatewright.tools.system import private
from gatewright.tools.system.regular import open_regular

if TYPE_CHECKING:
    import sqlite3

VERSION = 1
FOUND = 50
_SCHEMA = """
create table files (path text primary key, inode integer, read integer);
create virtual table said using fts5 (text, path unindexed, who unindexed, time unindexed,
    tokenize = 'unicode61 remove_diacritics 2');
"""
_QUERY = """
select path, who, time, snippet(said, 0, '', '', ' … ', 16) from said
where said match ? order by bm25(said), time desc limit ?
"""


BLOCK = 4 * 1024 * 1024
_SPOKEN = (b'{"type":"user"', b'{"type":"assistant"', b'{"type":"title"')  # as `wire` begins them
AT_ONCE = 512 * 1024 * 1024  # bytes of transcripts between two commits, each of which costs 3 ms


class Hit(msgspec.Struct, frozen=True):
    path: Path
    who: str  # you, agent or title
    time: float
    snippet: str

    @property
    def session(self) -> str:
        return self.path.stem


def search(home: Path, words: str, *, limit: int = FOUND) -> list[Hit]:
    """Messages with all of these words, the best first. Raises SessionError."""
    import sqlite3  # noqa: PLC0415  lazy: 5 ms

    query = " ".join(f'"{word}"*' for word in words.replace('"', " ").split())
    if not query:
        return []
    index = home / "state" / "search.sqlite"
    for last in (False, True):
        try:
            with closing(_opened(index)) as database:
                _catch_up(database, home / "projects")
                rows = database.execute(_QUERY, (query, limit)).fetchall()
                return [Hit(Path(path), who, time, text) for path, who, time, text in rows]
        except (sqlite3.DatabaseError, OSError) as error:
            if last or (isinstance(error, sqlite3.OperationalError) and "locked" in str(error)):
                raise SessionError(f"Sessions cannot be searched: {error}.") from error
            for suffix in ("", "-wal", "-shm"):
                index.with_name(index.name + suffix).unlink(missing_ok=True)
    return []


def _opened(index: Path) -> sqlite3.Connection:
    import sqlite3  # noqa: PLC0415  lazy: 5 ms

    private.folder(index.parent)
    database = sqlite3.connect(index, timeout=5.0)
    index.chmod(0o600)
    database.execute("pragma journal_mode = wal")
    database.execute("pragma synchronous = off")  # what a crash breaks is built anew
    if database.execute("pragma user_version").fetchone()[0] != VERSION:
        database.executescript(
            f"drop table if exists files; drop table if exists said; {_SCHEMA}"
            f"pragma user_version = {VERSION};"
        )
    return database


def _catch_up(database: sqlite3.Connection, projects: Path) -> None:
    rows = database.execute("select path, inode, read from files").fetchall()
    known = {path: (inode, read) for path, inode, read in rows}
    taken = 0
    for path in projects.glob("*/*.jsonl"):
        try:
            status = path.stat()
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        inode, read = known.pop(str(path), (0, 0))
        if inode == status.st_ino and read == status.st_size:
            continue
        start = read if inode == status.st_ino and read < status.st_size else 0
        if inode and not start:  # looks at every row, so only where there may be some
            database.execute("delete from said where path = ?", (str(path),))
        end = _add(database, path, start)
        row = (str(path), status.st_ino, end)
        database.execute("insert or replace into files values (?, ?, ?)", row)
        if (taken := taken + end - start) >= AT_ONCE:
            database.commit()
            taken = 0
    database.commit()
    with database:
        for path in known:
            database.execute("delete from said where path = ?", (path,))
            database.execute("delete from files where path = ?", (path,))


def _add(database: sqlite3.Connection, path: Path, start: int) -> int:
    """Index the complete lines from `start` on; returns where they end."""
    end = start
    with open_regular(path) as file:
        file.seek(start, os.SEEK_SET)
        for block in _blocks(file):
            end += len(block)
            rows = (
                (text, str(path), who, time)
                for line in _spoken(block)
                for who, time, text in _said(line)
            )
            database.executemany("insert into said values (?, ?, ?, ?)", rows)
    return end


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """The rest of the file in pieces of complete lines."""
    begun: list[bytes] = []
    while piece := file.read(BLOCK):
        if cut := piece.rfind(b"\n") + 1:
            yield b"".join((*begun, piece[:cut]))
            begun = [piece[cut:]]
        else:
            begun.append(piece)


def _spoken(block: bytes) -> Iterator[bytes]:
    """The lines that hold what somebody said, found by how they begin: most bytes are results of
    tools, and those are neither split nor decoded."""
    start = 0
    while end := block.find(b"\n", start) + 1:
        if block.startswith(_SPOKEN, start):
            yield block[start:end]
        start = end


def _said(line: bytes) -> Iterator[tuple[str, float, str]]:
    try:
        envelope = wire.decode(line)
    except wire.WireError:
        return
    who, text = _words(envelope.event)
    if text.strip():
        yield who, envelope.timestamp, text


def _words(event: AnyEvent) -> tuple[str, str]:
    match event:
        case UserMessage(hidden=False, content=content):
            return "you", "\n".join(p.text for p in content if isinstance(p, TextContent))
        case AssistantMessage(parts=parts):
            return "agent", "\n".join(p.text for p in parts if isinstance(p, TextPart))
        case TitleChanged(title=title):
            return "title", title
        case _:
            return "", ""
