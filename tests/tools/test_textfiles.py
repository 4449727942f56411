"""The tools that change text go through one port: an editor's buffers serve as well as the disk."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest

from gatewright.tools.protocol import ToolFailure
from gatewright.tools.textfiles import FileMoved
from tests.fakes.toolbox import Toolbox


class Buffers:
    """Files that are nowhere but here."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.locked: set[str] = set()

    def opened(self, real: Path) -> BinaryIO:
        if real.name not in self.held:
            raise FileNotFoundError(real)
        return BytesIO(self.held[real.name])

    def writable(self, real: Path) -> None:
        if real.name in self.locked:
            raise ToolFailure(f"{real.name} is locked by the editor.")

    def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
        if self.held.get(real.name) != expected:
            raise FileMoved
        self.held[real.name] = data


@pytest.fixture
def buffers(box: Toolbox) -> Buffers:
    made = Buffers()
    made.held["a.py"] = b"one\ntwo\n"
    box.set(files=made)
    return made


async def test_what_is_read_and_changed_is_the_buffer(box: Toolbox, buffers: Buffers) -> None:
    (box.root / "a.py").write_text("on disk\n", encoding="utf-8")
    assert "two" in await box.said("Read", file_path="a.py")
    await box.said("Edit", file_path="a.py", old_string="two", new_string="2")
    edits = [{"old_string": "2", "new_string": "three"}]
    await box.said("MultiEdit", file_path="a.py", edits=edits)
    assert buffers.held["a.py"] == b"one\nthree\n"
    await box.said("Write", file_path="a.py", content="all new\n")
    await box.said("Write", file_path="b.py", content="new\n")
    assert buffers.held == {"a.py": b"all new\n", "b.py": b"new\n"}
    assert (box.root / "a.py").read_text(encoding="utf-8") == "on disk\n"
    assert not (box.root / "b.py").exists()


async def test_the_ledger_counts_the_buffer(box: Toolbox, buffers: Buffers) -> None:
    edit = {"file_path": "a.py", "old_string": "two", "new_string": "2"}
    assert "was not read yet" in await box.refused("Edit", **edit)
    await box.said("Read", file_path="a.py")
    buffers.held["a.py"] = b"two typed\n"
    assert "changed since it was read" in await box.refused("Edit", **edit)
    assert "changed since it was read" in await box.refused("Write", file_path="a.py", content="")


async def test_what_the_holder_refuses_is_a_failed_call(box: Toolbox, buffers: Buffers) -> None:
    await box.said("Read", file_path="a.py")
    buffers.locked.add("a.py")
    assert "locked by the editor" in await box.refused("Write", file_path="a.py", content="x")
    assert buffers.held["a.py"] == b"one\ntwo\n"


async def test_a_change_in_between_is_noticed(box: Toolbox, buffers: Buffers) -> None:
    await box.said("Read", file_path="a.py")
    seen = buffers.writable

    def typing(real: Path) -> None:
        seen(real)
        buffers.held["a.py"] = b"typed\n"

    buffers.writable = typing  # type: ignore[method-assign]
    edit = {"file_path": "a.py", "old_string": "two", "new_string": "2"}
    assert "changed just now" in await box.refused("Edit", **edit)
    assert buffers.held["a.py"] == b"typed\n"
