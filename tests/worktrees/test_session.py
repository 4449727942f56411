"""Work trees in whole sessions: `--worktree`, the tools, what the gate asks, resuming, hooks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.launch.starting import settled
from gatewright.agent.record.events import Noticed, WorktreeChanged
from gatewright.agent.worktrees.names import WorktreeError
from tests.fakes.hostile_git import IDENTITY
from tests.permissions.composed import ID, WITHIN, Desk, desk

ENTER = 'call[e]: EnterWorktree {"name": "t"}'


def git(root: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **IDENTITY}
    return subprocess.run(
        ["git", *arguments], cwd=root, env=env, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\n", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return Path(os.path.realpath(root))


def writes(call: str, path: str) -> str:
    return f'call[{call}]: Write {{"file_path": "{path}", "content": "x"}}'


async def test_a_session_begins_in_one(tmp_path: Path, project: Path) -> None:
    tree = project / ".gatewright/worktrees/t"
    script = (
        'call[p]: Bash {"command": "pwd; git branch --show-current"}',
        writes("w", "new.txt"),
        "say: done",
    )
    async with desk(tmp_path, script, mode="acceptEdits", options={"worktree": "t"}) as made:
        made.session.submit("go")
        assert await made.finished("p") == f"{tree}\nworktree/t"
        await made.finished("w")
        await made.ended()
        assert f"You work in the git work tree {tree}" in "".join(made.words(0))
    assert (tree / "new.txt").exists() and not (project / "new.txt").exists()
    assert git(project, "status", "--porcelain", "--untracked-files=all") == ""
    assert not (project / ".git/worktrees/t/locked").exists(), "nobody works in it any more"


REACHING = {
    "a file": writes("1", "{project}/new.txt"),
    "a file, climbing": writes("1", "../../../new.txt"),
    "another tree": writes("1", "{project}/.gatewright/worktrees/other/x"),
    "a redirection": 'call[1]: Bash {"command": "echo x > {project}/a.txt"}',
    "a directory": 'call[1]: Bash {"command": "cd {project} && touch b.txt"}',
    "git -C": 'call[1]: Bash {"command": "git -C {project} commit --allow-empty -m x"}',
    "--git-dir": 'call[1]: Bash {"command": "git --git-dir={project}/.git tag x"}',
    "--work-tree": 'call[1]: Bash {"command": "git --work-tree ../../.. status"}',
    "GIT_DIR": 'call[1]: Bash {"command": "GIT_DIR={project}/.git git tag x"}',
}


@pytest.mark.parametrize("how", REACHING)
async def test_the_checkout_beside_it_is_asked_about_in_every_mode(
    tmp_path: Path, project: Path, how: str
) -> None:
    """A rule that allows all of it does not reach out of the tree either."""
    own = {"permissions": {"allow": ["Bash", "Edit", "Write"]}}
    call = REACHING[how].replace("{project}", str(project))
    script = (ENTER, call, "say: done")
    async with desk(tmp_path, script, mode="bypassPermissions", own=own) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert "your own checkout" in asked.ask.reason and asked.ask.danger
        made.answer(asked, "decline")
        await made.ended()
    assert (project / "a.txt").read_text(encoding="utf-8") == "one\n"


async def test_denials_of_the_project_hold_in_the_tree_and_beside_it(
    tmp_path: Path, project: Path
) -> None:
    rules = {"permissions": {"deny": ["Edit(a.txt)", "Edit(/sub/**)"]}}
    script = (
        ENTER,
        writes("1", "a.txt"),
        writes("2", f"{project}/a.txt"),
        writes("3", "sub/x"),
        writes("4", f"{project}/sub/x"),
        "say: done",
    )
    async with desk(tmp_path, script, mode="bypassPermissions", settings=rules) as made:
        made.session.submit("go")
        for call in "1234":
            decided = await made.decided(call)
            assert decided.behavior == "deny", call
        await made.ended()


async def test_it_is_left_and_entered_again(tmp_path: Path, project: Path) -> None:
    tree = project / ".gatewright/worktrees/t"
    script = (
        ENTER,
        writes("w", "new.txt"),
        'call[l]: LeaveWorktree {"action": "remove"}',
        'call[p]: Bash {"command": "pwd"}',
        f'call[a]: EnterWorktree {{"path": "{tree}"}}',
        'call[d]: LeaveWorktree {"action": "remove", "discard_changes": true}',
        "say: done",
    )
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        made.session.submit("go")
        left = await made.finished("l")
        assert left.count("1 file untracked") == 1 and ": 1 file untracked: new.txt. You" in left
        assert await made.finished("p") == str(project)
        assert "It was there already" in await made.finished("a")
        asked = await made.asked()
        assert asked.ask.danger and "new.txt" in str(asked.ask.body)
        made.answer(asked, "discard")
        assert "is removed" in await made.finished("d")
        await made.ended()
    assert not tree.exists()
    went = [event for event in made.seen.events if isinstance(event, WorktreeChanged)]
    assert [event.path for event in went] == [str(tree), "", str(tree), ""]
    assert [event.cwd for event in went] == [str(tree), str(project), str(tree), str(project)]


async def test_the_question_says_which_tree_is_left_and_what_becomes_of_it(
    tmp_path: Path, project: Path
) -> None:
    script = ('call[l]: LeaveWorktree {"action": "remove"}', "say: done")
    options = {"worktree": "t"}
    async with desk(tmp_path, script, mode="acceptEdits", options=options) as made:
        made.session.submit("go")
        asked = await made.asked()
        tree = project / ".gatewright/worktrees/t"
        body = " ".join(str(block) for block in asked.ask.body)
        assert f"goes on in {project}. {tree} is removed if nothing would be lost" in body
        made.answer(asked, "once")
        assert "is removed" in await made.finished("l")
        await made.ended()


async def test_nothing_is_discarded_where_nobody_is_there(tmp_path: Path, project: Path) -> None:
    script = (
        writes("w", "new.txt"),
        'call[d]: LeaveWorktree {"action": "remove", "discard_changes": true}',
        "say: done",
    )
    options = {"worktree": "t"}
    async with desk(
        tmp_path, script, mode="bypassPermissions", interactive=False, options=options
    ) as made:
        made.session.submit("go")
        assert "Nobody is here" in await made.finished("d")
        await made.ended()
    assert (project / ".gatewright/worktrees/t/new.txt").exists()


async def test_a_session_comes_back_to_its_tree(tmp_path: Path, project: Path) -> None:
    tree = project / ".gatewright/worktrees/t"
    async with desk(tmp_path, (ENTER, "say: done"), mode="bypassPermissions") as made:
        made.session.submit("go")
        await made.ended()
    pwd = 'call[%s]: Bash {"command": "pwd"}'
    again = {"resume": ID}
    script = (pwd % "p", "say: done")
    async with desk(tmp_path, script, mode="bypassPermissions", options=again) as made:
        made.session.submit("where")
        assert await made.finished("p") == str(tree)
        await made.ended()
    (tree / ".git").write_text(f"gitdir: {project}/.git\n", encoding="utf-8")
    script = (pwd % "q", "say: done")
    async with desk(tmp_path, script, mode="bypassPermissions", options=again) as made:
        await made.seen.until(Noticed, where=lambda e: "not the separate" in e.text, within=WITHIN)
        made.session.submit("where")
        assert await made.finished("q") == str(project)
        await made.ended()


async def test_a_tree_that_is_gone_fails_commands(tmp_path: Path, project: Path) -> None:
    """Git never looks further up, into the checkout."""
    script = (
        ENTER,
        'call[1]: Bash {"command": "rm .git"}',
        'call[2]: Bash {"command": "git rev-parse --show-toplevel"}',
        'call[3]: Bash {"command": "rm -rf ../t"}',
        'call[4]: Bash {"command": "pwd"}',
        "say: done",
    )
    async with desk(tmp_path, script, mode="bypassPermissions") as made:
        made.session.submit("go")
        for number in (1, 2):
            made.answer(await made.asked(number), "once")
        assert "not a git repository" in await made.finished("2")
        assert str(project) != await made.finished("4")
        await made.ended()


async def test_a_session_does_not_begin_without_it(tmp_path: Path) -> None:
    with pytest.raises(WorktreeError, match="not the top of a git checkout"):
        async with desk(tmp_path, ("say: never",), options={"worktree": "t"}):
            pass


@pytest.mark.parametrize("name", ["../x", "-x", "a b", "x" * 65, ".git", "a..b", "x.lock", "a/"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(WorktreeError, match="is no name"):
        settled(LaunchOptions(worktree=name), str)


def test_one_name_holds_for_the_whole_run() -> None:
    named = settled(LaunchOptions(worktree=""), str).worktree
    assert named and named.startswith("tree-")
    assert settled(LaunchOptions(worktree="#12"), str).worktree == "#12"


def tools(made: Desk) -> Sequence[str]:
    return [tool["name"] for tool in made.server.bodies[0]["tools"]]


async def test_the_tools_are_there_only_in_a_checkout_of_git(tmp_path: Path, project: Path) -> None:
    for inside in (True, False):
        folder = tmp_path if inside else tmp_path / "bare"
        folder.mkdir(exist_ok=True)
        async with desk(folder, ("say: done",)) as made:
            made.session.submit("go")
            await made.ended()
            assert ("EnterWorktree" in tools(made)) is inside
    assert project.is_dir()


async def test_the_sandbox_lets_commands_write_the_tree_and_nothing_beside_it(
    tmp_path: Path, project: Path
) -> None:
    script = (
        ENTER,
        'call[1]: Bash {"command": "sh -c \'touch new.txt; touch ../../../out.txt; echo done\'"}',
        'call[2]: Bash {"command": "git add new.txt && git -c user.name=x -c user.email=x@x.org'
        ' commit -qm work && git log --oneline"}',
        'call[3]: Bash {"command": "touch .git ../../../.git/hooks/pre-commit; echo done"}',
        "say: done",
    )
    own = {"sandbox": {"enabled": True, "failIfUnavailable": True}}
    async with desk(tmp_path, script, mode="default", own=own) as made:
        made.session.submit("go")
        for number in range(1, 5):
            made.answer(await made.asked(number), "once")
        if "only in the sandbox" in await made.finished("1"):
            pytest.skip("commands cannot be confined here")
        await made.ended()
        assert "out.txt': " in await made.finished("1")
        assert "work" in await made.finished("2")
    tree = project / ".gatewright/worktrees/t"
    assert (tree / "new.txt").exists() and not (project / "out.txt").exists()
    assert not (project / ".git/hooks/pre-commit").exists()
    assert "work" in git(tree, "log", "--oneline")


MOVES = "asks in this mode: it changes where the agent works."


async def test_who_is_asked_for_one_sees_what_it_touches(tmp_path: Path, project: Path) -> None:
    """A name that it gets by itself is one that the person is asked about."""
    unnamed = "call[e]: EnterWorktree {}"
    leaving = 'call[l]: LeaveWorktree {"action": "keep"}'
    async with desk(tmp_path, (unnamed, leaving, "say: done")) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert asked.ask.reason == f"Edits ask in this mode. EnterWorktree {MOVES}"
        (said,) = asked.ask.body
        named = str(said).partition(".gatewright/worktrees/")[2].partition(",")[0]
        assert named.startswith("tree-")
        made.answer(asked, "once")
        assert f"{project}/.gatewright/worktrees/{named} (branch" in await made.finished("e")
        asked = await made.asked(2)
        assert asked.ask.reason == f"LeaveWorktree {MOVES}"
        made.answer(asked, "decline")
        await made.ended()


@pytest.mark.parametrize("call", [ENTER, 'call[e]: LeaveWorktree {"action": "keep"}'])
async def test_it_asks_in_the_mode_that_accepts_edits(
    tmp_path: Path, project: Path, call: str
) -> None:
    """Else one that was set apart would be back in the person's checkout by itself."""
    options = {"worktree": "t"} if "Leave" in call else {}
    script = (call, "say: done")
    async with desk(tmp_path, script, mode="acceptEdits", options=options) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert MOVES in asked.ask.reason
        made.answer(asked, "decline")
        await made.ended()
    assert project.is_dir()


