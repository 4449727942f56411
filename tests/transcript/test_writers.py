"""Two processes on one session, and homes that cannot be written: nothing lost, always usable."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import UserMessage
from gatewright.agent.transcript.reader import read_transcript
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from gatewright.tools.protocol import TextContent
from tests.e2e.program import Program
from tests.fakes.journals import journal as new_journal
from tests.fakes.waiting import PATIENCE

WRITER = """
import asyncio, sys
from pathlib import Path
from gatewright.agent.record import codec as wire
from gatewright.agent.record import codec as wire
from gatewright.agent.record.events import UserMessage
from tests.fakes.journals import journal as new_journal
from gatewright.agent.record.ids import new_id
from tests.fakes.journals import journal as new_journal
from gatewright.agent.record.ids import new_id
from gatewright.agent.transcript.writer import TranscriptLock, TranscriptWriter
from gatewright.tools.protocol import TextContent

async def main(path, name):
    header = wire.Header(version=1, id=path.stem, cwd="/w", created=1.0, app="0")
    journal = new_journal()
    writer = TranscriptWriter(path, header, lock=TranscriptLock(), warn=lambda text: None)
    task = asyncio.create_task(writer.run(journal.hub().subscribe()))
    await asyncio.sleep(0)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(1000):
        journal.publish(UserMessage(content=(TextContent(f"{name} {number}"),)))
        if number % 10 == 0:
            await writer.barrier()
        if number == 0:  # both files are open from here on
            print("begun", flush=True)
            sys.stdin.readline()
    journal.close()
    await task
    writer.close()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


def test_two_processes_append_a_thousand_records_each(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
    for process in running:
        process.communicate("go\n", timeout=PATIENCE)
        assert process.returncode == 0
    said: list[str] = []
    for file in tmp_path.glob("*.jsonl"):
        stored = read_transcript(file)
        assert (stored.skipped, stored.torn) == (0, False)
        for envelope in stored.branch:
            assert isinstance(envelope.event, UserMessage)
            (part,) = envelope.event.content
            assert isinstance(part, TextContent)
            said.append(part.text)
    assert sorted(said) == sorted(f"{name} {n}" for name in ("one", "two") for n in range(1000))


@pytest.mark.e2e
def test_without_a_home_that_can_be_written(tmp_path: Path) -> None:
    program = Program.prepare(tmp_path)
    (tmp_path / "file").write_text("no directory", encoding="utf-8")
    for env in (
        {"GATEWRIGHT_HOME": str(tmp_path / "file" / "x")},
        {"HOME": str(tmp_path / "file")},
    ):
        done = program.run(
            "-p", "hello", "--model", "demo", "--output-format", "stream-json", "--verbose", env=env
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        assert "not being saved" in done.stdout + done.stderr
    done = program.run("-p", "hello", "--model", "demo", env={"HOME": ""})
    assert done.returncode == 0, done.stderr


async def test_the_disk_is_waited_for_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    header = wire.Header(version=1, id="s1", cwd="/w", created=1.0, app="0")
    for sync in (False, True):
        journal = new_journal()
        writer = TranscriptWriter(
            tmp_path / f"{sync}.jsonl", header, lock=TranscriptLock(), warn=print, sync=sync
        )
        task = asyncio.create_task(writer.run(journal.hub().subscribe()))
        await asyncio.sleep(0)
        journal.publish(UserMessage(content=(TextContent("x"),)))
        await writer.barrier()
        assert bool(synced) is sync
        journal.close()
        await task
        writer.close()
