"""docs/skills.md: every example works as it stands there, and the tables have every field."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.context.prompt.output_style import BUILT_IN as STYLES
from gatewright.skills.fields import FIELDS
from gatewright.skills.places import BUILT_IN
from tests.e2e.program import Program
from tests.e2e.stage import MODEL, served
from tests.fakes.model_server import ServerThread

PAGE = (Path(__file__).parents[2] / "docs" / "skills.md").read_text(encoding="utf-8")
SKILL, COMMAND, STYLE = re.findall(r"^```markdown\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(SETTINGS,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(START,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINE = re.compile(r"`agent -p \"([^\"]+)\"`")


def keep(program: Program, path: str, text: str) -> Path:
    file = program.home / ".claude" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def told(program: Program, prompt: str, *flags: str) -> dict[str, Any]:
    """What the model is sent first, and what the client is told."""
    with ServerThread("say: Done.\n", repeat=True) as server:
        done = program.run(
            "-p", prompt, "--model", MODEL, "--output-format", "stream-json", *flags,
            env=served(server),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    body: dict[str, Any] = server.bodies[0]
    return {**body, "init": json.loads(done.stdout.splitlines()[0])}


@pytest.mark.e2e
def test_one_minute(program: Program) -> None:
    done = program.shell(START)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "release-notes" in done.stdout
    assert (program.project / ".gatewright/skills/release-notes/SKILL.md").exists()


@pytest.mark.e2e
def test_the_skill_can_be_used_as_it_is(program: Program) -> None:
    keep(program, "skills/fix-issue/SKILL.md", SKILL)
    keep(program, "skills/fix-issue/references/testing.md", "Run the tests.\n")
    folder = program.home / ".claude/skills/fix-issue"
    found = program.run("skills", "validate", "--strict", str(folder))
    assert found.returncode == 0, found.stdout
    program.shell("git init -q; git -c user.name=a -c user.email=b commit -q --allow-empty -m Old")
    body = told(program, "/fix-issue 42")
    said = json.dumps(body["messages"])
    assert "Repair issue 42." in said and " Old" in said
    assert f"{folder}/references/testing.md" in said and "$" not in said.split("Repair issue")[1]
    assert "Repairs an issue of the tracker" in json.dumps(body["system"])


@pytest.mark.e2e
def test_the_command_in_print_mode(program: Program) -> None:
    keep(program, "commands/explain.md", COMMAND)
    (line,) = LINE.findall(PAGE)
    body = told(program, line)
    assert "Explain notes.txt to somebody" in json.dumps(body["messages"])
    assert "explain" in body["init"]["slash_commands"]


@pytest.mark.e2e
def test_the_settings_count(program: Program) -> None:
    keep(program, "skills/fix-issue/SKILL.md", SKILL)
    values = {"smallModel": "demo", **json.loads(SETTINGS)}
    path = program.home / ".gatewright/settings.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    system = json.dumps(told(program, "hi")["system"])
    assert "- fix-issue\\n" in system and "Repairs an issue" not in system
    assert "- tdd" not in system and "- git-workflow" not in system
    assert "XX" not in program.run("doctor").stdout.split("Settings")[-1].split("\n")[0]


@pytest.mark.e2e
def test_the_style_is_one(program: Program) -> None:
    keep(program, "output-styles/dry.md", STYLE)
    body = told(program, "hi", "--settings", '{"outputStyle": "dry"}')
    system = json.dumps(body["system"])
    assert "# Style: dry" in system and "# How to work" in system
    assert body["init"]["output_style"] == "dry"


def test_every_field_style_and_skill_is_on_the_page() -> None:
    table = PAGE[PAGE.index("| Field | |") : PAGE.index("### In the text")]
    assert set(re.findall(r"`([\w-]+)`", table)) >= set(FIELDS)
    for name in (*STYLES, *(path.name for path in BUILT_IN.iterdir() if path.is_dir())):
        assert f"`{name}`" in PAGE, name
