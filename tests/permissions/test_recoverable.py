"""In bypass a deletion inside the project runs only where git can bring all of it back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.history.history import History, HistoryPlaces
from gatewright.permissions.gate import Gate
from gatewright.permissions.machine.world import Keeps, git_keeps
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.request import GatePorts, Passed, Request
from gatewright.tools.access import Access, ShellText, Where
from gatewright.tools.calls import Facts, Prepared
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import ToolCall
from gatewright.tools.system.git import Caller
from tests.permissions.tables import judge_shell


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@x.invalid", "-c", "commit.gpgsign=false")
    run(root, "git", *identity, *words)


def run(root: Path, *argv: str) -> None:
    subprocess.run(argv, cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """`kept/` is committed and unchanged."""
    root = Path(os.path.realpath(tmp_path)) / "proj"
    (root / "kept/deep").mkdir(parents=True)
    (root / "kept/a").write_text("a", encoding="utf-8")
    (root / "kept/deep/b").write_text("b", encoding="utf-8")
    (root / "kept/link").symlink_to("a")
    (root / ".gitignore").write_text("*.log\nbuild/\n", encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    return root


async def test_what_is_committed_and_unchanged_is_kept(repository: Path) -> None:
    for name in ("kept", "kept/deep", "kept/a", "kept/link"):
        assert await git_keeps(f"{repository}/{name}"), name


@pytest.mark.parametrize(
    "change",
    [
        "echo more >> kept/a",
        "echo new > kept/deep/new",
        "echo log > kept/deep/x.log",
        "mkdir -p kept/build && echo out > kept/build/out",
        "echo more >> kept/a && git add kept/a",
        "echo new > kept/new && git add kept/new",
        "git update-index --assume-unchanged kept/a && echo more >> kept/a",
        "git update-index --skip-worktree kept/a && echo more >> kept/a",
        "chmod +x kept/a",
        "git init -q kept/own && echo x > kept/own/x",
        "git init -q kept/own && cd kept/own && git -c user.name=x -c user.email=x@x.invalid "
        "commit -q --allow-empty -m x && cd ../.. && git add kept/own 2>&1",
        "git config filter.x.clean 'touch ran' && echo '* filter=x' > .gitattributes",
        "rm -rf .git",
    ],
)
async def test_what_git_does_not_hold_is_not(repository: Path, change: str) -> None:
    run(repository, "bash", "-ec", change)
    assert not await git_keeps(f"{repository}/kept")
    assert not (repository / "ran").exists()


class Door:
    """A gate in bypass over a real project; nobody says yes."""

    def __init__(
        self, root: Path, mode: str = "bypassPermissions", keeps: Keeps = git_keeps
    ) -> None:
        self.root = root
        self.asked: list[Ask] = []
        policy = Policy(
            PolicyConfig(root=root, cwd=root, home=root.parent, mode=mode, trusted=True)
        )
        self.gate = Gate(policy, GatePorts(keeps=keeps))

    async def runs(self, command: str) -> bool:
        facts = Facts(access=Access(runs=ShellText(command, self.root)), verb="Run", target=command)
        call = ToolCall("c", "Bash", {"command": command})
        where = Where(self.root, self.root, self.root.parent)
        prepared = Prepared(call=call, facts=facts)
        outcome = await self.gate.authorize(Request(prepared, where, self.ask))
        return isinstance(outcome, Passed)

    async def ask(self, asked: Ask) -> Answer:
        self.asked.append(asked)
        return Answer(("no",))


@pytest.mark.parametrize(
    "command", ["rm -rf kept", "rm -r kept/deep", "rm -f kept/a missing", "find kept -delete"]
)
async def test_bypass_deletes_what_git_keeps(repository: Path, command: str) -> None:
    door = Door(repository)
    assert await door.runs(command)
    assert door.asked == []


async def test_bypass_asks_before_build_output_is_gone_and_says_why(repository: Path) -> None:
    (repository / "build").mkdir()
    (repository / "build/out").touch()
    door = Door(repository)
    assert not await door.runs("rm -rf build")
    assert "Neither git nor a checkpoint could bring all of it back" in str(door.asked[0])


@pytest.mark.parametrize(
    "command",
    [
        "mv notes kept/ && rm -rf kept",
        "echo x > kept/a; rm -rf kept",
        "rm -rf kept/*",
        "rm -rf $DIR",
        "rm -rf .",
        "rm -rf .git",
        "rm -rf .vscode",
        "rm -rf ../other",
        "chmod -R 777 kept",
        "sudo rm -rf kept",
        "rm -rf kept &",
        "rm -rf out/x",
    ],
)
async def test_bypass_still_asks_where_what_was_looked_at_may_not_be_what_goes(
    repository: Path, command: str
) -> None:
    (repository / "notes").touch()
    (repository / "out").symlink_to("kept")
    assert not await Door(repository).runs(command)


async def test_other_modes_ask_as_before(repository: Path) -> None:
    for mode in ("default", "acceptEdits"):
        assert not await Door(repository, mode).runs("rm -rf kept")


def test_the_fact_can_be_given_to_a_case() -> None:
    context: dict[str, Any] = {"mode": "bypassPermissions", "recoverable": ["/w/proj/build"]}
    case = {"id": 1, "command": "rm -rf build", "context": context}
    assert judge_shell(case)["behavior"] == "allow"
    assert judge_shell({**case, "context": {**context, "recoverable": []}})["behavior"] == "ask"


LOSING = [
    "rm own.txt",
    "rm -f own.txt",
    "rm *.txt",
    'rm "$FILE"',
    "unlink own.txt",
    "rm own.txt kept/a",
    "rm build/out",
    "rm -rf build",
    "shred own.txt",
    "truncate -s 0 own.txt",
    ": > own.txt",
    "echo x > own.txt",
    "echo x >| own.txt",
    "echo x | tee own.txt",
    "cp kept/a own.txt",
    "cp kept/own.txt .",
    "mv kept/a own.txt",
    "mv own.txt notes && rm notes",
    "ln -sf kept/a own.txt",
    "sed -i s/o/x/ own.txt",
    "dd if=kept/a of=own.txt",
    "cd build && rm out",
    "bash -c 'rm own.txt'",
    "find build -delete",
    "git clean -fdx",
]
HARMLESS = [
    "rm kept/a",
    "rm missing",
    "echo x > new.txt",
    "echo x >> own.txt",
    "echo x | tee -a own.txt",
    "mv own.txt moved.txt",
    "cp own.txt copy.txt",
    "sed -i s/a/x/ kept/a",
    "touch own.txt",
    "mkdir -p build/x",
    "ls > /tmp/gatewright-no-such-file",
]


@pytest.fixture
def working(repository: Path) -> Path:
    """As it is in mid-work: a file of the person's own, and what git ignores."""
    (repository / "own.txt").write_text("own", encoding="utf-8")
    (repository / "kept/own.txt").write_text("a", encoding="utf-8")
    (repository / "build").mkdir()
    (repository / "build/out").write_text("built", encoding="utf-8")
    return repository


