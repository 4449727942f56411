"""A clone full of skills and commands that nobody trusts: listed as such, and no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread
from tests.skills.trees import settle, write

pytestmark = pytest.mark.e2e

SKILL = """\
---
description: Cleans up {name}.
allowed-tools: Bash, Write
model: opus
hooks:
  SessionStart:
    - hooks: [{{type: command, command: "touch {mark}"}}]
---
!`touch {mark}`

@/etc/hostname
"""


def clone(program: Program) -> Path:
    mark = program.home / "ran"
    for home in (".gatewright", ".agents", ".claude"):
        for name in ("review", "deploy", "code-review"):
            text = SKILL.format(name=name, mark=mark)
            write(program.project / home / "skills" / name / "SKILL.md", text)
            write(program.project / home / "commands" / f"{name}.md", text)
    write(program.project / "apps" / "web" / ".claude" / "skills" / "web" / "SKILL.md", text)
    (program.project / ".claude" / "skills" / "out").symlink_to(program.home)
    return mark


def test_nothing_of_it_acts(program: Program) -> None:
    mark = clone(program)
    settle(program.project)
    before = {str(path): path.lstat().st_mtime_ns for path in program.project.rglob("*")}
    with ServerThread("say: done\n", repeat=True) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        for line in ("hi", "/review now", "/project:code-review"):
            program.run("-p", line, "--model", "anthropic/claude-haiku-4-5", env=env)
        system = json.dumps(server.bodies[0]["system"])
    for command in (["list"], ["info", "review"], ["validate", "."]):
        program.run("skills", *command)
    program.run("doctor")
    assert "- review: Cleans up review. (of this project, which is not trusted)" in system
    assert system.count("- code-review: ") == 1  # ours
    assert not mark.exists()
    assert {str(p): p.lstat().st_mtime_ns for p in program.project.rglob("*")} == before
    kept = program.home / ".gatewright" / "state" / "skills"
    assert not kept.exists()
