"""docs/hooks.md: every example runs, and no event is missing."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from gatewright.agent.hooks.events import EVENTS
from tests.e2e.program import Program

PAGE = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text(encoding="utf-8")
SETTINGS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(SHELL,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.e2e


@pytest.fixture
def repository(program: Program) -> Program:
    subprocess.run(["git", "init", "-q"], cwd=program.project, check=True, capture_output=True)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    commit = ["git", *identity, "commit", "-q", "--allow-empty", "-m", "first"]
    subprocess.run(commit, cwd=program.project, check=True, capture_output=True)
    return program


def test_from_nothing_to_a_working_hook(repository: Program) -> None:
    done = repository.shell(SHELL)
    assert done.returncode == 0, done.stderr
    assert "Effect: Refused." in done.stdout
    assert "Pushing is left to me." in done.stdout


@pytest.mark.parametrize("text", SETTINGS, ids=range(len(SETTINGS)))
def test_an_example(repository: Program, text: str) -> None:
    (repository.home / ".claude").mkdir()
    (repository.home / ".claude" / "settings.json").write_text(text, encoding="utf-8")
    checked = repository.run("hooks", "check")
    assert checked.returncode == 0, checked.stdout
    (repository.project / "a.sh").write_text("if true; then\n", encoding="utf-8")
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(repository.project / "a.sh")}}
    for event in json.loads(text)["hooks"]:
        given = ("--input", "-") if "Edit" in text else ()
        trial = repository.run("hooks", "test", event, *given, input=json.dumps(edit))
        if any(f'"type": "{kind}"' in text for kind in ("prompt", "agent", "mcp_tool")):
            assert "a session does" in trial.stdout
            continue
        assert trial.returncode == 0, trial.stderr
        assert "failed" not in trial.stdout
        assert "+ " in trial.stdout
        if "Edit" in text:
            assert "blocks: " in trial.stdout, "the script is broken"


def test_every_event_is_named() -> None:
    named = PAGE[PAGE.index("## All events") :]
    assert set(re.findall(r"`([A-Z]\w+)`", named)) == set(EVENTS)
