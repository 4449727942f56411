"""A short run of the keyboard fuzz; `python -m tests.tui.fuzz` runs longer."""

from __future__ import annotations

import pytest

from tests.tui.fuzz import fuzz


@pytest.mark.timeout(60)
@pytest.mark.parametrize("seed", range(3))
async def test_nothing_typed_breaks_the_screen(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "true")
    await fuzz(seed, 300)
