"""What people see of each tool, before it ran and after, in the plain form every front end has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gatewright.tools import registry
from gatewright.tools.blocks import Block, Unknown, plain
from gatewright.tools.interact import Answer
from tests.fakes.toolbox import Toolbox

QUESTION = {
    "question": "Which?",
    "header": "Which",
    "options": [{"label": "One"}, {"label": "Two"}],
}

# tool -> input, (verb, target), before, after, outcome
SEEN: dict[str, tuple[dict[str, Any], tuple[str, str], str, str, str]] = {
    "Read": ({"file_path": "a.py"}, ("Read", "a.py"), "", "2 lines", "2 lines"),
    "Write": (
        {"file_path": "new.py", "content": "x = 1\n"},
        ("Write", "new.py"),
        "x = 1\n",
        "new.py  +1 -0\n@@ -1 +1 @@\n+x = 1",
        "1 line",
    ),
    "Edit": (
        {"file_path": "a.py", "old_string": "two", "new_string": "2"},
        ("Edit", "a.py"),
        "a.py  +1 -1\n@@ -1 +1 @@\n-two\n+2",
        "a.py  +1 -1\n@@ -1 +1 @@\n one\n-two\n+2",
        "+1 -1",
    ),
    "MultiEdit": (
        {"file_path": "a.py", "edits": [{"old_string": "one", "new_string": "1"}]},
        ("Edit", "a.py"),
        "a.py  +1 -1\n@@ -1 +1 @@\n-one\n+1",
        "a.py  +1 -1\n@@ -1 +1 @@\n-one\n+1\n two",
        "+1 -1",
    ),
    "Bash": (
        {"command": "echo hi; exit 2", "description": "Say hi"},
        ("Run", "echo hi; exit 2"),
        "$ echo hi; exit 2",
        "hi\n(exit 2)",
        "exit 2",
    ),
    "Glob": ({"pattern": "*.py"}, ("Find", "*.py"), "", "a.py", "1 file"),
    "Grep": (
        {"pattern": "two", "output_mode": "content"},
        ("Search", "two"),
        "",
        "a.py:2:two",
        "1 line",
    ),
    "NotebookRead": (
        {"notebook_path": "n.ipynb"},
        ("Read", "n.ipynb"),
        "",
        "1 cell",
        "1 cell",
    ),
    "NotebookEdit": (
        {"notebook_path": "n.ipynb", "cell_id": "cell-0", "new_source": "b"},
        ("Edit", "n.ipynb"),
        "b",
        "n.ipynb  +1 -1\n@@ -1 +1 @@\n-a\n+b",
        "+1 -1",
    ),
    "TodoWrite": (
        {"todos": [{"content": "Do", "status": "in_progress", "activeForm": "Doing"}]},
        ("Plan", "0 of 1 done"),
        "",
        "[>] Doing",
        "0/1",
    ),
    "TaskCreate": ({"subject": "Build"}, ("Add task", "Build"), "Build", "[ ] Build", "#1"),
    "AskUserQuestion": (
        {"questions": [QUESTION]},
        ("Ask", "Which"),
        "Which?",
        "Question  Answer\nWhich?    Two",
        "Two",
    ),
}


def drawn(blocks: Sequence[Block]) -> str:
    return "\n".join(plain(block) for block in blocks)


@pytest.mark.parametrize("name", SEEN)
async def test_what_people_see(box: Toolbox, name: str) -> None:
    (box.root / "a.py").write_text("one\ntwo\n", encoding="utf-8")
    notebook = '{"cells": [{"cell_type": "raw", "metadata": {}, "source": "a"}]}'
    (box.root / "n.ipynb").write_text(notebook, encoding="utf-8")
    box.ledger.note(box.root / "a.py", b"one\ntwo\n")
    box.ledger.note(box.root / "n.ipynb", notebook.encode())
    box.answers = [Answer(("Two",))]
    input, title, before, after, outcome = SEEN[name]
    facts = await box.facts(name, **input)
    assert ((facts.verb, facts.target), drawn(facts.view)) == (title, before)
    result = await box.call(name, **input)
    assert (drawn(result.view), result.summary) == (after, outcome)


@pytest.mark.parametrize("name", SEEN)
async def test_a_failure_is_seen(box: Toolbox, name: str) -> None:
    result = await box.call(name, nonsense=1, file_path=3, command="", path=7, todos=8)
    if not result.ok:
        assert drawn(result.view).startswith(f"{name} was not run, its input is wrong:")


async def test_a_block_nobody_knows_still_prints() -> None:
    assert plain(Unknown("chart", {"bars": [1, 2]})) == '[chart] {"bars":[1,2]}'


def test_the_tools_without_a_picture_here_are_few() -> None:
    elsewhere = {"WebFetch", "WebSearch", "EnterPlanMode", "ExitPlanMode"}  # own tests
    quiet = {"TaskOutput", "TaskStop", "TaskUpdate", "TaskList", "TaskGet"}
    assert registry.TOOLS.keys() - SEEN.keys() == elsewhere | quiet
