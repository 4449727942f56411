"""What a person chose in a session that goes on is written at once, and counts the next time.

A killed process leaves what is on disk: a copy of the folder stands for it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from gatewright.agent.build import open_session
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import EffortChanged, ModeChanged, Noticed
from gatewright.agent.session.session import Session
from gatewright.agent.transcript.index import list_sessions
from gatewright.agent.transcript.place import project_folder
from gatewright.agent.transcript.reader import read_transcript
from gatewright.tools.access import MAIN
from tests.fakes.waiting import eventually
from tests.transcript.stored import chained, started, turn, write


async def opened(home: Path, cwd: Path, effort: str = "") -> Session:
    options = LaunchOptions(cwd=str(cwd), model="demo", continue_session=True, effort=effort)
    return await open_session(options, {"HOME": str(home), "PATH": os.defpath}, interactive=True)


async def test_it_is_there_after_a_kill(tmp_path: Path) -> None:
    cwd, home = tmp_path / "project", tmp_path / "home"
    cwd.mkdir()
    file = project_folder(home / ".gatewright", cwd) / "one.jsonl"
    write(file, chained([started(), *turn(1)]), cwd=str(cwd))
    session = await opened(home, cwd)
    before = file.read_bytes()
    assert session.set_mode("plan") == "plan"
    await session.run_command("/effort high")

    def kept() -> bool:
        events = [envelope.event for envelope in read_transcript(file).branch]
        mode = ModeChanged(mode="plan", by="user")
        return mode in events and EffortChanged(effort="high") in events

    await eventually(kept)
    assert file.read_bytes().startswith(before)
    shutil.copytree(home, tmp_path / "after")
    await session.close()
    again = await opened(tmp_path / "after", cwd)
    main = again.agent(MAIN)
    assert main is not None
    assert (again.id, again.mode, main.models.effort) == (session.id, "plan", "high")
    await again.close()
    shutil.copytree(home, tmp_path / "flag")
    other = await opened(tmp_path / "flag", cwd, effort="low")
    main = other.agent(MAIN)
    assert main is not None
    assert main.models.effort == "", "the command line says it"
    await other.close()


async def test_one_that_nobody_spoke_in_is_not_gone_on_with(tmp_path: Path) -> None:
    cwd, home = tmp_path / "project", tmp_path / "home"
    cwd.mkdir()
    folder = project_folder(home / ".gatewright", cwd)
    write(folder / "one.jsonl", chained([started(), *turn(1)]), cwd=str(cwd))
    write(folder / "empty.jsonl", chained([started(), EffortChanged(effort="high")]), cwd=str(cwd))
    os.utime(folder / "one.jsonl", (1.0, 1.0))
    session = await opened(home, cwd)
    assert session.id == "one"
    await session.close()


def test_one_whose_words_stand_where_nobody_reads_is_listed(tmp_path: Path) -> None:
    """Of a large file its ends are read; only a small one is known to hold no word."""
    folder = project_folder(tmp_path, tmp_path)
    noise = [Noticed(text="x" * 30_000)] * 3
    write(folder / "one.jsonl", chained([started(), *noise, *turn(1), *noise]), cwd=str(tmp_path))
    write(folder / "two.jsonl", chained([started(), EffortChanged(effort="high")]))
    assert [each.id for each in list_sessions(folder)] == ["one"]
