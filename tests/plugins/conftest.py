"""What tests of plugins share: a server of repositories, packages and archives on loopback."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.fakes.market_server import MarketServer, market_server


@pytest.fixture
def server(tmp_path: Path) -> Generator[MarketServer]:
    (tmp_path / "served").mkdir()
    with market_server(tmp_path / "served") as started:
        yield started
