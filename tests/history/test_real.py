"""The composed session with real tools: what commands do to a project is put back too."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from gatewright.agent.build import open_session
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.record.events import (
    FileSaved,
    Noticed,
    SessionStarted,
    ToolFinished,
    TreeSaved,
)
from gatewright.agent.session.session import Session
from tests.fakes.commands import told
from tests.fakes.recorder import Recorder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(root)], check=True)
    (root / "a.txt").write_text("one\n", encoding="utf-8")
    return root


async def opened(project: Path, **more: str | bool) -> Session:
    env = {"HOME": str(project.parent / "home"), "PATH": os.environ["PATH"], "SHELL": "/bin/bash"}
    options = msgspec.structs.replace(
        LaunchOptions(model="demo", mode="bypassPermissions", cwd=str(project)), **more
    )
    return await open_session(options, env, interactive=True)


async def say(session: Session, *texts: str) -> None:
    for text in texts:
        session.submit(text)
        await session.idle()


async def run(session: Session, line: str) -> str:
    return told(await session.run_command(line))


async def test_commands_and_files(project: Path) -> None:
    session = await opened(project)
    try:
        async with Recorder(session) as seen:
            await say(session, "run echo two > a.txt; chmod 600 a.txt; touch made.txt")
            await say(session, "create new.txt with hello")
            await seen.until(TreeSaved, count=2)
            await seen.until(FileSaved)
            assert (await seen.until(SessionStarted)).branch == "trunk"
            text = await run(session, "/rewind 2")
            assert "2 files put back" in text
            assert "made.txt (made since then" in text
            assert (project / "a.txt").read_text(encoding="utf-8") == "one\n"
            assert (project / "a.txt").stat().st_mode & 0o777 == 0o644
            assert (project / "made.txt").exists()
            assert not (project / "new.txt").exists()
            await run(session, "/rewind undo")
            assert (project / "a.txt").read_text(encoding="utf-8") == "two\n"
            assert (project / "a.txt").stat().st_mode & 0o777 == 0o600
            assert (project / "new.txt").exists()
    finally:
        await session.close()


async def test_after_a_resume(project: Path) -> None:
    session = await opened(project)
    await say(session, "run echo two > a.txt")
    await session.close()
    session = await opened(project, continue_session=True)
    try:
        assert "1 file put back" in await run(session, "/rewind 1")
        assert (project / "a.txt").read_text(encoding="utf-8") == "one\n"
    finally:
        await session.close()


async def test_in_a_copy(project: Path) -> None:
    session = await opened(project)
    await say(session, "create new.txt with hello", "create new.txt with bye")
    await session.close()
    session = await opened(project, continue_session=True, fork_session=True)
    try:
        assert "1 file put back" in await run(session, "/rewind 1")
        assert (project / "new.txt").read_text(encoding="utf-8").strip() == "hello"
    finally:
        await session.close()


async def test_imports_that_wait_are_told(project: Path) -> None:
    (project / "AGENTS.md").write_text("@../outside.md", encoding="utf-8")
    (project.parent / "outside.md").write_text("x", encoding="utf-8")
    session = await opened(project)
    try:
        async with Recorder(session) as seen:
            await say(session, "hello", "hello")
            told = await seen.until(Noticed, where=lambda event: "/memory allow" in event.text)
            assert str(project.parent / "outside.md") in told.text
            assert len([n for n in seen.of(Noticed) if "/memory allow" in n.text]) == 1
    finally:
        await session.close()


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_session_that_keeps_nothing(project: Path) -> None:
    session = await opened(project, no_session=True)
    try:
        await say(session, "create new.txt with hello", "run true")
        home = project.parent / "home" / ".gatewright"
        receipts = home / "state" / "sandbox"  # of commands, for whoever comes after a kill
        assert not [path for path in files(home) if not path.is_relative_to(receipts)]
        assert "The conversation is back" in await run(session, "/rewind 2")
        assert (project / "new.txt").exists()
    finally:
        await session.close()
    assert files(home) == []


async def test_what_is_pointed_at_comes_along_and_rules_hold(project: Path) -> None:
    settings = '{"permissions": {"deny": ["Read(./secret.txt)"]}}'
    (project / "secret.txt").write_text("hidden words", encoding="utf-8")
    session = await opened(project, settings=settings)
    try:
        await say(session, "what is in @a.txt and @secret.txt?")
        told = str(session.past._frame.talk.view())  # pyright: ignore[reportPrivateUsage]
        assert "Contents of" in told
        assert "1\\tone" in told
        assert "@secret.txt was not attached" in told
        assert "hidden words" not in told
        (project / "a.txt").write_text("changed by somebody\n", encoding="utf-8")
        async with Recorder(session) as seen:
            await say(session, "read a.txt")
            await seen.until(ToolFinished)
            (project / "a.txt").write_text("changed again, and longer\n", encoding="utf-8")
            await say(session, "hello")
        told = str(session.past._frame.talk.view())  # pyright: ignore[reportPrivateUsage]
        assert "changed on disk since you last saw them" in told
    finally:
        await session.close()


async def test_what_commands_changed_without_git_is_not_said_to_be_nothing(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    session = await opened(root)
    try:
        await say(session, "run echo two > made.txt")
        assert (root / "made.txt").exists()
        unknown = "What commands changed is not known here: this is no git repository."
        assert unknown in await run(session, "/rewind 1 preview")
        assert unknown in await run(session, "/diff")
        assert unknown in await run(session, "/rewind 1")
    finally:
        await session.close()
