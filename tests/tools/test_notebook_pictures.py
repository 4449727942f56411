"""A notebook that anybody wrote: its pictures are pictures, few and small, and its faults named."""

from __future__ import annotations

import base64
import json
import random
from io import BytesIO

import pytest

from gatewright.tools.documents.fitted import CHARS, PICTURES
from gatewright.tools.protocol import ImageContent, ToolResult
from tests.fakes.toolbox import Toolbox, text
from tests.tools.test_read import DOT

READERS = [("Read", "file_path"), ("NotebookRead", "notebook_path")]


def book(box: Toolbox, *outputs: object) -> None:
    cell: dict[str, object] = {"cell_type": "code", "id": "c", "source": "x", "outputs": outputs}
    write(box, json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def write(box: Toolbox, said: str) -> None:
    (box.root / "a.ipynb").write_text(said, encoding="utf-8")


def drawn(kind: str, data: object) -> dict[str, object]:
    return {"output_type": "display_data", "metadata": {}, "data": {kind: data}}


def pictures(result: ToolResult) -> list[ImageContent]:
    return [part for part in result.content if isinstance(part, ImageContent)]


def noise(edge: int) -> str:
    """A picture that no format makes small."""
    from PIL import Image

    made = Image.frombytes("RGB", (edge, edge), random.Random(edge).randbytes(edge * edge * 3))
    buffer = BytesIO()
    made.save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.mark.parametrize(("tool", "field"), READERS)
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("image/png", "bm90IGEgcG5n"),
        ("image/jpeg", "<script>"),
        ("image/png", ["a", "b\u00e9"]),
        ("image/gif", {"no": "text"}),
        ("image/webp", ""),
        ("image/png", base64.b64encode(base64.b64decode(DOT)[:45]).decode()),
    ],
)
async def test_what_is_no_image_becomes_one_line(
    box: Toolbox, tool: str, field: str, kind: str, data: object
) -> None:
    book(box, drawn(kind, data), drawn("image/png", DOT))
    result = await box.call(tool, **{field: "a.ipynb"})
    assert [image.data for image in pictures(result)] == [DOT]
    (line,) = text(result).splitlines()[3:]
    assert line.startswith("[The picture cannot be shown: it is ") and line.endswith(".]")


async def test_an_image_has_the_type_that_it_is(box: Toolbox) -> None:
    book(box, drawn("image/jpeg", DOT))
    (image,) = pictures(await box.call("Read", file_path="a.ipynb"))
    assert (image.media_type, image.data) == ("image/png", DOT)


async def test_pictures_are_few_good_or_not(box: Toolbox) -> None:
    book(box, *[drawn("image/png", "x")] * 5, *[drawn("image/png", DOT)] * 6)
    result = await box.call("Read", file_path="a.ipynb")
    assert len(pictures(result)) == PICTURES - 5
    assert text(result).count("cannot be shown") == 5
    assert text(result).endswith("[3 more pictures left out]")


async def test_pictures_are_small_together(box: Toolbox) -> None:
    book(box, *[drawn("image/png", noise(900))] * 3)
    result = await box.call("Read", file_path="a.ipynb")
    assert 0 < sum(len(image.data) for image in pictures(result)) <= CHARS
    assert text(result).endswith("[2 more pictures left out]")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("{", "it is not valid JSON, line 1: "),
        ("[1]", "its JSON is no object."),
        ("{}", "it has no list of cells."),
        ('{"cells": {"a": 1}}', "it has no list of cells."),
        ('{"cells": [1]}', "its cell 1 is no object with a cell_type."),
        ('{"cells": [{"cell_type": 1}]}', "its cell 1 is no object with a cell_type."),
        (
            '{"cells": [{"cell_type": "code", "outputs": 7}]}',
            "the outputs of its cell 1 are no list of objects.",
        ),
        (
            '{"cells": [{"cell_type": "code", "outputs": ["x"]}]}',
            "the outputs of its cell 1 are no list of objects.",
        ),
        ("[" * 100_000, "it is nested too deeply."),
        ('{"cells": ' + "9" * 5000 + "}", "it holds a number that is too large."),
    ],
)
async def test_what_is_wrong_with_a_notebook_is_a_sentence(
    box: Toolbox, said: str, why: str
) -> None:
    write(box, said)
    assert f"This is no valid notebook: {why}" in await box.refused("Read", file_path="a.ipynb")


@pytest.mark.parametrize(
    "extra",
    [
        '"metadata": []',
        '"metadata": {"language_info": "x", "kernelspec": 3}',
        '"nbformat": "x"',
    ],
)
async def test_what_is_odd_beside_the_cells_does_no_harm(box: Toolbox, extra: str) -> None:
    output = '{"output_type": "error", "traceback": 3}, {"data": [1]}'
    cell = f'{{"cell_type": "code", "source": 1, "outputs": [{output}]}}'
    write(box, f'{{"cells": [{cell}], {extra}}}')
    assert "<cell id=cell-0 code>" in await box.said("Read", file_path="a.ipynb")
    change = {"notebook_path": "a.ipynb", "edit_mode": "insert", "new_source": "y"}
    await box.said("NotebookEdit", **change, cell_type="code")


def _cell(**changes: object) -> dict[str, object]:
    return {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": "x", **changes}


def _book(*cells: dict[str, object], language: str = "") -> dict[str, object]:
    metadata = {"language_info": {"name": language}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.parametrize("tool", ["Read", "NotebookRead"])
async def test_what_is_said_with_every_cell_is_short(box: Toolbox, tool: str) -> None:
    book = _book(*[_cell(id="z" * 100_000)] * 300, language="q" * 100_000)
    (box.root / "n.ipynb").write_text(json.dumps(book), encoding="utf-8")
    name = "file_path" if tool == "Read" else "notebook_path"
    said = await box.said(tool, **{name: "n.ipynb"})
    assert len(said) < 20_000
    assert "<cell id=cell-299 code>" in said


async def test_nothing_in_a_cell_is_for_a_terminal(box: Toolbox) -> None:
    text = json.dumps(
        _book(_cell(source="a\x1b]0;t\x07\u202e\ud800", id="\x1b[2J", cell_type="\x1b"))
    )
    (box.root / "n.ipynb").write_text(text, encoding="utf-8")
    said = await box.said("Read", file_path="n.ipynb")
    assert said == "<cell id=cell-0 unknown>\na\u241b]0;t\u2407\\u202e\ufffd\n</cell>"


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
@pytest.mark.parametrize("ascii_only", [True, False])
async def test_a_notebook_stays_in_its_style(
    box: Toolbox, indent: str | int | None, ascii_only: bool
) -> None:
    def dumped(source: str) -> str:
        book = _book(_cell(source=source, execution_count=None, name="\u00e9"))
        return json.dumps(book, indent=indent, ensure_ascii=ascii_only) + "\n"

    (box.root / "n.ipynb").write_text(dumped("x"), encoding="utf-8")
    await box.said("Read", file_path="n.ipynb")
    await box.said("NotebookEdit", notebook_path="n.ipynb", cell_id="a", new_source="y")
    after = json.loads((box.root / "n.ipynb").read_text(encoding="utf-8"))
    written = json.dumps(after, indent=indent, ensure_ascii=ascii_only) + "\n"
    assert (box.root / "n.ipynb").read_text(encoding="utf-8") == written
