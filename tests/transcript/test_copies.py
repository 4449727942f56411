"""A copy of a session holds all of it, however long, and begins once somebody speaks."""

from __future__ import annotations

import os
from pathlib import Path

from gatewright.agent.build import open_session
from gatewright.agent.commands.outcome import Page
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.hub import KEPT
from gatewright.agent.session.session import Session
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from gatewright.tools.blocks import plain
from tests.transcript.stored import chained, started, turn, write

TURNS = KEPT // 6 + 10


async def opened(tmp_path: Path, *, fork: bool) -> tuple[Session, Path]:
    """A session that goes on with a long one; and where sessions are."""
    cwd, home = tmp_path / "project", tmp_path / "home"
    cwd.mkdir()
    folder = project_folder(home / ".gatewright", cwd)
    events = [started(), *(event for number in range(TURNS) for event in turn(number))]
    write(folder / "long.jsonl", chained(events), cwd=str(cwd))
    options = LaunchOptions(cwd=str(cwd), model="demo", resume="long", fork_session=fork)
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return await open_session(options, env, interactive=False), folder


async def test_a_copy_of_a_long_session_is_whole(tmp_path: Path) -> None:
    session, folder = await opened(tmp_path, fork=True)
    assert [path.stem for path in folder.glob("*.jsonl")] == ["long"]
    session.submit("hello")
    await session.idle()
    await session.close()
    original = read_transcript(folder / "long.jsonl", whole=True).branch
    copy = read_transcript(folder / f"{session.id}.jsonl", whole=True)
    assert copy.header.forked_from == "long"
    assert [envelope.event for envelope in copy.branch[: len(original)]] == [
        envelope.event for envelope in original
    ]
    assert len(copy.branch) > len(original)


async def test_a_copy_nobody_spoke_in_leaves_nothing(tmp_path: Path) -> None:
    session, folder = await opened(tmp_path, fork=True)
    await session.close()
    assert [path.stem for path in folder.glob("*.jsonl")] == ["long"]


async def test_a_long_session_goes_on_with_what_it_had_used(tmp_path: Path) -> None:
    session, folder = await opened(tmp_path, fork=False)
    before = (folder / "long.jsonl").stat().st_size
    said = await session.run_command("/cost")
    assert isinstance(said, Page)
    assert f"{10 * TURNS:,}" in plain(said.fallback.blocks[0])
    await session.close()
    assert (folder / "long.jsonl").stat().st_size == before
