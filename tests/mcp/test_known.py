"""What is kept of servers while several sessions write it, and one of them is killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.mcp.described import Described, Hello, Listing
from gatewright.mcp.known import Known, KnownServers
from gatewright.tools.system import private

HELLO = Hello(era="2025-11-25")
TOOLS = Listing(tools=tuple(Described(name=f"t{n}", description="x" * 500) for n in range(50)))


def test_nobody_reads_half_of_what_another_session_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Torn, it would count as unreadable, and every tool of the server would ask again."""
    store = KnownServers(tmp_path)
    written = private.write

    def another(path: Path, data: bytes) -> None:
        """Between our last byte and the name that it gets, somebody else begins to write."""
        written(path, data)
        monkeypatch.setattr(private, "write", begun)
        monkeypatch.setattr(os, "getpid", lambda: 4711)
        store.listed("one", HELLO, TOOLS)

    def begun(path: Path, data: bytes) -> None:
        written(path, data[: len(data) // 2])
        raise OSError("killed")

    monkeypatch.setattr(private, "write", another)
    store.listed("one", HELLO, TOOLS)
    assert store.read("one").tools == TOOLS.tools


def test_what_a_killed_one_left_half_written_is_nothing(tmp_path: Path) -> None:
    store = KnownServers(tmp_path)
    (tmp_path / "one.4711.new").write_bytes(b'{"form":1,"pi')
    assert store.read("one") == Known()
    store.listed("one", HELLO, TOOLS)
    assert store.read("one").tools == TOOLS.tools
