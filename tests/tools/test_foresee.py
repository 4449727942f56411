"""The change shown to who is asked: the file's own lines, without the file being changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import pytest

from gatewright.tools.blocks import Diff
from gatewright.tools.foresee import LARGEST
from gatewright.tools.protocol import ToolCall
from tests.fakes.toolbox import Toolbox

TEXT = "".join(f"line {number}\n" for number in range(1, 21))
CELLS: list[dict[str, object]] = [
    {"cell_type": "code", "metadata": {}, "source": f"x = {n}", "id": f"c{n}"} for n in (1, 2)
]


async def foreseen(box: Toolbox, name: str, /, **input: object) -> tuple[object, ...]:
    return await box.executor.foreseen(ToolCall("1", name, dict(input)), box.ctx.where)


def lines(view: tuple[object, ...]) -> list[str]:
    (block,) = view
    assert isinstance(block, Diff)
    return [
        row for hunk in block.hunks for row in (f"{hunk.old_start}/{hunk.new_start}", *hunk.lines)
    ]


EDIT = {"old_string": "line 10\n", "new_string": "ten\n"}
AROUND = ["7/7", " line 7", " line 8", " line 9", "-line 10", "+ten", " line 11", " line 12"]


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("Edit", EDIT),
        ("MultiEdit", {"edits": [EDIT]}),
        ("Write", {"content": TEXT.replace("line 10", "ten")}),
    ],
)
async def test_a_change_stands_among_the_lines_of_its_file(
    box: Toolbox, name: str, input: Mapping[str, object]
) -> None:
    path = box.root / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    view = await foreseen(box, name, file_path="a.txt", **input)
    assert lines(view) == [*AROUND, " line 13"]
    assert path.read_text(encoding="utf-8") == TEXT


async def test_what_is_shown_is_what_is_done(box: Toolbox) -> None:
    path = box.root / "a.txt"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    await box.said("Read", file_path="a.txt")
    before = await foreseen(box, "Edit", file_path="a.txt", **EDIT)
    assert (await box.call("Edit", file_path="a.txt", **EDIT)).view == before


async def test_edits_of_a_file_are_one_change(box: Toolbox) -> None:
    (box.root / "a.txt").write_text(TEXT, encoding="utf-8")
    twice = [EDIT, {"old_string": "ten", "new_string": "10"}]
    assert "+10" in lines(await foreseen(box, "MultiEdit", file_path="a.txt", edits=twice))


async def test_a_cell_is_shown_as_it_was(box: Toolbox) -> None:
    book = json.dumps({"cells": CELLS, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    (box.root / "n.ipynb").write_text(book, encoding="utf-8")
    view = await foreseen(
        box, "NotebookEdit", notebook_path="n.ipynb", cell_id="c2", new_source="x = 3"
    )
    assert lines(view) == ["1/1", "-x = 2", "+x = 3"]


async def test_where_it_cannot_be_told_nothing_is(box: Toolbox) -> None:
    (box.root / "a.txt").write_text("a\n", encoding="utf-8")
    (box.root / "binary").write_bytes(b"\0\1\2")
    (box.root / "large").write_bytes(b"line 10\n" * (LARGEST // 8 + 1))
    os.mkfifo(box.root / "fifo")
    for name in ("a.txt", "binary", "large", "fifo", "none", "."):
        assert await foreseen(box, "Edit", file_path=name, **EDIT) == ()
    assert await foreseen(box, "Edit", file_path="a.txt") == ()
    assert await foreseen(box, "Bash", command="ls") == ()
