"""Write: never over content the model has not seen, and exactly what was given."""

from __future__ import annotations

import asyncio
import stat
import threading
from pathlib import Path

import pytest

from gatewright.tools.blocks import Diff
from gatewright.tools.files.disk import DiskFiles
from tests.fakes.toolbox import Toolbox
from tests.fakes.waiting import PATIENCE


async def test_a_new_file_with_its_directories(box: Toolbox) -> None:
    result = await box.call("Write", file_path="a/b/c.txt", content="one\ntwo\n")
    assert (box.root / "a/b/c.txt").read_bytes() == b"one\ntwo\n"
    assert (result.summary, result.data["type"]) == ("2 lines", "create")
    (block,) = result.view
    assert isinstance(block, Diff) and (block.added, block.removed) == (2, 0)
    mode = stat.S_IMODE((box.root / "a/b/c.txt").stat().st_mode)
    assert mode & 0o600 == 0o600 and not mode & 0o111


async def test_what_was_written_may_be_edited_at_once(box: Toolbox) -> None:
    await box.said("Write", file_path="a", content="x\n")
    await box.said("Edit", file_path="a", old_string="x", new_string="y")


async def test_an_existing_file_must_have_been_read(box: Toolbox) -> None:
    (box.root / "a").write_text("precious\n", encoding="utf-8")
    assert "was not read yet" in await box.refused("Write", file_path="a", content="x")
    await box.said("Read", file_path="a")
    (box.root / "a").write_text("changed\n", encoding="utf-8")
    assert "changed since" in await box.refused("Write", file_path="a", content="x")
    assert (box.root / "a").read_text(encoding="utf-8") == "changed\n"


async def test_an_empty_file_loses_nothing(box: Toolbox) -> None:
    (box.root / "a").touch()
    await box.said("Write", file_path="a", content="x")


async def test_line_endings_are_as_given(box: Toolbox) -> None:
    (box.root / "a").write_bytes(b"one\r\ntwo\r\n")
    await box.said("Read", file_path="a")
    await box.said("Write", file_path="a", content="one\nthree\r\n")
    assert (box.root / "a").read_bytes() == b"one\nthree\r\n"


async def test_the_encoding_of_the_file_is_kept(box: Toolbox) -> None:
    for encoding in ("utf-16", "utf-8-sig", "latin-1"):
        (box.root / encoding).write_bytes("größer\n".encode(encoding))
        await box.said("Read", file_path=encoding)
        await box.said("Write", file_path=encoding, content="kürzer\n")
        assert (box.root / encoding).read_bytes() == "kürzer\n".encode(encoding)


async def test_a_character_without_place_is_a_refusal(box: Toolbox) -> None:
    (box.root / "a").write_bytes("größer\n".encode("latin-1"))
    await box.said("Read", file_path="a")
    assert "latin-1" in await box.refused("Write", file_path="a", content="\u20ac")
    assert (box.root / "a").read_bytes() == "größer\n".encode("latin-1")


async def test_links_and_modes_are_kept(box: Toolbox) -> None:
    target = box.root / "real"
    target.write_text("a\n", encoding="utf-8")
    target.chmod(0o640)
    (box.root / "link").symlink_to("real")
    await box.said("Read", file_path="link")
    await box.said("Write", file_path="link", content="b\n")
    assert (box.root / "link").is_symlink()
    assert (target.read_text(encoding="utf-8"), stat.S_IMODE(target.stat().st_mode)) == (
        "b\n",
        0o640,
    )


async def test_a_dangling_link_creates_its_target(box: Toolbox) -> None:
    (box.root / "link").symlink_to("target")
    await box.said("Write", file_path="link", content="x")
    assert (box.root / "target").read_text(encoding="utf-8") == "x"


async def test_a_directory_or_a_bad_path_is_refused(box: Toolbox) -> None:
    assert "a directory" in await box.refused("Write", file_path=".", content="x")
    (box.root / "file").touch()
    said = await box.refused("Write", file_path="file/below", content="x")
    assert "Not a directory" in said or "directory" in said
    assert "Cannot" in await box.refused("Write", file_path="a\0b", content="x")
    assert "Cannot" in await box.refused("Write", file_path="x" * 300, content="x")


async def test_access_and_what_is_shown_before(box: Toolbox) -> None:
    facts = await box.facts("Write", file_path="~/a", content="x")
    assert facts.access.writes == (box.ctx.where.home / "a",)
    assert not facts.access.concurrent()
    assert (facts.verb, facts.target) == ("Write", "~/a")
    assert facts.view == ()


async def test_lone_surrogates_are_refused(box: Toolbox) -> None:
    assert "utf-8" in await box.refused("Write", file_path="a", content="\ud800")
    assert not (box.root / "a").exists()


async def test_a_cancel_waits_for_the_write(box: Toolbox) -> None:
    begun, go = threading.Event(), threading.Event()

    class Slow(DiskFiles):
        def swap(self, real: Path, expected: bytes | None, data: bytes) -> None:
            begun.set()
            assert go.wait(PATIENCE)
            super().swap(real, expected, data)

    box.set(files=Slow())
    call = asyncio.create_task(box.call("Write", file_path="a", content="x"))
    await asyncio.to_thread(begun.wait, PATIENCE)
    call.cancel()
    await asyncio.sleep(0)
    assert not call.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (box.root / "a").read_text(encoding="utf-8") == "x"


async def test_the_same_content_again_is_said_and_not_written(box: Toolbox) -> None:
    await box.said("Write", file_path="a", content="x\n")
    before = (box.root / "a").stat()
    result = await box.call("Write", file_path="a", content="x\n")
    assert (result.ok, result.summary) == (True, "unchanged")
    after = (box.root / "a").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    await box.said("Edit", file_path="a", old_string="x", new_string="y")
