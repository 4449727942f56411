"""`#` in the prompt: a line for the project's memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.context.briefing import Briefing
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.context.readable import Readable, Verdict
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.settings.workspace import survey
from gatewright.tui.session_calls import remembered
from tests.fakes.fake_session import FakeSession
from tests.tui.stage import stage

OPEN = Readable(lambda path, real: Verdict("yes"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# use tabs", "use tabs"),
        ("#use tabs ", "use tabs"),
        ("#", ""),
        ("#12 is broken", ""),
        ("## A heading", ""),
        ("# A heading\n\nand text", ""),
        ("use # tabs", ""),
    ],
)
def test_what_is_remembered(text: str, line: str) -> None:
    assert remembered(text) == line


async def test_a_line_goes_to_the_projects_file_and_not_to_the_model(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    env = {"HOME": str(tmp_path / "home")}
    around = survey(LaunchOptions(cwd=str(tmp_path)), env, interactive=True)
    session = FakeSession()
    session.know("memory")
    session.memory = MemoryBook(lambda: around, Briefing(lambda: around, OPEN))
    async with stage(session) as s:
        await s.type("# user names are lower case")
        await s.press("enter")
        shown = await s.see("Added to", "# user names are lower case")
        assert "/memory add project" not in shown
        await s.type("#12 is broken")
        await s.press("enter")
        await s.until(lambda: session.sent == ["#12 is broken"])
    written = (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    assert written == "- user names are lower case\n"
