"""A crash may cut a transcript at any byte: it resumes, and at most the torn record is lost."""

from __future__ import annotations

import asyncio
import os
from bisect import bisect_right
from pathlib import Path

import pytest

from gatewright.agent.errors import SessionError
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import AnyEvent, Compacted, Envelope
from gatewright.agent.transcript.reader import read_transcript
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from tests.fakes.examples import some
from tests.fakes.journals import journal as new_journal
from tests.transcript.stored import chained, started, turn, user, write

TURNS = 50
BOUNDARY_EVERY = 5  # turns, so that one reading is short and every byte can have its own
CHUNKS = 4


def long_session(path: Path, *, boundaries: bool) -> tuple[list[Envelope], list[int]]:
    """The records of a session of 300 lines, and where each line of its file ends."""
    events: list[AnyEvent] = [started()]
    for number in range(TURNS):
        if boundaries and number % BOUNDARY_EVERY == BOUNDARY_EVERY - 1:
            events.append(Compacted(summary="ß", trigger="auto", tokens_before=9))
        events += turn(number, output="ü" * (number % 3))
    envelopes = list(chained(events))
    data = write(path, envelopes).read_bytes()
    return envelopes, [index + 1 for index, byte in enumerate(data) if byte == 10]


def whole_records(ends: list[int], cut: int) -> int:
    """How many lines behind the header are complete in a file of `cut` bytes."""
    return bisect_right(ends, cut) - 1


@pytest.mark.parametrize("chunk", some(range(CHUNKS), CHUNKS))
def test_300_lines_cut_at_every_byte_resume(tmp_path: Path, chunk: int) -> None:
    path = tmp_path / "s.jsonl"
    envelopes, ends = long_session(path, boundaries=True)
    assert len(ends) > 300
    begins = [n for n, e in enumerate(envelopes) if isinstance(e.event, Compacted)]
    length = ends[-1] - ends[0]
    low = ends[0] + length * chunk // CHUNKS
    # From the end, so that each step only shortens the file.
    for cut in range(ends[0] + length * (chunk + 1) // CHUNKS, low - 1, -1):
        os.truncate(path, cut)
        whole = whole_records(ends, cut)
        passed = bisect_right(begins, whole - 1)
        begin = begins[passed - 1] if passed else 0
        stored = read_transcript(path)
        assert stored.branch == tuple(envelopes[begin:whole])
        assert (stored.torn, stored.skipped, stored.more) == (cut not in ends, 0, begin > 0)


def test_300_lines_without_a_boundary_cut_around_every_line_end(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    envelopes, ends = long_session(path, boundaries=False)
    for end in reversed(ends):
        for cut in (end + 1, end, end - 1):
            if ends[0] <= cut <= ends[-1]:
                os.truncate(path, cut)
                stored = read_transcript(path)
                assert stored.branch == tuple(envelopes[: whole_records(ends, cut)])
                assert stored.torn == (cut not in ends)


def test_a_cut_header_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    _, ends = long_session(path, boundaries=False)
    for cut in range(ends[0] - 1, -1, -1):
        os.truncate(path, cut)
        with pytest.raises(SessionError, match="is not a session of this program"):
            read_transcript(path)


async def test_what_is_said_after_any_cut_is_kept_behind_it(tmp_path: Path) -> None:
    """Every byte of the last lines, with all of the long file before them."""
    path = tmp_path / "s.jsonl"
    _, ends = long_session(path, boundaries=False)
    data = path.read_bytes()
    header = wire.decode_header(data[: ends[0]])
    for cut in range(ends[-4], ends[-1] + 1):
        path.write_bytes(data[:cut])
        await say(path, header)
        whole = whole_records(ends, cut)
        text = path.read_bytes()
        assert text.startswith(data[: ends[whole]])
        added = wire.decode(text[ends[whole] :])
        assert added.event == user("on we go")
        aside = path.with_suffix(".torn")
        torn = data[ends[whole] : cut]
        assert (aside.read_bytes() if aside.exists() else b"") == (torn and torn + b"\n")
        aside.unlink(missing_ok=True)


async def say(path: Path, header: wire.Header) -> None:
    """One message, by a process that goes on with the session."""
    journal = new_journal(ids=lambda: "new")
    writer = TranscriptWriter(path, header, lock=TranscriptLock(), warn=pytest.fail)
    task = asyncio.create_task(writer.run(journal.hub().subscribe()))
    await asyncio.sleep(0)
    journal.publish(user("on we go"))
    journal.close()
    await task
    writer.close()
