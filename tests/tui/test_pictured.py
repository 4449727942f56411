"""Everything that is drawn has its picture: lists, the masked field, and what must not be missing.

The lists are explicit: who adds a block, a question or a panel adds its picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest
from msgspec.structs import replace

from gatewright.agent.commands import models
from gatewright.agent.commands.outcome import (
    Choice,
    Draft,
    Form,
    Listing,
    Offer,
    Outcome,
    Page,
    Pick,
    Say,
    Secret,
)
from gatewright.agent.commands.panels import ConfigPanel, DoctorPanel, RulesPanel, WorkflowsPanel
from gatewright.agent.commands.registry import TaskRow
from gatewright.agent.commands.tasks import listing
from gatewright.agent.errors import GatewrightError
from gatewright.agent.models.choices import KeyPlace
from gatewright.agent.record.events import Asked, ToolFinished
from gatewright.agent.session.start.resume import choices_of
from gatewright.permissions.modes import CAUTION
from gatewright.tools.blocks import Block, Share, Shares, Table
from gatewright.tools.interact import AskKind
from gatewright.tools.protocol import Job
from tests.fakes.commands import not_resumed
from tests.fakes.fake_session import FakeSession
from tests.fakes.run_book import RUN, FakeRuns
from tests.tui import test_snapshots as snapshots
from tests.tui.panel_samples import kinds
from tests.tui.scenes import SCENES
from tests.tui.stage import stage
from tests.tui.test_diff_panel import diffs

MODELS = (
    ("*", "anthropic/claude-sonnet-5-5", "1M", "$3.00", "$15.00", ""),
    ("", "anthropic/claude-haiku-5", "200k", "$1.00", "$5.00", ""),
    ("", "openai/gpt-6", "400k", "$2.50", "$20.00", "no key"),
)
STORED = Table(
    ("Id", "Title", "Age", "Size", "Branch"),
    (
        ("0198c0de", "Fix the lease", "now", "12 kB", "main"),
        ("0198c0aa", "Tests", "2 d", "1 MB", ""),
    ),
)
SHARES = Shares(
    (
        Share("System prompt", 1_021),
        Share("Instructions", 72),
        Share("Tools", 4_167),
        Share("Your messages", 2_400),
        Share("Answers", 9_800),
        Share("Tool results", 31_002),
        Share("Free", 71_346, spare=True),
        Share("Kept for the answer", 8_192, spare=True),
    ),
    128_000,
)
SECTIONS = Table(("System prompt", "Tokens"), (("How to work", "372"), ("Instructions", "1,955")))
RUNNING = (
    TaskRow("shell_2", "npm run dev", "running", True, 75.0, "ready on http://localhost:3000"),
    TaskRow("shell_1", "pytest -q", "exit 1", False, 12.0, "1 failed, 30 passed"),
)


async def take(_text: str) -> Outcome:
    return Say(())


def pick(title: str, *rows: Choice, at: int = 0, about: tuple[str, ...] = ()) -> Pick:
    return Pick(fallback=Say(()), title=title, choices=rows, choose=take, at=at, about=about)


class Running:
    def rows(self) -> Sequence[TaskRow]:
        return RUNNING

    def known(self, id: str) -> Job:
        raise GatewrightError(id)

    async def stop(self, id: str) -> str:
        return id


PROVIDERS = (
    KeyPlace("anthropic", "", "ANTHROPIC_API_KEY", "https://console.anthropic.com"),
    KeyPlace("openai", "", "", "https://platform.openai.com"),
)
LISTS: dict[str, Offer] = {
    "model": replace(
        pick(models.MODEL_TITLE, *models.model_choices(MODELS)), head=models.model_head(MODELS)
    ),
    "context": Page(title="Context", fallback=Say((SHARES, SECTIONS))),
    "effort": pick(
        "Effort",
        Choice("low", "low", "answers at once"),
        Choice("medium", "medium", "thinks a little", "in use"),
        at=1,
    ),
    "login": pick("Store a key for", *map(models.provider_choice, PROVIDERS)),
    "setup": pick(
        "What shall answer?",
        Choice("1", "anthropic/claude-sonnet-5-5", "key: ANTHROPIC_API_KEY"),
        Choice("2", "a key for openai", "https://platform.openai.com"),
        Choice("3", "the demo", "a guided tour: no key, no network"),
    ),
    "agreement": pick(
        "Work without asking?",
        Choice("", "No, stay in default"),
        Choice("yes", "Yes"),
        about=(CAUTION,),
    ),
    "logout": pick(
        "Forget the key for", Choice("anthropic", "anthropic"), Choice("openai", "openai")
    ),
    "rewind": pick(
        "Go back to",
        Choice("2", "fix the lease", "3 files", "2 min ago"),
        Choice("1", "the lease test is flaky, can you find out why?", "", "9 min ago"),
    ),
    "sessions": pick("Go on with which session? Esc stays here", *choices_of(STORED)),
    "tasks": listing(Running(), not_resumed, Say(())),
    "diff": diffs(),
    "workflows": FakeRuns().panel(),
    "workflow": FakeRuns().panel(RUN.id),
    "secret": Secret(
        fallback=Say(()),
        title="The key for anthropic",
        about=("Keys are made at https://console.anthropic.com/settings/keys.",),
        take=take,
    ),
}


@snapshots.every_look
@pytest.mark.parametrize("name", LISTS)
async def test_list(name: str, size: str, themes: Sequence[str]) -> None:
    async with stage(size=snapshots.SIZES[size]) as s:
        SCENES["prose"](s.session)
        await s.settled()
        assert s.app.repl.reach.open_panel(LISTS[name])
        await s.settled()
        await snapshots.check_all(s, f"list-{name}", size, themes)


# Where each kind of offer is pictured: a name in LISTS above, or in test_snapshots.
PICTURED: dict[type[Offer], str] = {
    Secret: "secret",
    Pick: "sessions",
    Page: "context",
    Listing: "tasks",
    RulesPanel: "rules",
    ConfigPanel: "settings",
    DoctorPanel: "checks",
    WorkflowsPanel: "workflows",
}
UNSEEN = {Form, Draft}  # the editor, a line in the prompt


def test_every_panel_has_its_picture() -> None:
    pictures = {*LISTS, *snapshots.PANELS, *snapshots.SHEETS}
    missing = {*kinds()} - {*PICTURED, *UNSEEN}
    assert not missing, f"picture them in tests/tui/test_pictured.py: {missing}"
    assert set(PICTURED.values()) <= pictures


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
    pages = [offer for offer in LISTS.values() if isinstance(offer, Page)]
    blocks |= {type(block) for page in pages for block in page.fallback.blocks}
    assert blocks == set(get_args(Block)), "add what is missing to tests/tui/scenes.py"
    assert asks == set(get_args(AskKind)), "add what is missing to tests/tui/scenes.py"
