"""Every table of the shell analysis agrees with its examples."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, get_args

import pytest

from gatewright.agent.subcommands.names import SUBCOMMANDS
from gatewright.permissions.paths import tier_of
from gatewright.permissions.rulebook import runners
from gatewright.permissions.shell import own_cli
from gatewright.permissions.shell.files.operands import touched
from gatewright.permissions.shell.rules import arity
from gatewright.permissions.shell.safe import safe_formats
from gatewright.permissions.shell.safe.safe_git import FILE as GIT_FILE
from gatewright.permissions.shell.safe.safe_git import GIT
from gatewright.permissions.shell.safe.safe_table import FILE as SAFE_FILE
from gatewright.permissions.shell.safe.safe_table import SAFE, Operands
from gatewright.permissions.shell.table_data import read
from gatewright.permissions.shell.wrappers import opened
from tests.permissions.shell_world import START, level, parts_of, safe, shell_call
from tests.permissions.tables import TABLES, judge_shell

EXAMPLES: Mapping[str, Any] = tomllib.loads((TABLES / "shell_tables.toml").read_text("utf-8"))
ROWS: list[Mapping[str, Any]] = [
    *read(SAFE_FILE).values(),
    *read(GIT_FILE)["rows"].values(),
    *EXAMPLES["special"].values(),
]
YES = {example for row in ROWS for example in row.get("yes", ())}
NO = {example for row in ROWS for example in row.get("no", ())}
LEVELS = [
    (command, level)
    for table in ("danger", "own_cli")
    for level, commands in EXAMPLES[table].items()
    for command in commands
]
# Sub-commands that leave the person's set-up alone.
# `acp` is the agent itself: what it is given is judged as for `agent`.
HARMLESS = frozenset(
    {
        "acp",
        "ps",
        "logs",
        "doctor",
        "sessions",
        "models",
        "schema",
        "sandbox",
        "completion",
        "debug",
        "hooks",
        "lsp",
    }
)


def test_rows_say_what_is_known() -> None:
    assert {row.operands for row in SAFE.values()} <= set(get_args(Operands))
    assert {row.globs for row in SAFE.values()} <= {"any", "tail", "none"}
    assert {row.operands for row in GIT.values()} <= {"any", "none", "listing", "one"}
    assert all(isinstance(row.most, int) and isinstance(row.digits, bool) for row in SAFE.values())


@pytest.mark.parametrize("command", sorted(YES))
def test_safe_examples_are_safe(command: str) -> None:
    assert safe(command)


@pytest.mark.parametrize("command", sorted(NO))
def test_counter_examples_are_not(command: str) -> None:
    assert not safe(command)


@pytest.mark.parametrize(("command", "expected"), LEVELS)
def test_danger_levels(command: str, expected: str) -> None:
    assert level(command) == expected


def test_a_yes_is_one_to_every_danger_that_is_named() -> None:
    call = shell_call("rm -rf build/ assets/ && git push --force origin main")
    assert "It deletes files for good. (rm -rf build/ assets/)" in call.danger()
    assert "git push overwrites or removes what is on the server." in call.danger()
    call = shell_call("rm -rf build && rm -rf / && dd if=a of=b")
    whole = "It would delete the whole file system. (rm -rf /)"
    assert call.floor() == f"{whole} It deletes files for good. (rm -rf build)"
    many = shell_call(" && ".join(f"rm -r f{n}" for n in range(9)))
    said = "It deletes files for good. (rm -r f0; rm -r f1; rm -r f2) And 6 more such parts."
    assert many.danger() == said
    hidden = shell_call("rm -r a; rm -r b; rm -r c; rm -r d; git push --force; git reset --hard")
    assert hidden.danger() == (
        "It deletes files for good. (rm -r a) git push overwrites or removes what is on the server."
        " (git push --force) git reset resets the work tree. (git reset --hard) "
        "And 3 more such parts."
    )
    one = shell_call("rm -rf / ~").floor()
    assert "the whole file system" in one
    assert "the home directory" in one
    assert one.count("(rm -rf / /home/u)") == 1


def test_every_sub_command_of_ours_is_judged() -> None:
    assert set(SUBCOMMANDS) <= set(own_cli.CHANGING) | HARMLESS


@pytest.mark.parametrize("mode", ["default", "bypassPermissions", "acceptEdits"])
def test_no_rule_and_no_mode_lets_a_command_change_our_rules(mode: str) -> None:
    context = {"mode": mode, "rules": {"user": {"allow": ["Bash", "Bash(agent:*)"]}}}
    found = judge_shell({"id": 1, "command": "agent trust add", "context": context})
    assert (found["behavior"], found["stage"], found["always"]) == ("ask", "floor", False)


@pytest.mark.parametrize(("command", "inner"), EXAMPLES["wrappers"] + EXAMPLES["command_options"])
def test_wrappers_are_opened(command: str, inner: str) -> None:
    assert inner in {" ".join(part.texts) for part in opened(parts_of(command), START)}


@pytest.mark.parametrize(("command", "kind", "expected"), EXAMPLES["operands"])
def test_operands(command: str, kind: str, expected: list[str]) -> None:
    found = touched(parts_of(command)[0])
    chosen = found.reads if kind == "read" else found.writes
    assert {operand.arg.text for operand in chosen} == set(expected)


@pytest.mark.parametrize(("command", "expected"), EXAMPLES["arity"])
def test_arity(command: str, expected: str) -> None:
    assert arity.stable_prefix(parts_of(command)[0].texts) == tuple(expected.split())


@pytest.mark.parametrize(("path", "expected"), EXAMPLES["tiers"])
def test_protected_paths(path: str, expected: str) -> None:
    assert tier_of(path, "/home/u", ("/w/proj",)) == expected


@pytest.mark.parametrize(("mark", "text", "expected"), EXAMPLES["formats"])
def test_formats_that_only_print(mark: str, text: str, expected: bool) -> None:
    assert safe_formats.harmless_format(mark, text) is expected


def test_runners() -> None:
    assert all(map(runners.is_runner, EXAMPLES["runners"]["yes"]))
    assert not any(map(runners.is_runner, EXAMPLES["runners"]["no"]))
