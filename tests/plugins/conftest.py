"""What tests of plugins share: a home, and a server of repositories and packages on loopback."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.fakes.market_server import MarketServer, market_server
from tests.plugins.market_place import Place


@pytest.fixture
def server(tmp_path: Path) -> Generator[MarketServer]:
    (tmp_path / "served").mkdir()
    with market_server(tmp_path / "served") as started:
        yield started


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home")
