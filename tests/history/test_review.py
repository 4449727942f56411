"""What changed, as a person is shown it: in a repository that nobody can trust, and without one."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from gatewright.agent.commands.diff import Changes, Entry
from gatewright.agent.history.history import History, HistoryPlaces
from gatewright.agent.history.worktree import LARGEST
from gatewright.agent.record.events import AnyEvent, Envelope, UserMessage
from gatewright.agent.session.review import Review
from gatewright.tools.access import Access
from gatewright.tools.blocks import Diff, Text
from gatewright.tools.protocol import TextContent
from gatewright.tools.system.git import Caller
from tests.fakes.waiting import PATIENCE


class Project:
    """Files, a history, and the events that a session would have kept."""

    def __init__(self, folder: Path, *, git: bool, keeping: bool = True) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.events: list[AnyEvent] = []
        if git:
            self.git("init", "-q")
        places = HistoryPlaces(folder / "own", folder / "shared", self.root, keeping=keeping)
        self.history = History(places, Caller(os.environ), self.events.append)
        self.review = Review(self.history, self._kept)

    def _kept(self) -> list[Envelope]:
        return [
            Envelope(seq=n, uuid=f"u{n}", parent="", timestamp=0.0, agent="main", event=event)
            for n, event in enumerate(self.events)
        ]

    def git(self, *arguments: str) -> None:
        git(self.root, *arguments)

    def put(self, name: str, data: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)

    def says(self, text: str) -> None:
        self.events.append(UserMessage(content=(TextContent(text),)))
        self.history.checkpoints.saw(self.events[-1])

    async def writes(self, name: str, data: str) -> None:
        """As a tool of the session does."""
        await self.history.checkpoints.before(Access(writes=(self.root / name,)))
        self.put(name, data)

    async def view(self, name: str) -> Changes:
        return next(view for view in await self.review.changes() if view.name == name)


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.invalid")
    subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        timeout=PATIENCE,
    )


def rows(view: Changes) -> list[tuple[str, str, str]]:
    return [(file.path, file.kind, file.counts) for file in view.files]


async def diff(project: Project, entry: Entry) -> tuple[str, ...]:
    (block,) = await project.review.drawn(entry)
    assert isinstance(block, Diff), block
    return tuple(line for hunk in block.hunks for line in hunk.lines)


async def test_everything_uncommitted_is_listed(tmp_path: Path) -> None:
    project = Project(tmp_path, git=True)
    for name in ("kept", "changed", "staged", "gone"):
        project.put(f"{name}.txt", "one\ntwo\n")
    project.put(".gitignore", "*.log\n")
    project.git("add", ".")
    project.git("commit", "-qm", "first")
    project.put("changed.txt", "one\n2\nthree\n")
    project.put("staged.txt", "one\n")
    project.git("add", "staged.txt")
    (project.root / "gone.txt").unlink()
    project.put("new/ü b.txt", "a\nb\nc\n")
    project.put("noise.log", "x\n")
    project.put("picture.bin", b"\0\1\2")
    project.put("huge.txt", b"x\n" * LARGEST)
    view = await project.view("uncommitted")
    assert rows(view) == [
        ("changed.txt", "changed", "+2 -1"),
        ("gone.txt", "deleted", "+0 -2"),
        ("huge.txt", "untracked", "binary or large"),
        ("new/ü b.txt", "untracked", "+3 -0"),
        ("picture.bin", "untracked", "binary or large"),
        ("staged.txt", "changed", "+0 -1"),
    ]
    assert view.sum == "6 files since the last commit, +5 -4"
    shown = {file.path: file for file in view.files}
    assert await diff(project, shown["changed.txt"]) == (" one", "-two", "+2", "+three")
    assert await diff(project, shown["gone.txt"]) == ("-one", "-two")
    assert await diff(project, shown["new/ü b.txt"]) == ("+a", "+b", "+c")
    assert await project.review.drawn(shown["picture.bin"]) == (
        Text("picture.bin: binary, none -> 3 bytes"),
    )
    assert await project.review.drawn(shown["huge.txt"]) == (
        Text("huge.txt: too large to be shown", "warning"),
    )


async def test_before_the_first_commit_all_is_new(tmp_path: Path) -> None:
    project = Project(tmp_path, git=True)
    project.put("a.txt", "one\n")
    project.put("b.txt", "two\n")
    project.git("add", "a.txt")
    view = await project.view("uncommitted")
    assert rows(view) == [("a.txt", "new", "+1 -0"), ("b.txt", "untracked", "+1 -0")]
    assert await diff(project, view.files[0]) == ("+one",)


async def test_below_the_top_of_a_repository_only_what_is_there_counts(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "above.txt").write_text("x\n", encoding="utf-8")
    project = Project(tmp_path, git=False)
    project.put("in.txt", "one\n")
    project.git("add", ".")
    project.git("commit", "-qm", "first")
    project.put("in.txt", "two\n")
    view = await project.view("uncommitted")
    assert rows(view) == [("in.txt", "changed", "+1 -1")]
    assert await diff(project, view.files[0]) == ("-one", "+two")


TRAPS = ("x", "a=b", "with space", 'quo"te', "ünïcode")


async def test_nothing_of_the_repository_runs(tmp_path: Path) -> None:
    project = Project(tmp_path, git=True)
    for n in range(len(TRAPS)):
        project.put(f"f{n}.txt", "one\n")
    project.git("add", ".")
    project.git("commit", "-qm", "first")
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n', encoding="utf-8")
    trap.chmod(0o755)
    attributes = ""
    for n, name in enumerate(TRAPS):
        for key in ("clean", "smudge", "process"):
            project.git("config", f"filter.{name}.{key}", str(trap))
        project.git("config", f"filter.{name}.required", "true")
        project.git("config", f"diff.{name}.textconv", str(trap))
        project.git("config", f"diff.{name}.command", str(trap))
        plain = name.replace(" ", "").replace('"', "")
        if plain == name:
            attributes += f"f{n}.txt filter={name} diff={name}\n"
        project.put(f"f{n}.txt", "two\nthree\n")
    project.put(".gitattributes", attributes)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "core.sshCommand", "pager.diff"):
        project.git("config", key, str(trap))
    hooks = project.root / ".git" / "hooks"
    for hook in ("post-index-change", "fsmonitor-watchman"):
        (hooks / hook).write_text(trap.read_text(encoding="utf-8"), encoding="utf-8")
        (hooks / hook).chmod(0o755)
    project.git("diff", "--output=/dev/null", "HEAD")
    assert ran.exists(), "the traps work"
    ran.unlink()
    view = await project.view("uncommitted")
    assert [row for row in rows(view) if row[0].startswith("f")] == [
        (f"f{n}.txt", "changed", "+2 -1") for n in range(len(TRAPS))
    ]
    assert await diff(project, view.files[1]) == ("-one", "+two", "+three")
    assert not ran.exists(), ran.read_text(encoding="utf-8")


async def test_a_missing_object_is_not_fetched(tmp_path: Path) -> None:
    """Git fetches it with a program that the repository names, and older ones always do."""
    project = Project(tmp_path, git=True)
    project.put("a.txt", "one\n")
    project.git("add", ".")
    project.git("commit", "-qm", "first")
    (named,) = (project.root / ".git" / "objects").glob("56/26*")  # "one\n"
    named.unlink()
    ran, trap = tmp_path / "ran", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
    trap.chmod(0o755)
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": str(project.root),
        "remote.evil.uploadpack": str(trap),
        "protocol.file.allow": "always",
    }.items():
        project.git("config", key, value)
    project.put("a.txt", "two\n")
    await project.review.changes()
    with suppress(OSError):
        project.history.worktree.old("a.txt")
    assert not ran.exists()
    project.git("cat-file", "-p", "HEAD:a.txt")
    assert ran.exists(), "the trap works"


async def test_without_git_the_session_knows_what_it_did(tmp_path: Path) -> None:
    project = Project(tmp_path, git=False)
    project.put("a.txt", "one\n")
    project.says("first")
    await project.writes("a.txt", "two\n")
    await project.writes("b.txt", "new\n")
    project.says("only a question")
    project.says("third")
    await project.writes("a.txt", "two\nthree\n")
    views = {view.name: view for view in await project.review.changes()}
    assert list(views) == ["session", "turn 3", "turn 1"]
    assert rows(views["session"]) == [("a.txt", "changed", "+2 -1"), ("b.txt", "new", "+1 -0")]
    assert rows(views["turn 3"]) == [("a.txt", "changed", "+1 -0")]
    assert rows(views["turn 1"]) == [("a.txt", "changed", "+1 -1"), ("b.txt", "new", "+1 -0")]
    assert await diff(project, views["turn 1"].files[0]) == ("-one", "+two")
    assert await diff(project, views["session"].files[0]) == ("-one", "+two", "+three")


async def test_only_the_last_turns_have_a_view(tmp_path: Path) -> None:
    project = Project(tmp_path, git=False)
    for number in range(1, 7):
        project.says(f"turn {number}")
        await project.writes("a.txt", "x\n" * number)
    names = [view.name for view in await project.review.changes()]
    assert names == ["session", "turn 6", "turn 5", "turn 4"]
    assert rows(await project.view("session")) == [("a.txt", "new", "+6 -0")]


@pytest.mark.parametrize("git", [True, False])
async def test_where_nothing_changed_there_is_nothing(tmp_path: Path, *, git: bool) -> None:
    project = Project(tmp_path, git=git, keeping=False)
    assert await project.review.changes() == []
