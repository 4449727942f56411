"""Every example of the documentation runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.e2e


def examples(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = [code for kind, code in FENCE.findall(text) if kind == language]
    assert found, f"{page} has no examples"
    return found


def commit(project: Path, message: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    for arguments in (["add", "-A"], [*identity, "commit", "-qm", message]):
        subprocess.run(["git", *arguments], cwd=project, check=True, capture_output=True)


@pytest.fixture
def repository(program: Program) -> Program:
    subprocess.run(["git", "init", "-q"], cwd=program.project, check=True, capture_output=True)
    commit(program.project, "first")
    return program


@pytest.mark.parametrize("code", examples("headless.md", "sh"), ids=lambda code: code[:40])
def test_headless(repository: Program, code: str) -> None:
    done = repository.shell(code, GATEWRIGHT_MODEL="demo")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", examples("embedding.md", "python"), ids=range(5))
def test_embedding(repository: Program, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=repository.project,
        env=repository.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout or "Write" in code
    if "hello.txt" in code:
        assert (repository.project / "hello.txt").exists()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ('{"findings": []}', 0),
        ('{"findings": [{"file": "a", "line": 1, "severity": "note", "what": "x"}]}', 0),
        ('{"findings": [{"file": "a", "line": 1, "severity": "serious", "what": "x"}]}', 1),
    ],
)
def test_the_review_of_a_branch(repository: Program, answer: str, code: int) -> None:
    (repository.project / "notes.txt").write_text("changed\n", encoding="utf-8")
    commit(repository.project, "second")
    with ServerThread(f"say: {answer}\n") as server:
        env = repository.env(ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=server.url)
        done = subprocess.run(
            [DOCS / "examples" / "review.sh", "HEAD~1"],
            cwd=repository.project,
            env=env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=50,
            check=False,
        )
        sent = json.dumps(server.bodies[0]["messages"])
    assert (done.returncode, done.stderr) == (code, "")
    assert json.loads(done.stdout) == json.loads(answer)
    assert "+changed" in sent


def test_a_review_that_fails_says_so(repository: Program) -> None:
    done = subprocess.run(
        [DOCS / "examples" / "review.sh", "HEAD", "--model", "demo"],
        cwd=repository.project,
        env=repository.env(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )
    assert done.returncode == 1
    assert "does not satisfy the schema" in done.stderr


def test_exit_codes_are_listed() -> None:
    from gatewright.agent.launch.exits import Exit

    text = (DOCS / "headless.md").read_text(encoding="utf-8")
    listed = {
        int(code)
        for row in re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE)
        for code in row.split(",")
    }
    assert listed == {code.value for code in Exit}
    assert os.access(DOCS / "examples" / "review.sh", os.X_OK)
