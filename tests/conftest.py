"""What holds for every test: no keys of the person who runs it, and no network but loopback."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program

OWN = ("ANTHROPIC_", "OPENAI_", "GATEWRIGHT_", "CLAUDE_")
LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True, scope="session")
def _nobodys_environment() -> Iterator[None]:
    """A key in the environment must neither be used nor make a test pass."""
    kept = dict(os.environ)
    for name in kept:
        if name.startswith(OWN):
            del os.environ[name]
    yield
    os.environ.update(kept)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        inet = self.family in {socket.AF_INET, socket.AF_INET6}
        if inet and not str(address[0]).startswith(LOOPBACK):
            raise AssertionError(f"a test connects to {address}: only loopback is allowed")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The installed program with a home and a project of its own."""
    return Program.prepare(tmp_path)
