"""Everything that is drawn has its picture: lists, the masked field, and what must not be missing.

The lists are explicit: who adds a block, a question or a panel adds its picture.
"""

from __future__ import annotations

from typing import get_args

import pytest

from gatewright.agent.commands.diff import Diffs
from gatewright.agent.commands.outcome import Panel, Say, Secret, Sessions
from gatewright.agent.commands.panels import ConfigPanel, DoctorPanel, RulesPanel, SettingChanged
from gatewright.agent.commands.plan import PlanFile
from gatewright.agent.commands.tasks import TaskRow, Tasks
from gatewright.agent.record.events import Asked, ToolFinished
from gatewright.permissions.modes import CAUTION
from gatewright.tools.blocks import Block, Table, Text
from gatewright.tools.interact import AskKind
from gatewright.tui.commands import PANELS
from tests.fakes.fake_session import FakeSession
from tests.tui import test_snapshots as snapshots
from tests.tui.panel_samples import kinds
from tests.tui.scenes import SCENES
from tests.tui.stage import stage
from tests.tui.svg import check
from tests.tui.test_diff_panel import diffs

MODELS = (
    ("*", "anthropic/claude-sonnet-5-5", "1M", "$3.00", "$15.00", ""),
    ("", "anthropic/claude-haiku-5", "200k", "$1.00", "$5.00", ""),
    ("", "openai/gpt-6", "400k", "$2.50", "$20.00", "no key"),
)
EFFORTS = (("", "low", "answers at once"), ("*", "medium", "thinks a little"))
PROVIDERS = (
    ("anthropic", "ANTHROPIC_API_KEY", "https://console.anthropic.com"),
    ("openai", "none", "https://platform.openai.com"),
)
ANSWERING = (
    ("anthropic/claude-sonnet-5-5", "key: ANTHROPIC_API_KEY", "/setup anthropic/claude-sonnet-5-5"),
    ("a key for openai", "https://platform.openai.com", "/login openai"),
    ("the demo", "a guided tour: no key, no network", "/model demo"),
)
MESSAGES = (
    ("2", "2 min ago", "fix the lease", "3 files"),
    ("1", "9 min ago", "the lease test is flaky, can you find out why?", ""),
)
STORED = Table(
    ("Id", "Title", "Age", "Size", "Branch"),
    (
        ("0198c0de", "Fix the lease", "now", "12 kB", "main"),
        ("0198c0aa", "Tests", "2 d", "1 MB", ""),
    ),
)
RUNNING = (
    TaskRow("shell_2", "npm run dev", "running", True, 75.0, "ready on http://localhost:3000"),
    TaskRow("shell_1", "pytest -q", "exit 1", False, 12.0, "1 failed, 30 passed"),
)


async def take(_text: str) -> Say:
    return Say(())


def of(name: str, rows: tuple[tuple[str, ...], ...]) -> Panel:
    return Panel(name, Say((Table(("",) * len(rows[0]), rows),)))


LISTS: dict[str, Panel] = {
    "model": of("model", MODELS),
    "effort": of("effort", EFFORTS),
    "login": of("login", PROVIDERS),
    "setup": of("setup", ANSWERING),
    "agreement": Panel(
        "agreement",
        Say((Text(CAUTION), Table(("", ""), (("No, stay in default", ""), ("Yes", "/mode yes"))))),
    ),
    "logout": of("logout", (("anthropic",), ("openai",))),
    "rewind": of("rewind", MESSAGES),
    "sessions": Sessions("resume", Say(()), table=STORED),
    "tasks": Tasks("tasks", Say(()), rows=lambda: RUNNING, output=lambda _id: ()),
    "diff": diffs(),
    "secret": Secret(
        "key",
        Say(()),
        title="The key for anthropic",
        about=("Keys are made at https://console.anthropic.com/settings/keys.",),
        take=take,
    ),
}


@pytest.mark.parametrize("size", snapshots.SIZES)
@pytest.mark.parametrize("theme", ["dark", "light", "ansi"])
@pytest.mark.parametrize("name", LISTS)
async def test_list(name: str, theme: str, size: str) -> None:
    async with stage(size=snapshots.SIZES[size], theme=theme) as s:
        SCENES["prose"](s.session)
        await s.settled()
        assert s.app.open_panel(LISTS[name])
        await s.settled()
        check(f"list-{name}-{theme}-{size}", s.app.export_screenshot())


# Where each kind of panel is pictured: a name in LISTS above, or in test_snapshots.
PICTURED: dict[type[Panel], str] = {
    Secret: "secret",
    Sessions: "sessions",
    Tasks: "tasks",
    Diffs: "diff",
    RulesPanel: "rules",
    ConfigPanel: "settings",
    DoctorPanel: "checks",
}
UNSEEN = {PlanFile, SettingChanged}  # the editor, and words in the transcript


def test_every_panel_has_its_picture() -> None:
    pictures = {*LISTS, *snapshots.PANELS, *snapshots.SHEETS}
    missing = {*kinds()} - {*PICTURED, *UNSEEN}
    assert not missing, f"picture them in tests/tui/test_pictured.py: {missing}"
    assert set(PICTURED.values()) <= pictures
    known = {"mode": "modes"}
    assert {known.get(name, name) for name in PANELS} <= pictures


def test_every_block_and_every_question_has_its_picture() -> None:
    blocks: set[type] = set()
    asks: set[str] = set()
    for scene in SCENES.values():
        session = FakeSession()
        scene(session)
        for envelope in session.told:
            match envelope.event:
                case ToolFinished(view=view):
                    blocks |= {type(block) for block in view}
                case Asked(ask=ask):
                    asks.add(ask.kind)
                    blocks |= {type(block) for block in ask.body}
                case _:
                    pass
    assert blocks == set(get_args(Block)), "add what is missing to tests/tui/scenes.py"
    assert asks == set(get_args(AskKind)), "add what is missing to tests/tui/scenes.py"
