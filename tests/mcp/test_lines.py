"""Lines of a server, whole, too long, or written bit by bit."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_types import JSONRPCResponse

from gatewright.mcp.serverlog import ServerLog
from gatewright.mcp.talk.lines import Lines, Oversized
from gatewright.mcp.talk.stdio import Ended, child_transport
from gatewright.tools.protocol import Child, SpawnRequest
from gatewright.tools.system.processes import spawn

BITS = """
import os, sys
line = b'{"jsonrpc": "2.0", "id": 1, "result": {"text": "' + b"x" * 100_000 + b'"}}\\n'
for at in range(len(line)):
    os.write(1, line[at:at + 1])
sys.stdin.read()
"""


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_line_is_whole_however_it_comes(size: int) -> None:
    data = b"one\n\n  two \nthree\n" + b"x" * 50 + b"\nrest"
    lines, found = Lines(40), list[Any]()
    for at in range(0, len(data), size):
        found += lines.feed(data[at : at + size])
    assert found[:3] == [b"one", b"two", b"three"]
    assert isinstance(found[3], Oversized)
    assert list(lines.feed(b" of it\n")) == [b"rest of it"]


@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_of_a_line_that_is_left_out_the_id_is_known(size: int) -> None:
    for data in (b'{"id": 7, "x": "%s"}\n', b'{"x": "%s", "id": 7}\n'):
        whole = data % (b"x" * 5000)
        lines, found = Lines(1000), list[Any]()
        for at in range(0, len(whole), size):
            found += lines.feed(whole[at : at + size])
        (line,) = found
        assert (isinstance(line, Oversized), line.id) == (True, 7)


async def test_a_line_that_is_written_bit_by_bit_is_read_in_pieces(tmp_path: Path) -> None:
    reads: list[int] = []

    async def counted(request: SpawnRequest) -> Child:
        child = await spawn(request)
        read = child.read

        async def one() -> bytes:
            chunk = await read()
            reads.append(len(chunk))
            return chunk

        child.read = one  # type: ignore[method-assign]
        return child

    env = {"PATH": os.environ["PATH"]}
    request = SpawnRequest(argv=(sys.executable, "-c", BITS), cwd=tmp_path, env=env)
    log = ServerLog(tmp_path / "log")
    async with child_transport(request, counted, log, Ended()) as (inbound, _):
        message = await inbound.receive()
        assert not isinstance(message, Exception)
        assert isinstance(message.message, JSONRPCResponse)
    assert len(reads) < 1000, "100,000 bytes of one line"


def test_the_tail_of_a_log_is_whole_lines_few_and_inert(tmp_path: Path) -> None:
    log = ServerLog(tmp_path / "log")
    assert log.tail() == ""
    log.path.write_bytes(b"\x1b[2Jcleared\xff\r\n" + "hid\u202eden".encode() + b"\nlast")
    assert log.tail() == "<U+001B>[2Jcleared\ufffd\nhid<U+202E>den\nlast"
    log.path.write_text("".join(f"{n} {'x' * 90}\n" for n in range(50_000)), encoding="utf-8")
    lines = log.tail().splitlines()
    assert [line.split()[0] for line in lines] == [str(n) for n in range(49_800, 50_000)]
    log.path.write_text("x" * 1_000_000, encoding="utf-8")
    assert len(log.tail()) == 300
