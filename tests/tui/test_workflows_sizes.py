"""Workflows in any size of a window, below any folder: what a key does and what a file is called
are never what is cut.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.agent.record.events import Asked
from gatewright.tools.blocks import Code, Table, Text
from gatewright.tools.interact import Ask, Option
from tests.fakes.examples import some
from tests.fakes.run_book import RUN, FakeRuns
from tests.tui.stage import Stage, stage

SETTLED = 1.0  # seconds after which a key is meant for the panel
SIZES = ((110, 40), (80, 24), (40, 12))
FOLDERS = ("/p", "/var/tmp/" + "/".join(["some-folder"] * 8), "/" + "x" * 300)
OPTIONS = (
    Option("once", "Yes", "y"),
    Option("always", "Yes, don't ask again this session", "Y"),
    Option("no", "No", "n"),
)

every_size = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
every_folder = pytest.mark.parametrize("folder", some(FOLDERS, 2), ids=lambda at: str(len(at)))


def launch(folder: str) -> Ask:
    body = (
        Text("deep-research: Research a question on the web from several angles"),
        Table(("Phase", "What"), (("Plan", "3 to 6 angles"), ("Search", "side by side"))),
        Text("Agents: mode acceptEdits, tools of their types, model anthropic/claude-sonnet-5-5"),
        Text("Budget: none"),
        Code("return 1\n" * 198, "javascript", f"{folder}/deep-research.js", folded=True),
    )
    reason = "A workflow starts many agents."
    return Ask("permission", "Workflow deep-research", body, OPTIONS, reason=reason)


@every_size
@every_folder
async def test_the_script_can_be_read_before_the_yes(size: tuple[int, int], folder: str) -> None:
    async with stage(size=size) as s:
        s.session.publish(Asked(id=1, ask=launch(folder)))
        await s.see("Yes", "v reads it")
        s.clock.now += SETTLED
        await s.press(*["pagedown"] * 6)
        await s.see("198 lines   v reads it", "research.js" if size[0] > 40 else "ch.js")


@every_size
@every_folder
async def test_where_a_script_is_saved_names_the_file(size: tuple[int, int], folder: str) -> None:
    runs = FakeRuns()
    runs.home = folder
    async with stage(size=size) as s:
        assert s.app.repl.reach.open_panel(runs.panel())
        await s.see("esc ")
        await pressed(s, "s")
        await s.see("▸ project", "  user", "review-diff.js", "tab user", "enter saves")
        await pressed(s, "tab")
        await s.see("▸ user", "tab project")
        await pressed(s, "enter")
        await s.see(f"save {RUN.id}: done.")


async def test_a_place_below_the_home_is_told_from_there() -> None:
    runs = FakeRuns()
    runs.home = str(Path.home() / "app")
    async with stage(size=(80, 24)) as s:
        assert s.app.repl.reach.open_panel(runs.panel())
        await s.see("esc ")
        await pressed(s, "s")
        await s.see("~/app/project/.gatewright/workflows/review-diff.js")


async def pressed(s: Stage, key: str) -> None:
    s.clock.now += SETTLED
    await s.press(key)
    await s.pilot.pause()
