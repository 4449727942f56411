"""A skill that the person typed: one line on the screen, that opens to its text."""

from __future__ import annotations

from gatewright.agent.record import events as ev
from gatewright.tools.protocol import TextContent
from tests.tui.stage import stage


def text(name: str, body: str) -> ev.UserMessage:
    said = f'<skill name="{name}" origin="user">\n{body}\n</skill>'
    return ev.UserMessage(content=(TextContent(said),), hidden=True)


async def test_it_is_one_line_that_opens() -> None:
    async with stage() as s:
        for event in (
            ev.SkillInvoked(name="deploy", origin="user", path="/s", files=2),
            ev.SkillInvoked(name="sweep", origin="plugin", path="/t", files=1),
            ev.UserMessage(content=(TextContent("Notice: nothing"),), hidden=True),
            text("deploy", "Deploy it to \x1b[2Jport 80."),
            text("sweep", "Sweep the floor."),
            ev.SkillInvoked(name="old", origin="user", path="/o", carried="said before"),
        ):
            s.session.publish(event)
        await s.see("Skill deploy · user · 2 files  ctrl+o", "Skill sweep · plugin · 1 file")
        shown = s.text()
        assert "port 80" not in shown and "the floor" not in shown and "Skill old" not in shown
        await s.press("ctrl+o", "ctrl+o")  # one, then all
        await s.see("port 80", "Sweep the floor.")
        assert "\x1b" not in s.text()
        await s.press("ctrl+o")
        await s.gone("Sweep the floor.")
