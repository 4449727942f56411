"""Lines arrive whole, however their bytes come; a long one costs no more for each of its pieces."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence

import pytest

from gatewright.agent.frontends import reader
from gatewright.agent.frontends.reader import LineReader
from tests.fakes.waiting import PATIENCE


async def lines_of(data: bytes) -> Sequence[str]:
    ours, theirs = os.pipe()

    def write() -> None:
        with open(theirs, "wb", buffering=0) as pipe:  # noqa: PTH123  a descriptor
            pipe.write(data)

    thread = threading.Thread(target=write)
    thread.start()
    lines: list[str] = []
    source = LineReader(ours)
    async with asyncio.timeout(PATIENCE):
        while (line := await source.next()) is not None:
            lines.append(line)
    thread.join()
    os.close(ours)
    return lines


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 65536])
async def test_characters_and_ends_may_be_cut_anywhere(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(reader, "CHUNK", chunk)
    assert await lines_of("é1\r\n\nüber 😀\nlast".encode()) == ["é1", "", "über 😀", "last"]
    assert await lines_of(b"\n\nx\n") == ["", "", "x"]
    assert await lines_of(b"") == []


async def test_a_long_line_costs_the_same_for_each_of_its_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "CHUNK", 64)
    text = "x" * 16_000_000
    assert await lines_of(text.encode() + b"\n") == [text]
