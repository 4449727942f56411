"""Every table of the shell analysis agrees with its own examples."""

from __future__ import annotations

import pytest

from gatewright.agent.subcommands.names import SUBCOMMANDS
from gatewright.permissions.paths import TIER_EXAMPLES, tier_of
from gatewright.permissions.rulebook import runners
from gatewright.permissions.shell import command_options, own_cli, wrappers
from gatewright.permissions.shell.danger import danger_table
from gatewright.permissions.shell.files import operand_table
from gatewright.permissions.shell.files.operands import touched
from gatewright.permissions.shell.rules import arity
from gatewright.permissions.shell.safe import readonly, safe_formats
from gatewright.permissions.shell.safe.safe_git_table import GIT
from gatewright.permissions.shell.safe.safe_table import FIND_NO, FIND_YES, SAFE
from gatewright.permissions.shell.wrappers import opened
from tests.permissions.shell_world import START, level, parts_of, safe
from tests.permissions.tables import judge_shell

ROWS = [(row.yes, row.no) for row in SAFE.values()] + [(row.yes, row.no) for row in GIT.values()]
YES = [example for yes, _ in ROWS for example in yes]
NO = [example for _, no in ROWS for example in no]
SPECIAL_YES = [text for text, expected in readonly.SPECIAL_EXAMPLES if expected]
SPECIAL_NO = [text for text, expected in readonly.SPECIAL_EXAMPLES if not expected]


@pytest.mark.parametrize("command", sorted({*YES, *SPECIAL_YES, *FIND_YES}))
def test_safe_examples_are_safe(command: str) -> None:
    assert safe(command)


@pytest.mark.parametrize("command", sorted({*NO, *SPECIAL_NO, *FIND_NO}))
def test_counter_examples_are_not(command: str) -> None:
    assert not safe(command)


@pytest.mark.parametrize(("command", "expected"), (*danger_table.EXAMPLES, *own_cli.EXAMPLES))
def test_danger_levels(command: str, expected: str) -> None:
    assert level(command) == expected


def test_every_sub_command_of_ours_is_judged() -> None:
    assert set(SUBCOMMANDS) <= set(own_cli.CHANGING) | own_cli.HARMLESS


@pytest.mark.parametrize("mode", ["default", "bypassPermissions", "acceptEdits"])
def test_no_rule_and_no_mode_lets_a_command_change_our_rules(mode: str) -> None:
    context = {"mode": mode, "rules": {"user": {"allow": ["Bash", "Bash(agent:*)"]}}}
    found = judge_shell({"id": 1, "command": "agent trust add", "context": context})
    assert (found["behavior"], found["stage"], found["always"]) == ("ask", "floor", False)


@pytest.mark.parametrize(("command", "inner"), (*wrappers.EXAMPLES, *command_options.EXAMPLES))
def test_wrappers_are_opened(command: str, inner: str) -> None:
    assert inner in {" ".join(part.texts) for part in opened(parts_of(command), START)}


@pytest.mark.parametrize(("command", "kind", "expected"), operand_table.EXAMPLES)
def test_operands(command: str, kind: str, expected: tuple[str, ...]) -> None:
    found = touched(parts_of(command)[0])
    chosen = found.reads if kind == "read" else found.writes
    assert {operand.arg.text for operand in chosen} == set(expected)


@pytest.mark.parametrize(("command", "expected"), arity.EXAMPLES)
def test_arity(command: str, expected: str) -> None:
    assert arity.stable_prefix(parts_of(command)[0].texts) == tuple(expected.split())


@pytest.mark.parametrize(("path", "expected"), TIER_EXAMPLES.items())
def test_protected_paths(path: str, expected: str) -> None:
    assert tier_of(path, "/home/u", ("/w/proj",)) == expected


@pytest.mark.parametrize(("mark", "text", "expected"), safe_formats.EXAMPLES)
def test_formats_that_only_print(mark: str, text: str, expected: bool) -> None:
    assert safe_formats.harmless_format(mark, text) is expected


def test_runners() -> None:
    assert all(map(runners.is_runner, runners.EXAMPLES_YES))
    assert not any(map(runners.is_runner, runners.EXAMPLES_NO))
