"""Read: right and bounded in time and memory, whatever the file is."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from gatewright.tools.blocks import Image as ImageBlock
from gatewright.tools.protocol import ImageContent, ToolResult
from tests.fakes.toolbox import Toolbox, text
from tests.fakes.waiting import PATIENCE


def images(result: ToolResult) -> list[ImageContent]:
    return [part for part in result.content if isinstance(part, ImageContent)]


class TestText:
    async def test_lines_are_numbered(self, box: Toolbox) -> None:
        (box.root / "a").write_bytes(b"one\ntwo\n")
        result = await box.call("Read", file_path="a")
        assert text(result) == "     1\tone\n     2\ttwo"
        assert (result.summary, result.data["file"]["totalLines"]) == ("2 lines", 2)

    async def test_a_window_says_how_to_go_on(self, box: Toolbox) -> None:
        (box.root / "a").write_text("".join(f"{i}\n" for i in range(1, 101)), encoding="utf-8")
        said = await box.said("Read", file_path="a", offset=10, limit=2)
        assert said == "    10\t10\n    11\t11\n\n[lines 10-11 of 100; go on with offset=12]"
        said = await box.said("Read", file_path="a", offset=100)
        assert said == "   100\t100"
        assert "has 100 lines; line 300 is past its end" in await box.said(
            "Read", file_path="a", offset=300
        )

    async def test_two_thousand_lines_a_call(self, box: Toolbox) -> None:
        (box.root / "a").write_text("x\n" * 5000, encoding="utf-8")
        said = await box.said("Read", file_path="a")
        assert said.count("\n") == 2001 and "lines 1-2000 of 5000" in said

    async def test_long_lines_are_cut(self, box: Toolbox) -> None:
        (box.root / "a").write_text("x" * 5000 + "\nshort\n", encoding="utf-8")
        said = await box.said("Read", file_path="a")
        assert "[... 3,000 more characters]" in said and "     2\tshort" in said
        assert "1 long line cut" in said

    async def test_a_hundred_thousand_characters_a_call(self, box: Toolbox) -> None:
        (box.root / "a").write_text(("y" * 999 + "\n") * 500, encoding="utf-8")
        said = await box.said("Read", file_path="a")
        assert 95_000 < len(said) < 101_000
        assert "go on with offset=100" in said

    async def test_empty(self, box: Toolbox) -> None:
        (box.root / "a").touch()
        assert await box.said("Read", file_path="a") == "[the file is empty]"

    @pytest.mark.parametrize(
        ("data", "encoding"),
        [
            (b"\xef\xbb\xbfa\xc3\xa4\n", ""),
            ("aä\n".encode("utf-16"), "encoding utf-16-le"),
            ("\ufeffaä\n".encode("utf-16-be"), "encoding utf-16-be"),
            ("aä\n".encode("utf-32"), "encoding utf-32-le"),
            (b"a\xe4\n", "encoding latin-1"),
        ],
    )
    async def test_encodings(self, box: Toolbox, data: bytes, encoding: str) -> None:
        (box.root / "a").write_bytes(data)
        said = await box.said("Read", file_path="a")
        assert said.startswith("     1\taä") and encoding in said

    async def test_line_ends_and_odd_characters(self, box: Toolbox) -> None:
        (box.root / "a").write_bytes(b"a\r\nb\rc\n\x1b[31md\xe2\x80\xaee\n")
        said = await box.said("Read", file_path="a")
        assert said.split("\n") == [
            "     1\ta",
            "     2\tb",
            "     3\tc",
            "     4\t\u241b[31md\\u202ee",
        ]

    async def test_a_cr_lf_split_between_chunks_is_one_end(self, box: Toolbox) -> None:
        size = 1024 * 1024
        (box.root / "a").write_bytes(b"x" * (size - 1) + b"\r\nlast\r\n")
        assert "     2\tlast" in await box.said("Read", file_path="a")


class TestUnchanged:
    async def test_the_same_part_again_is_a_stub(self, box: Toolbox) -> None:
        (box.root / "a").write_text("one\ntwo\n", encoding="utf-8")
        await box.said("Read", file_path="a")
        assert "has not changed" in await box.said("Read", file_path="a")
        assert "two" in await box.said("Read", file_path="a", offset=2)
        (box.root / "a").write_text("one\n2\n", encoding="utf-8")
        assert "     2\t2" in await box.said("Read", file_path="a")

    async def test_after_an_edit_the_content_is_shown(self, box: Toolbox) -> None:
        (box.root / "a").write_text("one\n", encoding="utf-8")
        await box.said("Read", file_path="a")
        await box.said("Edit", file_path="a", old_string="one", new_string="two")
        assert "two" in await box.said("Read", file_path="a")
        await box.said("Edit", file_path="a", old_string="two", new_string="one")
        assert "one" in await box.said("Read", file_path="a")

    async def test_after_the_context_was_cleared_it_is_shown(self, box: Toolbox) -> None:
        (box.root / "a").write_text("one\n", encoding="utf-8")
        await box.said("Read", file_path="a")
        box.ledger.forget_shown()
        assert "     1\tone" in await box.said("Read", file_path="a")


class TestRefusals:
    async def test_binary(self, box: Toolbox) -> None:
        (box.root / "a").write_bytes(b"\x7fELF\0\0\0\1")
        assert "binary file of 8 bytes" in await box.refused("Read", file_path="a")

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty", "/dev/random"])
    async def test_devices_also_through_links(self, box: Toolbox, device: str) -> None:
        (box.root / "link").symlink_to(device)
        for path in (device, "link"):
            assert "character device" in await box.refused("Read", file_path=path)

    async def test_a_fifo_does_not_block(self, box: Toolbox) -> None:
        os.mkfifo(box.root / "pipe")
        async with asyncio.timeout(PATIENCE):
            assert "a FIFO" in await box.refused("Read", file_path="pipe")

    async def test_a_socket(self, box: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(box.root)  # socket paths are short
        server = await asyncio.start_unix_server(lambda r, w: None, "sock")
        async with server:
            assert "a socket" in await box.refused("Read", file_path="sock")

    async def test_a_directory(self, box: Toolbox) -> None:
        assert "is a directory" in await box.refused("Read", file_path=".")

    async def test_a_missing_file_names_near_ones(self, box: Toolbox) -> None:
        (box.root / "src").mkdir()
        (box.root / "src" / "config.py").touch()
        assert "Near names there: config.py" in await box.refused("Read", file_path="src/confg.py")
        assert "has no scr. Near names there: src" in await box.refused(
            "Read", file_path="scr/config.py"
        )

    async def test_a_link_swapped_after_the_decision(self, box: Toolbox) -> None:
        for name in ("judged", "other"):
            (box.root / name).write_text(name, encoding="utf-8")
        (box.root / "link").symlink_to("other")
        box.set(real={box.root / "link": box.root / "judged"})
        assert "nobody agreed to" in await box.refused("Read", file_path="link")

    async def test_text_that_starts_like_a_picture(self, box: Toolbox) -> None:
        (box.root / "a").write_text("BMW is a car\n", encoding="utf-8")
        assert "BMW is a car" in await box.said("Read", file_path="a")

    async def test_a_loop_of_links_and_a_bad_name(self, box: Toolbox) -> None:
        (box.root / "loop").symlink_to("loop")
        assert "Cannot read" in await box.refused("Read", file_path="loop")
        assert "Cannot read" in await box.refused("Read", file_path="a\0b")


class TestSize:
    @pytest.fixture
    def huge(self, box: Toolbox) -> Path:
        """2 GB: a thousand lines, then a hole."""
        path = box.root / "huge.txt"
        with path.open("wb") as file:
            file.write(b"".join(b"line %d\n" % i for i in range(1, 30_001)))
            file.truncate(2 * 1024**3)
        return path

    async def test_the_start_of_2_gb_is_cheap(self, box: Toolbox, huge: Path) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.monotonic()
        said = await box.said("Read", file_path="huge.txt", offset=20_000, limit=3)
        assert said.startswith(" 20000\tline 20000\n")
        assert "2,147,483,648 bytes in all" in said
        assert time.monotonic() - began < 20
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB

    async def test_one_line_of_100_mb_needs_no_memory(self, box: Toolbox) -> None:
        path = box.root / "line.txt"
        block = b"x" * 1_000_000
        with path.open("wb") as file:
            for _ in range(100):
                file.write(block)
            file.write(b"\nend\n")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said = await box.said("Read", file_path="line.txt")
        assert "[... 99,998,000 more characters]" in said and "     2\tend" in said
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


class TestPictures:
    @pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
    async def test_a_small_one_is_passed_on(self, box: Toolbox, form: str) -> None:
        from PIL import Image

        path = box.root / "picture.dat"
        Image.new("RGB", (40, 30), "red").save(path, form)
        result = await box.call("Read", file_path="picture.dat")
        (image,) = images(result)
        assert base64.b64decode(image.data) == path.read_bytes()
        assert image.media_type == f"image/{form.lower()}"
        assert result.view == (ImageBlock(image.media_type, "40x30", str(path)),)

    @pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF"])
    async def test_a_large_one_is_scaled_down(self, box: Toolbox, form: str) -> None:
        from PIL import Image

        Image.effect_noise((4000, 1000), 90).convert("RGB").save(box.root / "p", form)
        (image,) = images(await box.call("Read", file_path="p"))
        data = base64.b64decode(image.data)
        with Image.open(io.BytesIO(data)) as small:
            assert max(small.size) <= 1568
        assert len(image.data) <= 5_000_000

    async def test_a_decompression_bomb_is_refused(self, box: Toolbox) -> None:
        from PIL import Image

        Image.new("1", (20_000, 20_000)).save(box.root / "bomb.png")
        began = time.monotonic()
        assert "too large to decode" in await box.refused("Read", file_path="bomb.png")
        assert time.monotonic() - began < 20

    async def test_one_that_is_small_enough_is_sent_as_it_is(self, box: Toolbox) -> None:
        from PIL import Image

        Image.effect_noise((900, 900), 90).save(
            box.root / "p.jpg", exif=b"Exif\0\0" + b"x" * 60_000
        )
        (image,) = images(await box.call("Read", file_path="p.jpg"))
        assert base64.b64decode(image.data) == (box.root / "p.jpg").read_bytes()

    async def test_one_that_is_cut_is_refused(self, box: Toolbox) -> None:
        (box.root / "p.png").write_bytes(base64.b64decode(DOT)[:45])
        assert "damaged image" in await box.refused("Read", file_path="p.png")

    async def test_a_damaged_one_is_refused(self, box: Toolbox) -> None:
        (box.root / "p.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"junk" * 50)
        assert "damaged image" in await box.refused("Read", file_path="p.png")


class TestPdf:
    @pytest.fixture
    def book(self, box: Toolbox) -> Path:
        path = box.root / "book.pdf"
        path.write_bytes(pdf([f"This is the text on page {n} of the book." for n in range(1, 301)]))
        return path

    async def test_a_range_of_300_pages(self, box: Toolbox, book: Path) -> None:
        began = time.monotonic()
        said = await box.said("Read", file_path="book.pdf", pages="250-252,300")
        assert [n for n in range(1, 301) if f"on page {n} of" in said] == [250, 251, 252, 300]
        assert time.monotonic() - began < 20

    @pytest.mark.parametrize(
        ("pages", "why"),
        [
            (None, "has 300 pages"),
            ("1-21", "At most 20 pages"),
            ("301", "has 300 pages"),
            ("5-2", "has 300 pages"),
            ("0", "has 300 pages"),
            ("x", "write it as"),
        ],
    )
    async def test_a_wrong_range(
        self, box: Toolbox, book: Path, pages: str | None, why: str
    ) -> None:
        assert why in await box.refused("Read", file_path="book.pdf", pages=pages)

    async def test_a_page_without_text_is_a_picture(self, box: Toolbox) -> None:
        (box.root / "scan.pdf").write_bytes(pdf([""]))
        (image,) = images(await box.call("Read", file_path="scan.pdf"))
        assert image.media_type == "image/png"

    async def test_a_damaged_one_is_refused(self, box: Toolbox) -> None:
        (box.root / "bad.pdf").write_bytes(b"%PDF-1.4\nnothing")
        assert "cannot be opened" in await box.refused("Read", file_path="bad.pdf")


def pdf(pages: list[str]) -> bytes:
    """A minimal PDF with one line of text a page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids: list[int] = []
    for line in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET".encode() if line else b""
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        content = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % content
        )
        kids.append(len(objects))
    listed = " ".join(f"{kid} 0 R" for kid in kids).encode()
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, start)
    return bytes(out)


DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NOTEBOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "id": "sum",
            "metadata": {},
            "outputs": [
                {"name": "stdout", "output_type": "stream", "text": ["\x1b[31m4\x1b[0m\n"]},
                {
                    "data": {"image/png": DOT + "\n", "text/plain": ["<Figure>"]},
                    "metadata": {},
                    "output_type": "display_data",
                },
                {
                    "ename": "E",
                    "evalue": "v",
                    "output_type": "error",
                    "traceback": ["Traceback", "E: v"],
                },
            ],
            "source": "print(2 + 2)",
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def notebook(box: Toolbox, **style: object) -> Path:
    path = box.root / "book.ipynb"
    usual: dict[str, object] = {"indent": 1, "ensure_ascii": False, **style}
    path.write_text(json.dumps(NOTEBOOK, **usual) + "\n", encoding="utf-8")  # type: ignore[arg-type]
    return path


class TestNotebook:
    @pytest.mark.parametrize("tool", ["Read", "NotebookRead"])
    async def test_cells_and_outputs(self, box: Toolbox, tool: str) -> None:
        notebook(box)
        field = {"Read": "file_path", "NotebookRead": "notebook_path"}[tool]
        result = await box.call(tool, **{field: "book.ipynb"})
        said = text(result)
        assert "<cell id=intro markdown>\n# Title\ntext\n</cell>" in said
        assert "<cell id=sum code python>\nprint(2 + 2)\n</cell>" in said
        assert "<output>\n4\n</output>" in said and "E: v" in said
        assert [image.data for image in images(result)] == [DOT]

    async def test_one_cell(self, box: Toolbox) -> None:
        notebook(box)
        said = await box.said("NotebookRead", notebook_path="book.ipynb", cell_id="intro")
        assert "Title" in said and "print" not in said

    async def test_what_is_no_notebook(self, box: Toolbox) -> None:
        (box.root / "book.ipynb").write_text("{}", encoding="utf-8")
        assert "no valid notebook" in await box.refused("Read", file_path="book.ipynb")


