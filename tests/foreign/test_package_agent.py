"""An agent upon the protocol's own package understands all that we say, and we what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.agents.test_agent_tool import agent
from tests.foreign.stories import ON, confined, end_of, reported
from tests.permissions.composed import desk

pytestmark = confined
PROGRAM = Path(__file__).parent / "package_agent.py"


async def test_the_whole_story(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    agents = home / ".gatewright" / "agents"
    agents.mkdir(parents=True)
    project.mkdir()
    (project / "a.txt").write_text("1\n", encoding="utf-8")
    program = home / "package.py"
    program.write_text(PROGRAM.read_text(encoding="utf-8"), encoding="utf-8")
    acp = f"{{command: {sys.executable}, args: {json.dumps(['-I', str(program)])}}}"
    text = f"---\nname: other\ndescription: d\nacp: {acp}\n---\nYou work.\n"
    (agents / "other.md").write_text(text, encoding="utf-8")
    script = [agent("do it", subagent_type="other"), "say: heard"]
    async with desk(tmp_path, script, own=dict(ON), mode="acceptEdits") as opened:
        opened.session.submit("go")
        end = await end_of(opened)
        assert end.status == "completed", end.why
        task, code, output, outcome = reported(end)
        assert (task, code, output) == ("do it", 0, "1\n2")
        assert outcome["outcome"] == "selected"
    assert (project / "a.txt").read_text(encoding="utf-8") == "1\n2\n"
