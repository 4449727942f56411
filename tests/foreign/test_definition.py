"""What a definition may say of another program, whose it may be, and what is told of wrong ones."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from gatewright.agent.agents.definitions.found import Found, Standing
from gatewright.agent.agents.definitions.given import of_entries
from gatewright.agent.agents.definitions.programs import KEYS, read_program
from gatewright.agent.agents.definitions.reading import read_file
from gatewright.agent.agents.kind import Origin, Program
from gatewright.agent.errors import SessionError
from gatewright.agent.foreign.program_found import given, lacks, program_of
from gatewright.agent.subcommands.questions.agents_here import AgentsHere, checked


def read(folder: Path, acp: str, origin: Origin = "user", plugin: str = "") -> Found:
    file = folder / "other.md"
    text = f"---\nname: other\ndescription: d\nacp: {acp}\n---\nYou work.\n"
    file.write_text(text, encoding="utf-8")
    found = read_file(file, Standing(origin, plugin=plugin))
    assert found is not None
    return found


@pytest.mark.parametrize("origin", ["user", "managed"])
def test_the_person_and_the_administrator_may_name_one(tmp_path: Path, origin: Origin) -> None:
    acp = (
        "{command: other, args: [--acp, -v], env: {KEY: '${MY_KEY}', N: 1}, "
        "network: [api.example.com, '*.example.org'], write: ~/.other}"
    )
    kind = read(tmp_path, acp, origin).kind
    assert kind is not None
    assert kind.acp == Program(
        command="other",
        args=("--acp", "-v"),
        env={"KEY": "${MY_KEY}", "N": "1"},
        network=("api.example.com", "*.example.org"),
        write=("~/.other",),
    )


@pytest.mark.parametrize(("origin", "plugin"), [("project", ""), ("plugin", "p"), ("flag", "")])
def test_nobody_else_may(tmp_path: Path, origin: Origin, plugin: str) -> None:
    found = read(tmp_path, "{command: other}", origin, plugin)
    assert found.kind is None
    (problem,) = found.problems
    assert f"{tmp_path / 'other.md'}:4: acp starts a program" in problem
    assert "~/.gatewright/agents" in problem


def test_nor_a_client() -> None:
    (found,) = of_entries({"x": {"prompt": "p", "description": "d", "acp": {"command": "sh"}}})
    assert found.kind is None and "acp starts a program" in found.problems[0]


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ("sh", "is no table"),
        ({}, "has no command"),
        ({"command": " "}, "has no command"),
        ({"command": ["sh"]}, "has no command"),
        ({"command": "sh", "arguments": []}, "has no key 'arguments'"),
        ({"command": "sh", "args": [1]}, "args is no list of texts"),
        ({"command": "sh", "args": ["a\0b"]}, "args is no list of texts"),
        ({"command": "sh", "env": []}, ""),
        ({"command": "sh", "env": {"A B": "x"}}, "'A B' is no name with a text"),
        ({"command": "sh", "env": {"A": ["x"]}}, "'A' is no name with a text"),
        ({"command": "sh", "network": ["https://x.example"]}, "network: 'https://x.example'"),
        ({"command": "sh", "network": ["*"]}, "network: '*'"),
    ],
)
def test_what_is_wrong_is_said(value: object, wrong: str) -> None:
    if not wrong:
        assert read_program(value)
        return
    with pytest.raises(ValueError, match=r"^\S") as caught:
        read_program(value)
    assert wrong in str(caught.value)


def test_a_wrong_one_makes_the_definition_unusable(tmp_path: Path) -> None:
    found = read(tmp_path, "{comand: sh}")
    assert found.kind is None and "acp has no key 'comand'" in found.problems[0]


def test_a_program_is_found_by_path_and_never_in_the_project(tmp_path: Path) -> None:
    project, bins = tmp_path / "project", tmp_path / "bin"
    for folder in (project, bins):
        folder.mkdir()
        (folder / "other").write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / "other").chmod(0o755)
    env = {"PATH": f"{project}:{bins}", "HOME": str(tmp_path)}
    assert program_of(Program(command="other"), env, (project,)) == str(bins / "other")
    assert program_of(Program(command=sys.executable), env, ()) == sys.executable
    for command in ("./other", "bin/other", "~/nothing", "nothing", str(bins)):
        assert program_of(Program(command=command), env, (project,)) == ""
    assert "nothing is not found in PATH" in lacks(Program(command="nothing"), env, ())
    assert "is no program at a whole path" in lacks(Program(command="./other"), env, ())


def test_its_variables_come_from_ours_by_name() -> None:
    program = Program(command="x", env={"A": "${KEY}", "B": "plain", "C": "a ${KEY} b"})
    assert given(program, {"KEY": "k"}) == {"A": "k", "B": "plain", "C": "a k b"}
    with pytest.raises(SessionError, match="A needs the variable KEY"):
        given(program, {})


def test_validate_says_that_a_program_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    folder = home / ".gatewright" / "agents"
    folder.mkdir(parents=True)
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    read(folder, "{command: not-a-program-of-anybody}")
    for found in (AgentsHere().checked(), checked(folder)):
        (problem,) = found.problems
        assert problem == (
            f"{folder / 'other.md'}: acp: its program not-a-program-of-anybody is not found in "
            "PATH: install it, or name its path."
        )
    read(folder, f"{{command: {sys.executable}}}")
    for found in (AgentsHere().checked(), checked(folder)):
        assert not found.problems and "other" in found.names


def test_the_example_of_the_page_is_a_definition(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```md\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    file = tmp_path / "opencode.md"
    file.write_text(text, encoding="utf-8")
    found = read_file(file, Standing("user"))
    assert found is not None and found.kind is not None and found.kind.acp is not None
    assert (found.problems, found.notes) == ((), ())
    assert found.kind.acp.args == ("acp",) and found.kind.isolation == "worktree"
    assert found.kind.acp.env == {"OPENAI_API_KEY": "${OPENAI_API_KEY}"}
    for key in KEYS:
        assert f"`{key}`" in page
