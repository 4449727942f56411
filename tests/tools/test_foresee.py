"""The change shown to who is asked: the file's own lines, without the file being changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import pytest

from gatewright.tools.access import Where
from gatewright.tools.blocks import Code, Diff
from gatewright.tools.calls import Foreseen
from gatewright.tools.protocol import ToolCall
from tests.fakes.toolbox import Toolbox, text

TEXT = "".join(f"line {number}\n" for number in range(1, 21))
CELLS: list[dict[str, object]] = [
    {"cell_type": "code", "metadata": {}, "source": f"x = {n}", "id": f"c{n}"} for n in (1, 2)
]


async def foreseen(box: Toolbox, name: str, /, **input: object) -> Foreseen:
    prepared = await box.executor.prepare(ToolCall("1", name, dict(input)), box.ctx.where)
    return await box.executor.foresee(prepared, box.ctx)


def error(seen: Foreseen) -> str:
    return "" if seen.failed is None else text(seen.failed)


async def shown(box: Toolbox, name: str, /, **input: object) -> tuple[object, ...]:
    """What is shown of a call that may be asked about, with all files read before."""
    for path in box.root.rglob("*.*"):
        box.ledger.note(path, path.read_bytes())
    seen = await foreseen(box, name, **input)
    assert seen.failed is None, error(seen)
    return seen.view


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
    view = await shown(box, name, file_path="a.txt", **input)
    assert lines(view) == [*AROUND, " line 13"]
    assert path.read_text(encoding="utf-8") == TEXT


async def test_what_is_shown_is_what_is_done(box: Toolbox) -> None:
    path = box.root / "a.txt"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    await box.said("Read", file_path="a.txt")
    before = await shown(box, "Edit", file_path="a.txt", **EDIT)
    assert (await box.call("Edit", file_path="a.txt", **EDIT)).view == before


async def test_edits_of_a_file_are_one_change(box: Toolbox) -> None:
    (box.root / "a.txt").write_text(TEXT, encoding="utf-8")
    twice = [EDIT, {"old_string": "ten", "new_string": "10"}]
    assert "+10" in lines(await shown(box, "MultiEdit", file_path="a.txt", edits=twice))


async def test_a_cell_is_shown_as_it_was(box: Toolbox) -> None:
    book = json.dumps({"cells": CELLS, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    (box.root / "n.ipynb").write_text(book, encoding="utf-8")
    view = await shown(
        box, "NotebookEdit", notebook_path="n.ipynb", cell_id="c2", new_source="x = 3"
    )
    assert lines(view) == ["1/1", "-x = 2", "+x = 3"]


async def test_a_new_file_is_its_content_under_its_own_name(box: Toolbox) -> None:
    box.set(where=Where(box.root / "src", box.root, box.ctx.where.home))
    seen = await shown(box, "Write", file_path="src/a.py", content="a\n")
    assert seen == (Code("a\n", path="src/src/a.py"),)


STANDS = {"old_string": "line 10", "new_string": "ten"}
TWICE = {"old_string": "line 1", "new_string": "one"}
HOPELESS: list[tuple[str, dict[str, object], str]] = [
    ("Edit", {"file_path": "a.txt", **STANDS, "old_string": "line 99"}, "is not in the file"),
    ("Edit", {"file_path": "a.txt", **TWICE}, "old_string"),
    ("Edit", {"file_path": "a.txt", "old_string": "x", "new_string": "x"}, "nothing to change"),
    ("Edit", {"file_path": "none.txt", **STANDS}, "none.txt does not exist"),
    ("Edit", {"file_path": "unread", **STANDS}, "was not read yet"),
    ("Edit", {"file_path": "stale.txt", **STANDS}, "changed since it was read"),
    ("Edit", {"file_path": "locked.txt", **STANDS}, "locked.txt is read-only"),
    ("Edit", {"file_path": ".", **STANDS}, "is a directory"),
    ("Edit", {"file_path": "fifo", **STANDS}, "fifo"),
    ("Edit", {"file_path": "bin.dat", **STANDS}, "binary"),
    ("MultiEdit", {"file_path": "a.txt", "edits": [STANDS, STANDS]}, "Edit 2 of 2"),
    ("Write", {"file_path": ".", "content": "x"}, "is a directory"),
    ("Write", {"file_path": "unread", "content": "x"}, "was not read yet"),
    ("Write", {"file_path": "a.txt/b", "content": "x"}, "a.txt/b"),
    ("Write", {"file_path": "locked.txt", "content": "x"}, "read-only"),
    ("NotebookEdit", {"notebook_path": "a.txt", "cell_id": "c1"}, "a.txt is no notebook"),
    ("NotebookEdit", {"notebook_path": "n.ipynb", "cell_id": "c9"}, "no cell c9"),
    ("NotebookEdit", {"notebook_path": "none.ipynb", "cell_id": "c1"}, "does not exist"),
]


@pytest.mark.parametrize(("name", "input", "said"), HOPELESS)
async def test_what_cannot_succeed_is_told_before_in_the_words_of_the_tool(
    box: Toolbox, name: str, input: dict[str, object], said: str
) -> None:
    book = json.dumps({"cells": CELLS, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    files = {"a.txt": TEXT, "stale.txt": TEXT, "locked.txt": TEXT, "n.ipynb": book}
    for each, content in files.items():
        (box.root / each).write_text(content, encoding="utf-8")
    (box.root / "bin.dat").write_bytes(b"\0\1\2")
    for path in box.root.iterdir():
        box.ledger.note(path, path.read_bytes())
    (box.root / "stale.txt").write_text("other\n", encoding="utf-8")
    (box.root / "unread").write_text("line 10\n", encoding="utf-8")
    (box.root / "locked.txt").chmod(0o444)
    os.mkfifo(box.root / "fifo")
    seen = await foreseen(box, name, **input)
    assert said in error(seen)
    assert seen.view == (), "no difference is invented for it"
    assert await box.refused(name, **input) == error(seen)


async def test_an_edit_of_a_large_file_has_its_line_numbers(box: Toolbox) -> None:
    path = box.root / "large.txt"
    path.write_text("".join(f"{n} of many lines\n" for n in range(1, 200_001)), encoding="utf-8")
    edit = {"old_string": "150000 of many lines\n", "new_string": ""}
    assert lines(await shown(box, "Edit", file_path="large.txt", **edit))[0] == "149997/149997"


async def test_calls_that_change_no_file_are_left_alone(box: Toolbox) -> None:
    assert await foreseen(box, "Bash", command="ls") == Foreseen()


async def test_a_wrong_name_outside_of_the_project_lists_nothing_of_there(box: Toolbox) -> None:
    outside = box.root.parent / "secrets"
    outside.mkdir()
    (outside / "passwords.txt").write_text("x", encoding="utf-8")
    for path in (outside / "password.txt", outside / "pass" / "a.txt"):
        seen = await foreseen(box, "Edit", file_path=str(path), **STANDS)
        assert f"{path} does not exist" in error(seen)
        assert "passwords" not in error(seen)


async def test_a_wrong_name_lists_nothing_that_a_rule_hides(box: Toolbox) -> None:
    for name in ("notes.txt", "notes.key"):
        (box.root / name).write_text("x", encoding="utf-8")

    def readable(path: str) -> bool:
        return not path.endswith(".key")

    box.set(readable=readable)
    seen = await foreseen(box, "Edit", file_path="notes.md", **STANDS)
    assert "notes.txt" in error(seen)
    assert "notes.key" not in error(seen)
