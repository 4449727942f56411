"""docs/agents.md: every example runs, and the table has every field."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gatewright.agent.agents.definitions.builtin import NAMES
from gatewright.agent.agents.definitions.fields import KNOWN
from gatewright.agent.agents.definitions.given import of_flag
from tests.e2e.program import Program

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
DEFINITIONS = re.findall(r"^```markdown\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OBJECTS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
START, AS_AGENT = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def name_of(text: str) -> str:
    found = re.search(r"^name: (\S+)$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def define(program: Program) -> None:
    folder = program.home / ".claude" / "agents"
    folder.mkdir(parents=True)
    for text in DEFINITIONS:
        (folder / f"{name_of(text)}.md").write_text(text, encoding="utf-8")


@pytest.mark.e2e
def test_one_minute(program: Program) -> None:
    done = program.shell(START)
    assert done.returncode == 0, done.stderr
    assert "test-runner  project" in done.stdout
    assert "Usable: 5 " in done.stdout
    assert (program.project / ".gatewright/agents/test-runner.md").exists()


@pytest.mark.e2e
def test_definitions_can_be_used_as_they_are(program: Program) -> None:
    define(program)
    found = program.run("agents", "validate")
    assert found.returncode == 0, found.stdout
    assert "!!" not in found.stdout
    for text in DEFINITIONS:
        assert name_of(text) in found.stdout
    shown = program.run("agents", "show", "lead").stdout
    assert "MCP servers of its own: tickets" in shown


@pytest.mark.e2e
def test_a_session_that_is_an_agent(program: Program) -> None:
    define(program)
    done = program.shell(AS_AGENT)
    assert (done.returncode, done.stderr) == (0, "")


def test_types_of_the_command_line(tmp_path: Path) -> None:
    (found,) = of_flag(OBJECTS[0], tmp_path)
    assert found.kind is not None
    assert found.kind.tools == ()
    assert (found.problems, found.notes) == ((), ())


@pytest.mark.e2e
def test_settings(program: Program) -> None:
    path = program.home / ".gatewright" / "settings.json"
    path.write_text(OBJECTS[1], encoding="utf-8")
    rows = json.loads(program.run("agents", "list", "--json").stdout)
    states = {row["name"]: row["state"] for row in rows}
    assert states == {
        "Explore": "offered", "Plan": "off", "general-purpose": "offered", "verification": "off",
    }  # fmt: skip
    assert "XX" not in program.run("doctor").stdout.split("Settings")[-1].split("\n")[0]


def test_every_field_and_type_is_on_the_page() -> None:
    table = PAGE[PAGE.index("| Field | |") : PAGE.index("### Where they are")]
    assert set(re.findall(r"`(\w+)`", table)) >= set(KNOWN)
    for name in NAMES:
        assert f"| `{name}` |" in PAGE
