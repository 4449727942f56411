"""An allow rule is about what its writer named: links inside the project lead it nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.policy_settings import policy_config
from gatewright.agent.settings.workspace import survey
from gatewright.permissions.context import Call
from gatewright.permissions.decide import decide
from gatewright.permissions.decision import Allow, Ask, Decision, Deny
from gatewright.permissions.machine.links import on_disk
from gatewright.permissions.machine.table_resolver import TableResolver
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.permissions.sandbox.disk.globs import globs, resolved
from gatewright.tools.access import Access, ShellText, Where


class Disk:
    """A home, a project and an added directory, all real."""

    def __init__(self, folder: Path) -> None:
        self.base = Path(os.path.realpath(folder))
        self.home, self.root, self.added = (self.base / name for name in ("home", "proj", "added"))
        for directory in (self.home, self.root, self.added):
            directory.mkdir()
        self.cwd = self.root

    def link(self, name: str, target: Path | str) -> None:
        (self.base / name).symlink_to(target)

    def policy(self, *allow: str, deny: tuple[str, ...] = (), source: str = "user") -> Policy:
        return Policy(
            PolicyConfig(
                root=self.root,
                cwd=self.cwd,
                home=self.home,
                directories=(self.added,),
                trusted=True,
                rules={source: RuleTexts(allow=allow, deny=deny)},
            )
        )

    def decided(self, policy: Policy, tool: str, path: Path | str) -> Decision:
        where = Where(self.cwd, self.root, self.home)
        given = where.resolve(str(path))
        access = Access(reads=(given,)) if tool == "Read" else Access(writes=(given,))
        return decide(Call(tool, {"file_path": str(path)}, access), policy.context(where))

    def ran(self, policy: Policy, command: str) -> Decision:
        where = Where(self.cwd, self.root, self.home)
        access = Access(runs=ShellText(command, self.cwd))
        return decide(Call("Bash", {"command": command}, access), policy.context(where))


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


@pytest.mark.parametrize("source", ["user", "managed", "cli", "session", "project", "local"])
@pytest.mark.parametrize("tool", ["Edit", "Read", "Write"])
@pytest.mark.parametrize("pattern", ["/pub/**", "pub/**", "./pub", "pub", "//{root}/pub/**"])
def test_a_link_in_the_project_does_not_aim_a_rule_outside(
    disk: Disk, source: str, tool: str, pattern: str
) -> None:
    disk.link("proj/pub", disk.home)
    rule = f"{tool}({pattern.format(root=str(disk.root)[1:])})"
    policy = disk.policy(rule, source=source)
    for path in ("pub/notes", disk.home / "notes", disk.root / "pub/../home/notes"):
        assert isinstance(disk.decided(policy, tool, path), Ask), path


@pytest.mark.parametrize(
    ("links", "pattern"),
    [
        ({"proj/pub": "deep", "proj/deep": "../home"}, "/pub/**"),
        ({"proj/pub": "../added", "added/x": "../home"}, "/pub/x/**"),
        ({"added/pub": "../home"}, "//{base}/added/pub/**"),
        ({"proj/pub": "../added"}, "/pub/**"),
        ({"home/n": "../proj/pub", "proj/pub": "../other"}, "~/n/**"),
        ({"proj/a": ".", "proj/pub": "../home"}, "/a/a/pub/**"),
    ],
)
def test_nor_do_several_links(disk: Disk, links: dict[str, str], pattern: str) -> None:
    (disk.base / "other").mkdir()
    for name, target in links.items():
        disk.link(name, target)
    rule = f"Edit({pattern.format(base=str(disk.base)[1:])})"
    policy = disk.policy(rule)
    for place in (disk.home, disk.added, disk.base / "other"):
        assert isinstance(disk.decided(policy, "Edit", place / "notes"), Ask), place


def test_a_rule_that_names_the_place_itself_still_counts(disk: Disk) -> None:
    disk.link("proj/pub", disk.home)
    policy = disk.policy("Edit(/pub/**)", "Edit(~/notes/**)")
    assert isinstance(disk.decided(policy, "Edit", disk.home / "notes/a"), Allow)
    assert isinstance(disk.decided(policy, "Edit", disk.home / "other"), Ask)


def test_links_within_the_project_and_of_the_person_lead_on(disk: Disk) -> None:
    (disk.root / "src").mkdir()
    (disk.base / "data").mkdir()
    disk.link("proj/pub", "src")
    disk.link("home/data", disk.base / "data")
    policy = disk.policy("Edit(/pub/**)", "Edit(~/data/**)")
    assert isinstance(disk.decided(policy, "Edit", "pub/a"), Allow)
    assert isinstance(disk.decided(policy, "Edit", "src/a"), Allow)
    assert isinstance(disk.decided(policy, "Edit", disk.home / "data/a"), Allow)
    assert isinstance(disk.decided(policy, "Edit", disk.base / "data/a"), Allow)


def test_a_denial_follows_every_link(disk: Disk) -> None:
    disk.link("proj/pub", disk.home)
    policy = disk.policy("Edit", deny=("Edit(/pub/**)",))
    assert isinstance(disk.decided(policy, "Edit", disk.home / "notes"), Deny)


def test_a_link_that_is_put_there_later_aims_nothing(disk: Disk) -> None:
    (disk.root / "pub").mkdir()
    policy = disk.policy("Edit(/pub/**)")
    assert isinstance(disk.decided(policy, "Edit", "pub/a"), Allow)
    (disk.root / "pub").rmdir()
    disk.link("proj/pub", disk.home)
    for _ in range(2):
        assert isinstance(disk.decided(policy, "Edit", "pub/a"), Ask)
        assert isinstance(disk.decided(policy, "Edit", disk.home / "a"), Ask)
        policy.touched()


@pytest.mark.parametrize("command", ["touch pub/a", "tee pub/a", "cp x pub/a"])
def test_a_shell_rule_that_names_a_path_is_aimed_nowhere_else(disk: Disk, command: str) -> None:
    rule = f"Bash({command.removesuffix('/a')}*)"
    (disk.root / "pub").mkdir()
    assert isinstance(disk.ran(disk.policy(rule), command), Allow)
    (disk.root / "pub").rmdir()
    disk.link("proj/pub", disk.home)
    assert isinstance(disk.ran(disk.policy(rule), command), Ask)


@pytest.mark.parametrize("below", ["", "sub"])
def test_a_root_reached_by_a_link_counts_in_both_spellings(disk: Disk, below: str) -> None:
    (disk.root / "sub/.git").parent.mkdir()
    (disk.root / ".git").mkdir()
    disk.link("here", "proj")
    spelled = disk.base / "here"
    env = {"HOME": str(disk.home), "PATH": "/usr/bin", "PWD": str(spelled / below)}
    around = survey(LaunchOptions(cwd=str(spelled / below), trust=True), env, interactive=True)
    config = policy_config(around, "default")
    assert config.spelled == (spelled,)
    rules = {"user": RuleTexts(allow=("Edit(/pub/**)",))}
    policy = Policy(replace(config, rules=rules))
    for base in (spelled, disk.root):
        assert isinstance(disk.decided(policy, "Read", base / "a"), Allow)
        assert isinstance(disk.decided(policy, "Edit", base / "pub/a"), Allow)
    disk.link("proj/pub", disk.home)
    policy.touched()
    for place in (spelled / "pub/a", disk.root / "pub/a", disk.home / "a"):
        assert isinstance(disk.decided(policy, "Edit", place), Ask)


def test_a_spelling_that_leads_elsewhere_is_none(disk: Disk) -> None:
    disk.link("here", "home")
    env = {"HOME": str(disk.home), "PATH": "/usr/bin", "PWD": str(disk.base / "here")}
    around = survey(LaunchOptions(cwd=str(disk.root)), env, interactive=True)
    assert policy_config(around, "default").spelled == ()


def test_the_sandbox_opens_nothing_by_a_link_of_the_project(disk: Disk) -> None:
    disk.link("proj/pub", disk.home)
    (given,) = globs("./pub/.e*", str(disk.root), str(disk.home))
    roots = (str(disk.root),)
    assert not any(one.matches(f"{disk.home}/.env") for one in resolved(given, roots))
    assert any(one.matches(f"{disk.home}/.env") for one in resolved(given))


def test_links_are_followed_as_the_disk_does(disk: Disk) -> None:
    disk.link("proj/a", "../home/b")
    disk.link("home/b", disk.added)
    disk.link("proj/loop", "loop")
    found = on_disk(f"{disk.root}/a/../x")
    assert found.real == os.path.realpath(f"{disk.root}/a/../x") == f"{disk.base}/x"
    assert found.links == (f"{disk.root}/a", f"{disk.home}/b")
    table = TableResolver(links={f"{disk.root}/a": "../home/b", f"{disk.home}/b": str(disk.added)})
    assert table.followed(f"{disk.root}/a/../x") == found
    assert on_disk(f"{disk.root}/loop/x").real == f"{disk.root}/loop"


@pytest.mark.parametrize("tool", ["Write", "Read"])
def test_a_question_says_where_a_link_leads(tmp_path: Path, tool: str) -> None:
    disk = Disk(tmp_path)
    (disk.root / "link").symlink_to(disk.base / "home")
    decided = disk.decided(disk.policy(), tool, "link/x.txt")
    assert isinstance(decided, Ask)
    assert decided.reason.text == (
        f"{disk.root}/link/x.txt leads to {disk.home}/x.txt, outside the project."
    )
