"""Documents made to hurt: the program stays small and quick, and says what it could not show."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatewright.tools.documents import child_process as documents
from gatewright.tools.documents import document_child
from gatewright.tools.documents.child_process import shown, shown_bytes
from gatewright.tools.protocol import ImageContent, SpawnRequest, ToolFailure
from gatewright.tools.system.processes import spawn
from tests.fakes.spawner import FakeSpawner, Script
from tests.fakes.toolbox import Toolbox
from tests.guards.sources import ROOT

CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
PAGES = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]"


def pdf(*objects: bytes) -> bytes:
    out, starts = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate((CATALOG, PAGES, *objects), 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    size = len(starts) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(out))
    return out + head + table + tail


def stream(data: bytes, more: bytes = b"", level: int = 9) -> bytes:
    packed = zlib.compress(data, level)
    head = b"<<%b/Filter/FlateDecode/Length %d>>stream\n" % (more, len(packed))
    return head + packed + b"\nendstream"


def endless_drawing() -> bytes:
    """A quarter of a megabyte that draws six million rectangles: 5 GB and minutes unlimited."""
    return pdf(PAGE + b"/Contents 4 0 R>>", stream(b"0 0 600 800 re f " * 6_000_000))


def giant_picture() -> bytes:
    size = b"/Type/XObject/Subtype/Image/Width 12000/Height 12000/ColorSpace/DeviceRGB"
    return pdf(
        PAGE + b"/Resources<</XObject<</I 4 0 R>>>>/Contents 5 0 R>>",
        stream(bytes(12000 * 12000 * 3), size + b"/BitsPerComponent 8", level=1),
        stream(b"q 600 0 0 800 0 0 cm /I Do Q"),
    )


def deep() -> bytes:
    return pdf(PAGE + b"/X " + b"[" * 200_000 + b"]" * 200_000 + b">>")


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    pack, row = zlib.compressobj(1), bytes(1 + width * 4)
    rows = b"".join(pack.compress(row) for _ in range(height)) + pack.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def gif(width: int, height: int) -> bytes:
    size = struct.pack("<HH", width, height)
    palette = b"\x80\0\0\0\0\0\xff\xff\xff"
    return b"GIF89a" + size + palette + b",\0\0\0\0" + size + b"\0\x02\x02\x4c\x01\0;"


HOSTILE: dict[str, Callable[[], bytes]] = {
    "drawing.pdf": endless_drawing,
    "picture.pdf": giant_picture,
    "deep.pdf": deep,
    "bomb.png": lambda: png(8900, 8900),
    "huge.png": lambda: png(60_000, 2000),
    "huge.gif": lambda: gif(65535, 65535),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_costs_us_neither_memory_nor_time(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(HOSTILE[name]())
    measured = subprocess.run(
        [sys.executable, "-m", "tests.tools.document_cost", str(path)],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    cost = json.loads(measured.stdout)
    assert cost["seconds"] < 15
    assert cost["own"] < 60
    assert cost["child"] < documents.MEMORY // 1024 // 1024 + 20
    assert cost["fine"]


async def test_too_much_memory_is_said_with_what_to_do(box: Toolbox) -> None:
    (box.root / "a.pdf").write_bytes(endless_drawing())
    said = await box.refused("Read", file_path="a.pdf")
    assert "a.pdf cannot be shown within 768 MB of memory" in said
    assert "pdftotext" in said


async def test_a_page_of_html_nested_without_end_is_read_elsewhere(box: Toolbox) -> None:
    found = await shown_bytes("html", b"<p><font a=1>" * 200_000 + b"word", "page", spawn)
    assert not any(isinstance(part, ImageContent) for part in found.content)


async def test_a_parser_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "CPU", 1)
    monkeypatch.setattr(documents, "SECONDS", 1.0)
    slow = pdf(PAGE + b"/Contents 4 0 R>>", stream(b"0 0 600 800 re f " * 1_500_000))
    began = time.monotonic()
    with pytest.raises(ToolFailure, match="cannot be shown within"):
        await shown_bytes("pdf", slow, "slow", spawn)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense",
        b'{"parts": [["image/png", 5]]}\nabcde',
        b'{"parts": [["text/plain", 50]]}\nabcde',
        b'{"parts": [["text/plain", -1]]}\nabcde',
        b'{"parts": [["text/html", 5]]}\nabcde',
        b'{"parts": [["image/svg+xml", 5]]}\nabcde',
        b'{"failure": ["x"]}\n',
        b'{"parts": [["text/plain", 20000000]]}\n' + b"\x1b" * 20_000_000,
        b"{" * 100_000,
    ],
)
async def test_an_answer_that_is_not_what_it_says_is_not_taken(answer: bytes) -> None:
    fake = FakeSpawner([Script(output=(answer,))])
    with pytest.raises(ToolFailure, match="cannot be shown"):
        await shown_bytes("pdf", b"%PDF-", "a.pdf", fake)


async def test_an_endless_answer_is_cut_off() -> None:
    fake = FakeSpawner([Script(output=(b"x" * 1_000_000,) * 100, hangs=True)])
    with pytest.raises(ToolFailure, match="48 MB of text and pictures"):
        await shown_bytes("pdf", b"%PDF-", "a.pdf", fake)


def test_nothing_is_within_reach_of_a_parser_that_was_taken_over(tmp_path: Path) -> None:
    """In the child's own words: what is tried after it shut itself off, and how that ended."""
    if sys.platform != "linux":
        pytest.skip("elsewhere the system's own sandbox is around it")
    secret = tmp_path / "secret"
    secret.write_text("precious", encoding="utf-8")
    script = f"""
import importlib.util, os, socket, subprocess, json
spec = importlib.util.spec_from_file_location("child", {document_child.__file__!r})
child = importlib.util.module_from_spec(spec); spec.loader.exec_module(child)
child._limit(768 << 20, 20); child._shut_off(child.FONTS)
def tried(what):
    try: what()
    except OSError: return "refused"
    return "done"
print(json.dumps([tried(lambda: open({str(secret)!r})), tried(socket.socket),
    tried(lambda: open({str(tmp_path / "new")!r}, "w")), tried(os.fork),
    tried(lambda: os.execv("/bin/true", ["true"])), tried(lambda: os.kill(os.getppid(), 0)),
    tried(lambda: os.listdir({str(tmp_path)!r}))]))
"""
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, check=True)
    answers: list[Any] = json.loads(done.stdout)
    assert answers == ["refused"] * len(answers)


async def test_the_child_is_given_the_open_document_and_no_path() -> None:
    asked: list[SpawnRequest] = []

    async def seen(request: SpawnRequest) -> Any:
        asked.append(request)
        return await spawn(request)

    with tempfile.TemporaryFile() as file:  # one without a name
        file.write(png(3, 2))
        file.flush()
        found = await shown("image", file, "x.png", seen)
    assert found.words == "3x2" and found.same
    assert "x.png" not in " ".join(asked[0].argv) and "HOME" not in asked[0].env
