"""The table of our home covers what a real session, the screen and the sub-commands leave there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from gatewright.agent.providers.keys.stored_keys import key_store
from gatewright.agent.settings.paths import own_home
from gatewright.agent.transcript.upkeep import repair
from gatewright.tools.system.home import HOME, PROJECT, Model, Row, Shown
from tests.e2e.program import Program
from tests.e2e.stage import say
from tests.permissions.composed import ID, desk


def row_of(path: str, *, session: str, table: tuple[Row, ...] = HOME) -> Row | None:
    """The first row about a relative path; None where the table has none."""
    return next((row for row in table if _pattern(row.path, session).fullmatch(path)), None)


@lru_cache(maxsize=256)
def _pattern(path: str, session: str) -> re.Pattern[str]:
    text = path.replace("{session}", session or "-")
    pieces = re.split(r"(/\*\*|\*)", text)
    kinds = {"/**": "/.+", "*": "[^/]*"}
    return re.compile("".join(kinds.get(piece, re.escape(piece)) for piece in pieces), re.DOTALL)


def call(id: str, tool: str, **input: object) -> str:
    return f"call[{id}]: {tool} {json.dumps(input)}"


def leads_to(path: str, table: tuple[Row, ...]) -> bool:
    """Whether a directory is only the way to what a row is about."""
    depth = path.count("/") + 1
    heads = (row.path.split("/")[:depth] for row in table if "/" in row.path)
    ways = tuple(replace(table[0], path="/".join(head)) for head in heads)
    return row_of(path, session=ID, table=ways) is not None


def uncovered(folder: Path, table: tuple[Row, ...]) -> list[str]:
    """What lies there and no row is about."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        way = path.is_dir() and leads_to(name, table)
        if not way and row_of(name, session=ID, table=table) is None:
            found.append(name)
    return found


async def session(folder: Path) -> None:
    """All that a session keeps: long output, tasks, files and the tree as they were, its plan."""
    project = folder / "project"
    plan = folder / "home" / ".gatewright" / "plans" / f"{ID}.md"
    script = [
        call("long", "Bash", command="seq 1 60000"),
        call("task", "TaskCreate", subject="s", description="d"),
        call("read", "Read", file_path="a.txt"),
        call("edit", "Edit", file_path="a.txt", old_string="one", new_string="two"),
        call("shell", "Bash", command="echo x > made"),
        call("plan", "EnterPlanMode"),
        call("write", "Write", file_path=str(plan), content="a plan"),
        "say: done",
    ]
    async with desk(folder, script, mode="bypassPermissions", trust=False) as opened:
        (folder / "home" / ".bashrc").write_text("alias ll='ls -l'\n", encoding="utf-8")
        (project / "a.txt").write_text("one\n", encoding="utf-8")
        opened.session.submit("work")
        await opened.ended()
        assert plan.read_text(encoding="utf-8") == "a plan"


def front_doors(program: Program) -> None:
    """Sub-commands and front ends, each of which keeps something."""
    key_store(program.env()).put("openai", "sk-not-a-key-at-all-000")
    for words in (
        ("trust", "add"), ("config", "set", "ui.reducedMotion", "true"),
        ("sessions", "search", "work"),
        ("-p", "hello", "--model", "demo", "--debug"),
        ("sandbox", "run", "--", "mkdir", "-p", "sub/.vscode"),
    ):  # fmt: skip
        done = program.run(*words)
        assert not done.returncode, done.stderr
    program.run(
        "--plain", "--model", "demo", input="/bug it broke\n/memory add user be kind\n/exit\n"
    )
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for("demo")
        say(terminal, "hello")
        terminal.wait_for("Everything it does")
        say(terminal, "/exit")
        terminal.wait_exit()


@pytest.fixture
def repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True)


@pytest.mark.usefixtures("repository")
async def test_every_path_has_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    own = tmp_path / "home" / ".gatewright"
    await session(tmp_path)
    front_doors(Program(tmp_path / "home", tmp_path / "project"))
    torn = next(own.glob("projects/*/*.jsonl"))
    with torn.open("a", encoding="utf-8") as file:
        file.write("{torn")
    repair(torn)
    assert uncovered(own, HOME) == []
    assert uncovered(tmp_path / "project" / ".gatewright", PROJECT) == []
    used = {row_of(str(p.relative_to(own)), session=ID) for p in own.rglob("*") if p.is_file()}
    left = {"keys.json", "search.sqlite*", "{session}.md", "shadow/**"}
    assert {row.path for row in HOME if row.path.endswith(tuple(left))} <= {
        row.path for row in used if row is not None
    }, "the walk met too little to say anything"


def test_a_path_without_a_row_is_found(tmp_path: Path) -> None:
    for name in ("state/new.json", "projects/p/x.txt", "novel/thing", "settings.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = uncovered(tmp_path, HOME)
    assert found == ["novel", "novel/thing", "projects/p/x.txt", "state/new.json"]


def test_keys_are_where_the_table_closes(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    home = own_home(env)
    store = key_store(env)
    name = os.path.relpath(vars(store)["_path"], home)
    row = row_of(name, session=ID)
    assert row is not None
    assert row.model is Model.NEVER


def test_nothing_beside_a_closed_path_is_open() -> None:
    """A directory is closed as a whole but for this session's part, and for whole directories that
    are named: new files are closed, too.
    """
    tops: dict[str, list[Row]] = {}
    for row in HOME:
        if "{session}" not in row.path:
            tops.setdefault(row.path.partition("/")[0], []).append(row)
    for rows in tops.values():
        if any(row.model is Model.NEVER for row in rows):
            left = [row for row in rows if row.model is not Model.NEVER]
            assert all(row.path.endswith("/**") for row in left)
            assert {row.sandbox for row in left if row.model is Model.ASKS} <= {Shown.HIDDEN}
            assert all(row.path.count("/") > 1 for row in left), "the directory itself is closed"
        else:
            assert len({row.model for row in rows}) == 1
