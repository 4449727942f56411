"""A short run of the keyboard fuzz; `python -m tests.tui.fuzz` runs longer."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from gatewright.agent.record.events import AnyEvent
from gatewright.tools.blocks import Block
from gatewright.tools.interact import AskKind
from tests.fakes.examples import some
from tests.tui.fuzz import ENVIRONMENT, WITHOUT, project
from tests.tui.fuzz_play import run
from tests.tui.fuzz_steps import script
from tests.tui.happenings import ASKS, BLOCKS, EVENTS, NUMBERED
from tests.tui.panel_samples import BY_COMMAND, BY_STEP, MADE, kinds


@pytest.mark.parametrize("seed", some(range(3), 3))
async def test_nothing_typed_breaks_the_screen(
    seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for name in WITHOUT:
        monkeypatch.delenv(name, raising=False)
    await run(script(seed, 150), str(project(tmp_path)))


def test_everything_there_is_can_happen() -> None:
    assert {*EVENTS, *NUMBERED} == set(get_args(AnyEvent))
    assert set(BLOCKS) == set(get_args(Block))
    assert set(ASKS) == set(get_args(AskKind))
    missing = {*kinds()} - {*MADE, *BY_COMMAND, *BY_STEP}
    assert not missing, f"tests/tui/panel_samples.py has no sample of {missing}"
