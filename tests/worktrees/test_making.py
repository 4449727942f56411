"""What a new tree is like: copies, links, sparse ones, its base, its name, its hooks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.agent.worktrees.included import Bringing
from gatewright.agent.worktrees.isolated import open_isolated
from gatewright.agent.worktrees.names import WorktreeError, wanted
from gatewright.agent.worktrees.project_trees import Ports, Wishes, Worktrees
from gatewright.tools.access import Where
from gatewright.tools.moments import Moment, Verdict, WorktreeGone, WorktreeWanted
from gatewright.tools.system.git import Caller, Git
from tests.fakes.hostile_git import Trapped
from tests.worktrees.ground import ENV, Checkout


async def test_git_takes_it_for_its_own(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    before = at.state()
    tree = await at.tree("one/two")
    assert tree.path == f"{at.root}/.gatewright/worktrees/one+two"
    assert at.git("branch", "--show-current", root=tree.tree) == "worktree/one+two\n"
    assert at.git("status", "--porcelain", "--ignored", root=tree.tree) == ""
    assert at.git("fsck", "--no-dangling") == "" and "locked" in at.git("worktree", "list")
    assert at.git("status", "--porcelain", "--untracked-files=all") == "" and at.state() == before
    at.put("a.txt", "more\n", tree.tree)
    at.git("commit", "-qam", "work", root=tree.tree)
    at.git("merge", "-q", "worktree/one+two")
    assert (at.root / "a.txt").read_text(encoding="utf-8") == "more\n"


async def test_ignored_files_that_are_named_come_along(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    at.put(".worktreeinclude", ".env\n*.log\nsub/\n")
    at.put(".env", "KEY=1\n").chmod(0o600)
    at.put("build/x.log", "x\n")
    at.put("new.txt", "untracked, not ignored\n")
    (at.root / "link.log").symlink_to("/etc/passwd")
    opened = await at.trees.open("t", at.root, "main")
    tree = opened.record.tree
    assert (tree / ".env").read_text(encoding="utf-8") == "KEY=1\n"
    assert (tree / ".env").stat().st_mode & 0o777 == 0o600
    assert (tree / "build/x.log").exists() and not (tree / "new.txt").exists()
    assert not os.path.lexists(tree / "link.log") and "link.log was not copied" in opened.text
    assert (await at.trees.check(opened.record)).clean
    at.put(".env", "KEY=2\n")
    held = await at.trees.check(opened.record)
    assert held.losses == ("1 file ignored by git: .env",), "its original is another one now"
    at.put(".env", "KEY=1\n")
    assert (await at.trees.remove(opened.record)).kept == ""
    assert (at.root / ".env").read_text(encoding="utf-8") == "KEY=1\n"


async def test_a_project_that_is_not_trusted_names_nothing(tmp_path: Path) -> None:
    at = Checkout(tmp_path, Wishes())
    at.put(".worktreeinclude", ".env\n")
    at.put(".env", "KEY=1\n")
    assert not ((await at.tree()).tree / ".env").exists()


async def test_linked_directories(tmp_path: Path) -> None:
    links = ("node_modules", "sub", "../x", "nowhere", ".git")
    at = Checkout(tmp_path, Wishes(bringing=Bringing(links=links)))
    at.put(".gitignore", "node_modules\n")
    at.git("commit", "-qam", "ignore")
    at.put("node_modules/m/index.js", "m\n")
    opened = await at.trees.open("t", at.root, "main")
    tree = opened.record.tree
    assert (tree / "node_modules").is_symlink() and not (tree / "sub").is_symlink()
    assert "sub was not linked" in opened.text and "'../x' is no directory" in opened.text
    assert (await at.trees.remove(opened.record)).kept == ""
    assert (at.root / "node_modules/m/index.js").exists()


async def test_a_sparse_one_has_what_was_asked_for(tmp_path: Path) -> None:
    at = Checkout(tmp_path, Wishes(bringing=Bringing(sparse=("sub/",))))
    at.put("large/x.bin", "x\n")
    at.git("add", ".")
    at.git("commit", "-qm", "large")
    tree = await at.tree()
    assert (tree.tree / "sub/b.txt").exists() and (tree.tree / "a.txt").exists()
    assert not (tree.tree / "large").exists()
    assert at.git("status", "--porcelain", root=tree.tree) == ""
    assert (await at.trees.check(tree)).clean
    at.put("large/x.bin", "mine\n", tree.tree)
    assert "large/x.bin" in (await at.trees.check(tree)).text()
    (tree.tree / "large/x.bin").unlink()
    assert (await at.trees.remove(tree)).kept == ""


async def test_the_same_name_again_starts_no_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    at.put("new.txt", "kept\n", tree.tree)
    await at.trees.leave(tree)
    monkeypatch.setattr(Git, "run", None)
    opened = await at.book("s2").open("t", at.root, "main")
    assert opened.again and opened.record.inode == tree.inode and opened.record.session == "s2"
    assert (tree.tree / "new.txt").exists()


async def test_two_do_not_work_in_one(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    await at.tree()
    with pytest.raises(WorktreeError, match="works in t already"):
        await at.trees.open("t", at.root, "main/a1")


async def test_what_is_in_the_way_stays(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    at.put(".gatewright/worktrees/t/mine.txt", "mine\n")
    with pytest.raises(WorktreeError, match="which is not ours to use"):
        await at.tree()
    at.git("branch", "worktree/u")
    with pytest.raises(WorktreeError, match="could not be begun"):
        await at.tree("u")
    assert not (at.root / ".gatewright/worktrees/u").exists()
    assert not (at.root / ".git/worktrees/u").exists()


@pytest.mark.parametrize(
    "part", [".gatewright", ".gatewright/worktrees", ".git/refs/heads/worktree"]
)
async def test_no_part_of_the_way_is_a_link(tmp_path: Path, part: str) -> None:
    at = Checkout(tmp_path)
    (elsewhere := at.root.parent / "elsewhere").mkdir()
    (at.root / part).parent.mkdir(exist_ok=True)
    (at.root / part).symlink_to(elsewhere)
    with pytest.raises((WorktreeError, OSError), match="is a link"):
        await at.tree()
    assert list(elsewhere.iterdir()) == []


async def test_a_tree_is_never_made_in_a_tree(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    ports = Ports(root=tree.tree, folder=at.home, caller=lambda: Caller(ENV), wishes=Wishes)
    with pytest.raises(WorktreeError, match="never nested"):
        await Worktrees(ports).open("u", tree.tree, "main")


async def test_before_the_first_commit_there_is_none(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    at.git("update-ref", "-d", "refs/heads/main")
    with pytest.raises(WorktreeError, match="no commit yet"):
        await at.tree()


async def test_an_agent_begins_at_what_its_parent_sees(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    tree = await at.tree()
    at.put("c.txt", "work\n", tree.tree)
    at.git("add", ".", root=tree.tree)
    at.git("commit", "-qm", "work", root=tree.tree)
    where = Where(cwd=tree.tree, root=tree.tree, home=at.home)
    child = await open_isolated(at.trees, where, "agent-a1", "main/a1")
    assert child.where.root == child.where.cwd == at.root / ".gatewright/worktrees/agent-a1"
    assert (child.where.root / "c.txt").exists() and "not committed" in child.text
    assert (await child.finish()).kept == "" and not child.where.root.exists()
    child = await open_isolated(at.trees, where, "agent-a2", "main/a2")
    at.put("new.txt", "new\n", child.where.root)
    left = await child.finish()
    assert "untracked: new.txt" in left.kept and left.diffstat == "1 file untracked"
    again = await open_isolated(at.trees, where, "x", "main/a2", before=str(child.where.root))
    assert again.where.root == child.where.root


async def test_a_fresh_one_begins_at_what_the_remote_has(tmp_path: Path) -> None:
    at = Checkout(tmp_path, Wishes(base="fresh"))
    first = (await at.trees.open("none", at.root, "main")).text
    assert "no remote called origin" in first
    remote = at.root.parent / "remote"
    at.git("clone", "-q", str(at.root), str(remote))
    at.put("far.txt", "far\n", remote)
    at.git("add", ".", root=remote)
    at.git("commit", "-qm", "far", root=remote)
    at.git("update-ref", "refs/pull/12/head", "HEAD", root=remote)
    at.git("reset", "-q", "--hard", "HEAD~1", root=remote)
    at.put("newer.txt", "newer\n", remote)
    at.git("add", ".", root=remote)
    at.git("commit", "-qm", "newer", root=remote)
    at.git("remote", "add", "origin", str(remote))
    before = at.state()
    fresh = await at.tree("fresh")
    assert (fresh.tree / "newer.txt").exists() and at.state() == before
    pulled = await at.tree("#12")
    assert pulled.slug == "pr-12" and (pulled.tree / "far.txt").exists()
    with pytest.raises(WorktreeError, match="Pull request 13 could not be fetched"):
        await at.tree("https://example.org/o/r/pull/13")
    remote.rename(remote.with_name("gone"))
    late = await at.trees.open("late", at.root, "main")
    assert "did not answer" in late.text


def test_the_address_of_a_pull_request() -> None:
    assert wanted("https://example.org/o/r/pull/7/files").pull == 7
    assert wanted("https://example.org/o/r/-/merge_requests/8").pull == 8


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c touch%20x", "-u./x", "https://h/x --upload-pack=y", "git@-oProxyCommand=x:y",
     "ssh://-oProxyCommand=x/y", "file:///x", "http://h/x"],
)  # fmt: skip
async def test_addresses_that_are_never_gone_to(tmp_path: Path, url: str) -> None:
    at = Checkout(tmp_path, Wishes(base="fresh"))
    at.put(
        ".git/config", f'[core]\n\trepositoryformatversion = 0\n[remote "origin"]\n\turl = {url}\n'
    )
    opened = await at.trees.open("t", at.root, "main")
    assert "no remote called origin with an address of a usual form" in opened.text


async def test_nothing_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    """Hooks, filters, a monitor, drivers: making, looking through and removing springs none."""
    trapped = Trapped.make(tmp_path / "project", tmp_path / "marks")
    root = Path(os.path.realpath(trapped.root))
    trapped.git("checkout", "-q", "--", ".")
    hooks = ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc")
    for hook in hooks:
        trapped.script(f".git/hooks/{hook}", f'touch "{trapped.marks}/{hook}"')
    trapped.put(".gitattributes", "* filter=bad diff=bad merge=bad text eol=crlf ident\n")
    trapped.git("add", ".gitattributes")
    trapped.git("commit", "-qm", "attributes")
    for key in ("filter.bad.smudge", "filter.bad.clean", "filter.bad.process", "core.fsmonitor",
                "diff.bad.textconv", "diff.external", "core.editor", "core.pager",
                "core.sshCommand", "core.gitProxy", "credential.helper"):  # fmt: skip
        trapped.config(key, trapped.trap)
    trapped.config("filter.bad.required", "true")
    trapped.config("core.alternateRefsCommand", trapped.trap)
    trapped.reset()
    at = Checkout.__new__(Checkout)
    at.root, at.home, at.wishes = root, tmp_path / "home", Wishes(bringing=Bringing(include=True))
    at.trees = at.book()
    tree = await at.tree()
    assert (tree.tree / "a.txt").exists()
    await at.trees.check(tree)
    assert (await at.trees.remove(tree)).kept == ""
    assert not trapped.sprung(), list(trapped.marks.iterdir())
    trapped.git("worktree", "add", "-q", str(tmp_path / "plain"), check=False)
    assert trapped.sprung(), "plain git runs what is set up here"


class Listening:
    def __init__(self, answer: Verdict) -> None:
        self.answer, self.heard = answer, list[Moment]()

    async def at(self, moment: Moment) -> Verdict:
        self.heard.append(moment)
        return self.answer if isinstance(moment, WorktreeWanted) else Verdict()


def listened(at: Checkout, answer: Verdict) -> tuple[Worktrees, Listening]:
    listening = Listening(answer)
    ports = Ports(
        root=at.root,
        folder=at.home / "projects/p",
        caller=lambda: Caller(ENV),
        wishes=Wishes,
        moments=lambda: listening,
    )
    return Worktrees(ports), listening


async def test_who_listens_may_refuse_it(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    trees, _ = listened(at, Verdict(word="deny", text="Not here."))
    with pytest.raises(WorktreeError, match="Not here"):
        await trees.open("t", at.root, "main")
    assert not (at.root / ".gatewright").exists()


async def test_one_that_a_hook_made_is_kept(tmp_path: Path) -> None:
    at = Checkout(tmp_path)
    (place := at.root.parent / "by-hook").mkdir()
    trees, listening = listened(at, Verdict(output=f"{place}\n"))
    opened = await trees.open("t", at.root, "main")
    assert opened.record.path == str(place) and opened.record.by_hook
    left = await trees.remove(opened.record)
    assert left.kept == "a hook made it" and place.exists()
    assert isinstance(listening.heard[-1], WorktreeGone)
    for wrong in ("relative", str(at.root), str(at.root.parent), str(at.root / "sub"), "/nowhere"):
        trees, _ = listened(at, Verdict(output=wrong))
        with pytest.raises(WorktreeError, match="no place apart"):
            await trees.open("u", at.root, "main")
