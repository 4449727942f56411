"""Finds the stored session a start of the program goes on with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from gatewright.agent.commands.outcome import Choice
from gatewright.agent.errors import SessionError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import Envelope
from gatewright.agent.record.events_of_past import Carried
from gatewright.agent.record.ids import new_id
from gatewright.agent.record.session_state import Standing
from gatewright.agent.transcript.place import transcript_file
from gatewright.tools.blocks import Table
from gatewright.tools.system.patterns import later

if TYPE_CHECKING:
    from gatewright.agent.transcript.index import Listed
    from gatewright.agent.transcript.reader import Stored


_ID = later(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
LOOKED = 5  # files for the newest session
LISTED = 10
LARGE = 50_000  # tokens
OPEN = "open elsewhere"
COLD = 3_600.0  # seconds: no prompt cache lasts longer


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """`stored` is empty for a new session; `on_disk` says that its events are in `path` already."""

    id: str
    path: Path
    stored: tuple[Envelope, ...] = ()
    on_disk: bool = False
    forked_from: str = ""
    notice: str = ""
    source: Path | None = None  # the file it goes on from, which a copy does not write
    foreign: bool = False  # a copy of a file from elsewhere: others may have written it

    left: Carried = Carried()  # the same, as it was then

    def __post_init__(self) -> None:
        if self.stored:
            msgspec.structs.force_setattr(self, "left", self.standing().now)

    def standing(self) -> Standing:
        """What the session was when it was left."""
        return Standing.after(envelope.event for envelope in self.stored)

    @property
    def begins(self) -> Literal["startup", "resume", "fork"]:
        """A stored one, a copy of one, or a new one."""
        if not self.stored:
            return "startup"
        return "resume" if self.on_disk else "fork"

    @property
    def mode(self) -> str:
        """The mode it was last in, empty where none is stored."""
        return self.left.mode

    @property
    def model(self) -> str:
        return self.left.model

    @property
    def effort(self) -> str:
        return self.left.effort


def find_start(options: LaunchOptions, folder: Path) -> Start:
    """Raises SessionError when what was asked for is not there."""
    if options.session_id and not _ID.fullmatch(options.session_id):
        raise SessionError("--session-id takes letters, digits and hyphens, 64 at most.")
    path = _asked_for(options, folder)
    if path is None:
        id = options.session_id or new_id()
        if (new := transcript_file(folder, id)).exists():
            raise SessionError(f"Session {id} exists. `agent --resume {id}` goes on with it.")
        return Start(id=id, path=new)
    from gatewright.agent.transcript.reader import read_transcript  # noqa: PLC0415  lazy: 1 ms

    stored = read_transcript(path)
    foreign = os.path.realpath(path.parent.parent) != os.path.realpath(folder.parent)
    notice = _notice(stored, elsewhere=path.parent != folder, copied=foreign)
    if not options.fork_session and not foreign:
        return Start(
            id=stored.header.id,
            path=path,
            stored=stored.branch,
            on_disk=True,
            notice=notice,
            source=path,
        )
    id = options.session_id or new_id()
    return Start(
        id=id,
        path=transcript_file(folder, id),
        stored=stored.branch,
        forked_from=stored.header.id if _ID.fullmatch(stored.header.id) else "",
        notice=notice,
        source=None if foreign else path,
        foreign=foreign,
    )


def _asked_for(options: LaunchOptions, folder: Path) -> Path | None:
    if not options.continue_session and options.resume is None:
        return None
    from gatewright.agent.transcript.index import find_session, list_sessions  # noqa: PLC0415  lazy: 1 ms

    if options.resume:
        return find_session(folder, options.resume)
    sessions = list_sessions(folder)
    if not sessions:
        raise SessionError("There is no session to go on with in this directory.")
    if options.continue_session:
        return sessions[0].path
    lines = [f"  {item.id}  {item.title}" for item in sessions[:LISTED]]
    raise SessionError("Which session? Give `--resume` one of these:\n" + "\n".join(lines))


def newest(folder: Path, now: float) -> tuple[str, str]:
    """Title and age of the session used last in a directory; empty where nothing was said in any.

    The newest file may be of a session in which nothing was said so far.
    """
    from gatewright.agent.transcript.index import ago, list_sessions  # noqa: PLC0415  lazy: 1 ms

    told = next((item for item in list_sessions(folder, limit=LOOKED) if item.title), None)
    return (told.title, ago(now - told.changed)) if told is not None else ("", "")


def offered(folder: Path, now: float) -> tuple[Choice, ...]:
    """The sessions of a directory for a person to pick from, newest first."""
    from gatewright.agent.transcript.index import list_sessions  # noqa: PLC0415  lazy: 1 ms
    from gatewright.tools.system.locks import busy  # noqa: PLC0415  loaded by now

    found = list_sessions(folder)
    return choices_of(choice_of(found, now, {item.id for item in found if busy(item.path)}))


def choice_of(sessions: Iterable[Listed], now: float, held: Set[str] = frozenset()) -> Table:
    """`held` are the ids of those that are open elsewhere, which is said in place of a branch."""
    from gatewright.agent.transcript.index import ago  # noqa: PLC0415  lazy: 1 ms

    rows = tuple(
        (
            item.id,
            item.title,
            ago(now - item.changed),
            _size(item.size),
            OPEN if item.id in held else item.branch,
        )
        for item in sessions
    )
    return Table(("Session", "Title", "Age", "Size", "Branch"), rows)


def choices_of(table: Table) -> tuple[Choice, ...]:
    return tuple(
        Choice(id, title or "no title", f"{age:>7}  {size:>9}", branch, f"/resume {id}")
        for id, title, age, size, branch in table.rows
    )


def matching(sessions: Sequence[Listed], wanted: str) -> list[Listed]:
    """Those a person may mean by an id, its number in the list, a beginning, or words."""
    if exact := [item for item in sessions if item.id == wanted]:
        return exact
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sessions):
        return [sessions[int(wanted) - 1]]
    if begun := [item for item in sessions if item.id.startswith(wanted)]:
        return begun
    words = wanted.lower()
    return [item for item in sessions if words in f"{item.title}\n{item.prompt}".lower()]


def _size(count: int) -> str:
    return f"{max(1, count // 1024):,} kB"


def _notice(stored: Stored, *, elsewhere: bool, copied: bool) -> str:
    texts: list[str] = []
    if stored.skipped:
        texts.append(f"{stored.skipped} unreadable records of this session were left out.")
    if copied:  # what lies beside a conversation is ours alone: commands never write there
        texts.append("This goes on in a copy: the file stays as it is.")
    elif elsewhere and stored.header.cwd:
        cwd, id = stored.header.cwd, stored.header.id
        texts.append(
            f"This session worked in {cwd} and goes on here now. "
            f"`cd {cwd} && agent --resume {id}` goes on there."
        )
    return " ".join(texts)


def cold_notice(start: Start, tokens: int, price: float, now: float) -> str:
    """What going on with a large session costs when no provider remembers it any more."""
    if not start.stored or tokens < LARGE or now - start.stored[-1].timestamp < COLD:
        return ""
    from gatewright.agent.text.money import dollars  # noqa: PLC0415  rare

    cost = f", about {dollars(price)}" if price else ""
    return (
        f"The next message sends about {tokens:,} tokens of this session anew{cost}. "
        "/compact summarises them first."
    )
