"""What is left out of an allowed git or search is asked about nowhere, also where nobody is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.permissions.composed import desk

IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def changed(project: Path) -> None:
    project.mkdir()
    for name, text in (("shop.py", "one\n"), (".env", "KEY=first-secret\n")):
        (project / name).write_text(text, encoding="utf-8")
    for line in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *IDENTITY, *line], cwd=project, check=True, capture_output=True)
    for name, text in (("shop.py", "two\n"), (".env", "KEY=other-secret\n")):
        (project / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("interactive", [True, False])
@pytest.mark.parametrize("command", ["git diff HEAD", "git diff HEAD -- shop.py", "git show HEAD"])
async def test_it_runs_without_what_rules_name(
    tmp_path: Path, command: str, *, interactive: bool
) -> None:
    project = tmp_path / "project"
    changed(project)
    script = [f"call[c1]: Bash {json.dumps({'command': command})}", "say: done"]
    async with desk(tmp_path, script, interactive=interactive) as made:
        made.session.submit("go")
        told = await made.finished("c1")
        await made.ended()
    assert "shop.py" in told
    assert "-secret" not in told