@pytest.mark.parametrize("mode", ["bypassPermissions", "autoInProject"])
@pytest.mark.parametrize("command", LOSING)
async def test_what_nobody_could_bring_back_is_not_lost_unasked(
    working: Path, mode: str, command: str
) -> None:
    assert not await Door(working, mode).runs(command)


@pytest.mark.parametrize("command", HARMLESS)
async def test_bypass_asks_about_nothing_else(working: Path, command: str) -> None:
    assert await Door(working).runs(command)


@pytest.mark.parametrize(
    "command",
    [*LOSING, *HARMLESS, "rm -rf kept", "rm -rf kept/*", "rm -rf kept &", "rm -r kept/deep",
     "find kept -delete", "curl x | sh", "sudo ls", "git push --force", "chmod -R 777 kept",
     "echo x > ../out", "rm ../out", "npm publish", "cat kept/a", "make"],
)  # fmt: skip
async def test_working_alone_in_the_project_is_never_laxer_than_bypass(
    working: Path, command: str
) -> None:
    if await Door(working, "autoInProject").runs(command):
        assert await Door(working).runs(command)


async def test_a_checkpoint_that_really_holds_a_file_spares_the_question(working: Path) -> None:
    history = History(
        HistoryPlaces(working.parent / "s/own", working.parent / "s", working),
        Caller(dict(os.environ)),
        lambda event: None,
    )

    async def keeps(path: str) -> bool:
        return await git_keeps(path) or await history.checkpoints.keeps(Path(path))

    (working / "large").write_bytes(b"x" * 3_000_000)
    for mode in ("bypassPermissions", "autoInProject"):
        assert await Door(working, mode, keeps).runs("rm own.txt")
        assert await Door(working, mode, keeps).runs("rm -rf kept")
        assert not await Door(working, mode, keeps).runs("rm build/out"), "ignored"
        assert not await Door(working, mode, keeps).runs("rm -rf build"), "ignored"
        assert not await Door(working, mode, keeps).runs("rm large"), "too large"
    await history.checkpoints.settled()
