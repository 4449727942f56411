"""Reads a transcript back: the branch that ends in the newest line, whatever a crash did to it.

Reading goes backwards and ends at the last boundary, a compaction or a clear: what lies before is
of no use to the model, however large the file has become.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import Envelope
from gatewright.agent.transcript.backwards import lines_backwards
from gatewright.tools.system.regular import NotRegular, open_regular

BOUNDARIES = frozenset({"compacted", "cleared"})
HEADER_LIMIT = 64 * 1024


class Stored(msgspec.Struct, frozen=True):
    """`skipped` counts unreadable lines among those read, `torn` says the last one was cut.

    `more` says that the session began before the branch given here.
    """

    header: wire.Header
    branch: tuple[Envelope, ...]
    skipped: int
    torn: bool
    more: bool = False


class _Found(msgspec.Struct):
    """Where the lines of a branch stand, newest first."""

    places: list[tuple[int, int]] = []
    skipped: int = 0
    torn: bool = False
    more: bool = False
    lost: str = ""  # a parent whose line is not there


def read_transcript(path: Path, *, whole: bool = False, to: str = "") -> Stored:
    """The branch that ends in `to`, or in the newest line, from its last boundary on.

    With `whole` from the session's beginning. Raises SessionError when there is no transcript to
    be had from the file.
    """
    with _opened(path) as file:
        header = _header(file, path)
        found = _find(file, to, whole=whole)
        envelopes = (_envelope(file, *place) for place in reversed(found.places))
        branch = tuple(envelope for envelope in envelopes if envelope is not None)
        skipped = found.skipped + len(found.places) - len(branch)
        return Stored(header, branch, skipped, found.torn, found.more)


def branch_of(path: Path) -> Iterator[Envelope]:
    """The whole newest branch, one at a time, for files that do not fit into memory."""
    with _opened(path) as file:
        _header(file, path)
        for place in reversed(_find(file, "", whole=True).places):
            if (envelope := _envelope(file, *place)) is not None:
                yield envelope


@contextmanager
def _opened(path: Path) -> Generator[int]:
    try:
        with open_regular(path) as file:
            yield file.fileno()
    except NotRegular as error:
        raise SessionError(f"{error}.") from error
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror}.") from error


def _header(file: int, path: Path) -> wire.Header:
    first, newline, _ = os.pread(file, HEADER_LIMIT, 0).partition(b"\n")
    try:
        header = wire.decode_header(first if newline else b"")
    except wire.WireError as error:
        raise SessionError(f"{path} is not a session of this program.") from error
    if header.version > wire.VERSION:
        raise SessionError(
            f"{path} was written by a newer version of this program. Update to go on with it."
        )
    return header


def _envelope(file: int, offset: int, length: int) -> Envelope | None:
    try:
        return wire.decode(os.pread(file, length, offset))
    except wire.WireError:
        return None


def _find(file: int, to: str, *, whole: bool) -> _Found:
    found = _follow(file, to, whole=whole)
    return _by_map(file, to, whole=whole) if found.lost else found


def _follow(file: int, to: str, *, whole: bool) -> _Found:
    """From the end back along the parents; `lost` names one that did not turn up."""
    found = _Found()
    wanted = to
    lines = lines_backwards(file, os.fstat(file).st_size)
    found.torn = bool(next(lines, (0, b""))[1])
    for offset, line in lines:
        if offset == 0:
            break
        try:
            mark = wire.mark(line)
        except wire.WireError:
            found.skipped += 1
            continue
        if wanted and mark.uuid != wanted:
            continue
        found.places.append((offset, len(line)))
        wanted = mark.parent_uuid
        if not wanted or (mark.type in BOUNDARIES and not whole):
            found.more = bool(wanted)
            return found
    found.lost = wanted
    return found


def _by_map(file: int, to: str, *, whole: bool) -> _Found:
    """The same with all lines at hand, for a file with lines that cannot be read.

    A parent that is not there is replaced by the line before it: losing one record must not lose
    everything that came earlier.
    """
    found = _Found()
    marks: list[tuple[wire.Mark, int, int]] = []
    lines = lines_backwards(file, os.fstat(file).st_size)
    found.torn = bool(next(lines, (0, b""))[1])
    for offset, line in lines:
        if offset:
            try:
                marks.append((wire.mark(line), offset, len(line)))
            except wire.WireError:
                found.skipped += 1
    marks.reverse()
    place = {mark.uuid: index for index, (mark, _, _) in enumerate(marks)}
    index = place.get(to, -1) if to else len(marks) - 1
    while index >= 0:
        mark, offset, length = marks[index]
        found.places.append((offset, length))
        if not mark.parent_uuid or (mark.type in BOUNDARIES and not whole):
            found.more = bool(mark.parent_uuid)
            break
        parent = place.get(mark.parent_uuid, index - 1)
        index = parent if parent < index else index - 1
    return found


def head_and_tail(path: Path, size: int = 65536) -> tuple[list[bytes], list[bytes]]:
    """Lines at both ends of a file, without reading what is between.

    The last line of the head may be cut; all others are complete.
    """
    with open_regular(path) as file:
        head = file.read(size)
        end = file.seek(0, 2)
        if end <= size:
            lines = head.split(b"\n")[:-1]
            return lines, lines
        file.seek(end - size)
        tail = file.read(size)
    return head.split(b"\n"), tail.split(b"\n")[1:-1]


def decoded(lines: Sequence[bytes]) -> Iterator[Envelope]:
    """The events among the lines; others are passed over."""
    for line in lines:
        with suppress(wire.WireError):
            yield wire.decode(line)
