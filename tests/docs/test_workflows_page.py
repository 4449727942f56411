"""docs/workflows.md: every script is right, every command runs, and the tables have every name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gatewright.agent.workflows.script.check import check
from tests.e2e.program import Program

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "workflows.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```js\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(COMMANDS,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((DOCS / "examples" / "workflows").glob("*.js"))
OPTIONS = (
    "label", "phase", "schema", "model", "effort", "agentType", "tools", "disallowedTools",
    "maxTurns", "isolation", "mode", "timeoutMinutes", "retries", "onError", "detail", "fresh",
)  # fmt: skip
GLOBALS = (
    "agent", "parallel", "pipeline", "phase", "log", "args", "workflow", "budget", "meta",
)  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_right(script: str) -> None:
    assert not check(script).warnings


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_right_and_named(path: Path) -> None:
    checked = check(path.read_text(encoding="utf-8"))
    assert checked.meta.name == path.stem and not checked.warnings
    assert f"(examples/workflows/{path.name})" in PAGE


def test_every_option_and_global_is_named() -> None:
    for name in (*OPTIONS, *GLOBALS):
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE), name


@pytest.mark.e2e
def test_commands_run(program: Program) -> None:
    folder = program.project / "docs" / "examples" / "workflows"
    folder.mkdir(parents=True)
    for path in EXAMPLES:
        (folder / path.name).write_bytes(path.read_bytes())
    done = program.shell(COMMANDS)
    assert done.returncode == 0, done.stderr
    assert "deep-research  builtin" in done.stdout
    assert "Right: 5 of 5 (" in done.stdout
    assert "export const meta" in done.stdout
