"""Reads a transcript back: the branch that ends in the newest line, whatever a crash did to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.agent import wire
from gatewright.agent.errors import SessionError
from gatewright.agent.events import Envelope


class Stored(msgspec.Struct, frozen=True):
    """`skipped` counts unreadable lines in the middle, `torn` says the last one was cut."""

    header: wire.Header
    branch: tuple[Envelope, ...]
    skipped: int
    torn: bool


def read_transcript(path: Path) -> Stored:
    """Raises SessionError when there is no transcript to be had from the file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror}.") from error
    lines = data.split(b"\n")
    torn = bool(lines.pop())
    try:
        header = wire.decode_header(lines[0] if lines else b"")
    except wire.WireError as error:
        raise SessionError(f"{path} is not a session of this program.") from error
    envelopes: list[Envelope] = []
    skipped = 0
    for line in lines[1:]:
        try:
            envelopes.append(wire.decode(line))
        except wire.WireError:
            skipped += 1
    return Stored(header, tuple(newest_branch(envelopes)), skipped, torn)


def newest_branch(envelopes: Sequence[Envelope]) -> list[Envelope]:
    """From the last line back to the root, in order.

    A parent that cannot be found (its line was unreadable) is replaced by the line before it:
    losing one record must not lose everything that came earlier.
    """
    place = {envelope.uuid: index for index, envelope in enumerate(envelopes)}
    branch: list[Envelope] = []
    index = len(envelopes) - 1
    while index >= 0:
        envelope = envelopes[index]
        branch.append(envelope)
        if not envelope.parent:
            break
        parent = place.get(envelope.parent, index - 1)
        index = parent if parent < index else index - 1
    branch.reverse()
    return branch


def head_and_tail(path: Path, size: int = 65536) -> tuple[list[bytes], list[bytes]]:
    """Complete lines at both ends of a file, without reading what is between."""
    with path.open("rb") as file:
        head = file.read(size)
        end = file.seek(0, 2)
        if end <= size:
            lines = head.split(b"\n")[:-1]
            return lines, lines
        file.seek(end - size)
        tail = file.read(size)
    return head.split(b"\n")[:-1], tail.split(b"\n")[1:-1]


def decoded(lines: Sequence[bytes]) -> Iterator[Envelope]:
    """The events among the lines; others are passed over."""
    for line in lines:
        try:
            yield wire.decode(line)
        except wire.WireError:
            continue
