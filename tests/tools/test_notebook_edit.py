"""NotebookEdit: notebooks alone, and nothing is written that is there already."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.toolbox import Toolbox

CELL: dict[str, Any] = {"id": "c1", "cell_type": "markdown", "metadata": {}, "source": "# Hello"}
BOOK: dict[str, Any] = {"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


async def test_another_kind_of_file_is_sent_to_edit(box: Toolbox) -> None:
    (box.root / "a.py").write_text("x = 1\n", encoding="utf-8")
    said = await box.refused("NotebookEdit", notebook_path="a.py", cell_id="c1", new_source="y")
    assert "a.py is no notebook" in said and "Edit" in said


async def test_the_same_source_again_is_said_and_not_written(box: Toolbox) -> None:
    path = box.root / "a.ipynb"
    path.write_text(json.dumps(BOOK), encoding="utf-8")
    await box.said("Read", file_path="a.ipynb")
    before = path.stat()
    result = await box.call(
        "NotebookEdit", notebook_path="a.ipynb", cell_id="c1", new_source="# Hello"
    )
    assert (result.ok, result.summary) == (True, "unchanged")
    assert path.stat().st_ino == before.st_ino
