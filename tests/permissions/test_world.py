"""The machine behind decisions: real links and repositories, and answers that need waiting."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.gate import Gate
from gatewright.permissions.machine.table_resolver import TableResolver
from gatewright.permissions.machine.world import DiskResolver, git_dirty
from gatewright.permissions.paths import Place
from gatewright.permissions.policy import Policy, PolicyConfig
from gatewright.permissions.request import GatePorts, Passed, Request
from gatewright.permissions.rulebook.rules import RuleTexts
from gatewright.tools.access import Access, ShellText, Where
from gatewright.tools.calls import Facts, Prepared
from gatewright.tools.interact import Answer, Ask
from gatewright.tools.protocol import ToolCall
from gatewright.tools.system.git import Caller
from tests.fakes.waiting import eventually


def place(root: Path) -> Place:
    return Place(str(root), str(root), str(root.parent), str(root))


class Person:
    def __init__(self, *choices: str) -> None:
        self.choices = list(choices)
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask) -> Answer:
        self.asked.append(ask)
        await asyncio.sleep(0)
        return Answer((self.choices.pop(0) if self.choices else "no",))


class Door:
    """A gate on a real directory, with addresses and git states from a table."""

    def __init__(self, root: Path, person: Person, **config: Any) -> None:
        self.root = root
        self.person = person
        self.records: list[DecisionRecord] = []
        self.hosts: dict[str, tuple[str, ...]] = {}
        self.kept: list[str] = []
        config.setdefault("trusted", True)
        self.policy = Policy(PolicyConfig(root=root, cwd=root, home=root.parent, **config))
        ports = GatePorts(
            record=self.records.append, lookup=self._lookup, persist=self._keep, place="a file"
        )
        self.gate = Gate(self.policy, ports)

    async def _lookup(self, host: str) -> tuple[str, ...]:
        await asyncio.sleep(0)
        return self.hosts.get(host, ("93.184.216.34",))

    async def _keep(self, rules: tuple[str, ...], place: str) -> None:
        del place
        self.kept.extend(rules)

    async def bash(self, command: str, identity: str = "c") -> object:
        access = Access(runs=ShellText(command, self.root))
        facts = Facts(access=access, verb="Run", target=command)
        call = ToolCall(identity, "Bash", {"command": command})
        return await self._authorize(call, facts)

    async def fetch(self, url: str) -> object:
        facts = Facts(access=Access(urls=(url,)), verb="Fetch", target=url)
        return await self._authorize(ToolCall("c", "WebFetch", {"url": url}), facts)

    async def _authorize(self, call: ToolCall, facts: Facts) -> object:
        where = Where(self.root, self.root, self.root.parent)
        prepared = Prepared(call=call, facts=facts)
        return await self.gate.authorize(Request(prepared, where, self.person))


def test_the_table_follows_links_as_the_disk_does(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "a/b").mkdir(parents=True)
    (root / "l").symlink_to("a/b")
    (root / "m").symlink_to(root / "l")
    links = {f"{root}/l": "a/b", f"{root}/m": f"{root}/l"}
    disk, table = DiskResolver(place(root)), TableResolver(links=links)
    for text in (
        "l/..",
        "m/../x",
        "m/x",
        "./l/./y",
        "l/../../z",
        "a/../l",
        "m/../../l/x",
        "none/..",
    ):
        assert table.real(f"{root}/{text}") == disk.real(f"{root}/{text}"), text


def test_globs_expand_to_what_is_there_and_not_to_hidden_files(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", ".c.py"):
        (tmp_path / name).touch()
    disk = DiskResolver(place(tmp_path))
    found = disk.expand(f"{tmp_path}/*.py") or ()
    assert sorted(Path(one).name for one in found) == ["a.py", "b.py"]


def test_nested_and_bare_repositories_are_seen(tmp_path: Path) -> None:
    (tmp_path / "sub/.git").mkdir(parents=True)
    (tmp_path / "bare/objects").mkdir(parents=True)
    (tmp_path / "bare/refs").mkdir()
    (tmp_path / "bare/HEAD").touch()
    (tmp_path / "plain").mkdir()
    disk, root = DiskResolver(place(tmp_path)), str(tmp_path)
    seen = {
        name: disk.nested_repository(f"{root}/{name}", root) for name in ("sub", "bare", "plain")
    }
    assert seen == {"sub": True, "bare": True, "plain": False}


def run(*argv: str, cwd: Path | None = None) -> str:
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("file", ["config", "config.worktree", "included"])
async def test_a_repository_with_programs_of_its_own_counts_as_dirty(
    tmp_path: Path, file: str
) -> None:
    run("git", "init", "-q", str(tmp_path))
    (tmp_path / "a").write_text("a", encoding="utf-8")
    run("git", "add", "a", cwd=tmp_path)
    mark, git = tmp_path / ".git" / "ran", tmp_path / ".git"
    for name, value in (("extensions.worktreeConfig", "true"), ("include.path", "included")):
        run("git", "config", name, value, cwd=tmp_path)
    (tmp_path / ".gitattributes").write_text("* filter=x\n", encoding="utf-8")
    with (git / file).open("a", encoding="utf-8") as config:
        config.write(f'[filter "x"]\n\tclean = touch {mark}\n')
    (tmp_path / "a").write_text("B", encoding="utf-8")
    assert await git_dirty(str(tmp_path))
    assert not mark.exists()


async def test_a_dirty_tree_is_noticed_without_running_its_configuration(tmp_path: Path) -> None:
    run("git", "init", "-q", str(tmp_path))
    assert not await git_dirty(str(tmp_path))
    marker = tmp_path / "ran"
    run("git", "-C", str(tmp_path), "config", "core.fsmonitor", f"touch {marker}")
    (tmp_path / "new").touch()
    assert await git_dirty(str(tmp_path))
    assert not marker.exists()


async def test_a_question_nobody_waits_for_any_more_leaves_no_git(tmp_path: Path) -> None:
    run("git", "init", "-q", str(tmp_path))
    program = tmp_path.parent / f"{tmp_path.name}-bin" / "git"
    program.parent.mkdir()
    script = "echo $$ > asked.new; mv asked.new asked; exec sleep 60"
    program.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    caller = Caller({"PATH": str(program.parent)})
    asking = asyncio.create_task(git_dirty(str(tmp_path), caller))
    await eventually((tmp_path / "asked").exists)
    asking.cancel()
    await asyncio.wait([asking])
    pid = int((tmp_path / "asked").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_git_in_a_nested_repository_asks(tmp_path: Path) -> None:
    (tmp_path / "sub/.git").mkdir(parents=True)
    door = Door(tmp_path, Person())
    assert isinstance(await door.bash("git status"), Passed)
    assert not isinstance(await door.bash("cd sub && git status"), Passed)
    assert len(door.person.asked) == 1


async def test_a_link_behind_a_glob_asks(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").touch()
    door = Door(root, Person())
    assert isinstance(await door.bash("cat *"), Passed)
    (root / "notes").symlink_to(tmp_path / "outside")
    assert not isinstance(await door.bash("cat *"), Passed)


async def test_names_are_looked_up_before_an_address_is_judged(tmp_path: Path) -> None:
    rules = {"user": RuleTexts(allow=("WebFetch(domain:a.example)",))}
    door = Door(tmp_path, Person(), rules=rules)
    assert isinstance(await door.fetch("https://a.example/"), Passed)
    door.hosts["a.example"] = ("127.0.0.1",)
    assert not isinstance(await door.fetch("https://a.example/"), Passed)
    assert door.person.asked == []


async def test_queued_questions_are_settled_by_an_always(tmp_path: Path) -> None:
    door = Door(tmp_path, Person("always"))
    outcomes = await asyncio.gather(*(door.bash("pytest -q", f"c{n}") for n in range(3)))
    assert all(isinstance(one, Passed) for one in outcomes)
    assert len(door.person.asked) == 1
    assert door.kept == ["Bash(pytest:*)"]
    assert "Bash(pytest:*) (kept in a file)" in door.person.asked[0].options[1].label


async def test_searches_nobody_looked_at_leave_restricted_files_out(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=secret\n", encoding="utf-8")
    (tmp_path / "a").write_text("KEY=public\n", encoding="utf-8")
    door = Door(tmp_path, Person())
    passed = await door.bash("grep -rh KEY .")
    assert isinstance(passed, Passed)
    ran = run("bash", "-c", passed.call.input["command"], cwd=tmp_path)
    assert ran == "KEY=public\n"


async def test_the_same_denial_three_times_says_so(tmp_path: Path) -> None:
    door = Door(tmp_path, Person(), interactive=False)
    texts = [str(await door.bash("npm ci")) for _ in range(3)]
    assert "several times" not in texts[1]
    assert "several times" in texts[2]


@pytest.mark.parametrize("text", ["Bash(npm ci:*)"])
async def test_a_denial_names_the_rule_that_would_help(tmp_path: Path, text: str) -> None:
    door = Door(tmp_path, Person(), interactive=False)
    assert text in str(await door.bash("npm ci"))