@pytest.mark.parametrize(
    ("given", "decided"),
    [
        ({"allow": ["EnterWorktree"]}, "allow"),
        ({"allow": ["EnterWorktree"], "deny": ["Edit(/.gatewright/worktrees/**)"]}, "deny"),
    ],
)
async def test_rules_about_files_are_about_a_tree_too(
    tmp_path: Path, project: Path, given: dict[str, object], decided: str
) -> None:
    own = {"permissions": given}
    async with desk(tmp_path, (ENTER, "say: done"), own=own) as made:
        made.session.submit("go")
        assert (await made.decided("e")).behavior == decided
        await made.ended()
    assert (project / ".gatewright/worktrees/t").exists() is (decided == "allow")


@pytest.mark.parametrize(
    ("call", "own"),
    [
        ('{"name": "#7"}', {}),
        ('{"name": "t"}', {"worktree": {"baseRef": "fresh"}}),
    ],
)
async def test_one_that_is_fetched_says_so(
    tmp_path: Path, project: Path, call: str, own: dict[str, object]
) -> None:
    script = (f"call[e]: EnterWorktree {call}", "say: done")
    async with desk(tmp_path, script, mode="acceptEdits", own=own) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert "it talks to the outside" in asked.ask.reason
        made.answer(asked, "decline")
        await made.ended()
    assert not (project / ".gatewright/worktrees").exists()


async def test_leaving_by_removing_is_a_question_where_nothing_is_lost_too(
    tmp_path: Path, project: Path
) -> None:
    script = (
        'call[d]: LeaveWorktree {"action": "remove", "discard_changes": true}',
        "say: done",
    )
    async with desk(tmp_path, script, mode="acceptEdits", options={"worktree": "t"}) as made:
        made.session.submit("go")
        asked = await made.asked()
        assert "Nothing would be lost" in str(asked.ask.body)
        assert not asked.ask.danger
        made.answer(asked, "discard")
        assert "is removed" in await made.finished("d")
        await made.ended()
    assert not (project / ".gatewright/worktrees/t").exists()


async def test_a_name_that_is_none_asks_nobody(tmp_path: Path, project: Path) -> None:
    script = ('call[e]: EnterWorktree {"name": "../x"}', "say: done")
    async with desk(tmp_path, script) as made:
        made.session.submit("go")
        assert "is no name for a work tree" in await made.finished("e")
        await made.ended()
    assert project.is_dir()