class TestNotebookEdit:
    @pytest.mark.parametrize("style", [{"indent": 1}, {"indent": 2}, {"indent": None}])
    async def test_replacing_keeps_everything_else(
        self, box: Toolbox, style: dict[str, object]
    ) -> None:
        path = notebook(box, **style)
        await box.said("NotebookRead", notebook_path="book.ipynb")
        await box.said(
            "NotebookEdit", notebook_path="book.ipynb", cell_id="intro", new_source="# New\nline"
        )
        expected = json.loads(json.dumps(NOTEBOOK))
        expected["cells"][0]["source"] = ["# New\n", "line"]
        usual: dict[str, object] = {"ensure_ascii": False, **style}
        assert path.read_text(encoding="utf-8") == json.dumps(expected, **usual) + "\n"  # type: ignore[arg-type]

    async def test_a_changed_code_cell_has_no_old_output(self, box: Toolbox) -> None:
        path = notebook(box)
        await box.said("Read", file_path="book.ipynb")
        await box.said(
            "NotebookEdit", notebook_path="book.ipynb", cell_id="sum", new_source="print(5)"
        )
        cell = json.loads(path.read_text(encoding="utf-8"))["cells"][1]
        assert (cell["source"], cell["outputs"], cell["execution_count"]) == ("print(5)", [], None)

    async def test_insert_and_delete(self, box: Toolbox) -> None:
        path = notebook(box)
        await box.said("Read", file_path="book.ipynb")
        change = {"notebook_path": "book.ipynb", "edit_mode": "insert", "new_source": "x = 1"}
        assert "cell_type is needed" in await box.refused("NotebookEdit", **change)
        await box.said("NotebookEdit", **change, cell_type="code", cell_id="intro")
        await box.said("NotebookEdit", **change, cell_type="markdown")
        await box.said(
            "NotebookEdit", notebook_path="book.ipynb", cell_id="sum", edit_mode="delete"
        )
        book = json.loads(path.read_text(encoding="utf-8"))
        kinds = [cell["cell_type"] for cell in book["cells"]]
        assert kinds == ["markdown", "markdown", "code"]
        inserted = book["cells"][2]
        assert inserted["outputs"] == [] and inserted["id"] and inserted["metadata"] == {}
        assert len({cell["id"] for cell in book["cells"]}) == 3

    async def test_an_unknown_cell_names_the_known(self, box: Toolbox) -> None:
        notebook(box)
        await box.said("Read", file_path="book.ipynb")
        said = await box.refused(
            "NotebookEdit", notebook_path="book.ipynb", cell_id="x", new_source=""
        )
        assert "It has: intro, sum" in said

    async def test_it_must_have_been_read(self, box: Toolbox) -> None:
        notebook(box)
        change = {"notebook_path": "book.ipynb", "cell_id": "sum", "new_source": "x"}
        assert "was not read yet" in await box.refused("NotebookEdit", **change)
