"""A short run of noise into the real program; `python -m tests.e2e.fuzz` runs longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.fuzz import round_of

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("seed", [1])
def test_noise_on_the_line_costs_nothing(seed: int, tmp_path: Path) -> None:
    """The prompt works on, the terminal is given back as it was, the session file is valid."""
    round_of(seed, 120, tmp_path)
