"""What is kept of servers while several sessions write it, and one of them is killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatewright.mcp.described import Described, Hello, Listing
from gatewright.mcp.known import Known, KnownServers
from gatewright.tools.system import private
from tests.mcp.installed import of_npm
from tests.mcp.test_session import told
from tests.permissions.composed import desk

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


def listing(*names: str, text: str = "it") -> Listing:
    return Listing(tools=tuple(Described(name=name, description=text) for name in names))


def test_more_tools_for_a_front_end_that_can_do_more_are_accepted_once(tmp_path: Path) -> None:
    """A server that lends nothing to print mode lists fewer tools there than on the screen."""
    hello = Hello(era="2025-11-25", server="everything 1")
    alone, screen = (KnownServers(tmp_path, tells=what) for what in ("nothing", "sampling"))
    assert set(alone.listed("s", hello, listing("echo")).pins) == {"echo"}
    alone.forget("s")
    assert set(screen.listed("s", hello, listing("echo", "ask")).pins) == {"echo", "ask"}
    assert set(alone.listed("s", hello, listing("echo")).pins) == {"echo", "ask"}
    for store in (alone, screen):
        assert set(store.listed("s", hello, listing("echo", "ask", "evil")).pins) == {"echo", "ask"}
    accepted = alone.listed("s", hello, listing("echo", "more"), accept=True)
    assert set(accepted.pins) == {"echo", "ask", "more"}


@pytest.mark.parametrize(
    ("hello", "offered"),
    [
        (Hello(era="2025-11-25", server="everything 2"), listing("echo", "evil")),
        (Hello(era="2025-11-25"), listing("echo", "evil")),
        (Hello(era="2025-11-25", server="everything 1"), listing("echo", "evil", text="new")),
    ],
)
def test_more_tools_of_a_server_that_changed_are_not(
    tmp_path: Path, hello: Hello, offered: Listing
) -> None:
    alone, screen = (KnownServers(tmp_path, tells=what) for what in ("nothing", "sampling"))
    before = alone.listed("s", Hello(era="2025-11-25", server="everything 1"), listing("echo"))
    assert screen.listed("s", hello, offered).pins == before.pins
    back = screen.listed("s", Hello(era="2025-11-25", server="everything 1"), listing("echo", "x"))
    assert back.pins == before.pins, "it had its one time"


async def test_a_real_server_lists_more_on_the_screen_and_nothing_of_it_is_new(
    tmp_path: Path,
) -> None:
    own = {"mcpServers": {"every": {"command": of_npm("mcp-server-everything")}}}
    counts: list[int] = []
    for interactive in (False, True, False):
        async with desk(tmp_path, [], own=own, interactive=interactive) as made:
            await made.session.run_command("/mcp reconnect every")
            shown = await told(made, "/mcp every")
            assert "Changed" not in shown
            counts.append(shown.count("accepted  none"))
    assert counts[0] == counts[2] < counts[1]
