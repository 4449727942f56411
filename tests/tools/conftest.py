from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.toolbox import Toolbox


@pytest.fixture
def box(tmp_path: Path) -> Toolbox:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "home").mkdir()
    return Toolbox(root)
