"""Sockets have short names: their directories too."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short() -> Iterator[Path]:
    """A directory of the test's own with a short name."""
    made = Path(tempfile.mkdtemp(prefix="gw-", dir="/tmp"))
    yield made
    shutil.rmtree(made, ignore_errors=True)
