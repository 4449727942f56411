"""One turn in which every built-in tool really runs, as an editor is told of it, kept in a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gatewright.tools.registry import TOOLS
from tests.acp.fake_editor import USUAL, Editor, editor

GOLDEN = Path(__file__).with_name("golden_tools.json")
CELL: dict[str, Any] = {
    "cell_type": "code",
    "id": "c1",
    "metadata": {},
    "outputs": [],
    "source": ["1 + 1"],
}
NOTEBOOK: dict[str, Any] = {"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
QUESTION = {
    "question": "Which way?", "header": "Way", "multiSelect": False,
    "options": [{"label": "Left", "description": "l"}, {"label": "Right", "description": "r"}],
}  # fmt: skip
# In this order: a later one is about what an earlier one left.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Read", {"file_path": "notes.txt"}),
    ("Edit", {"file_path": "notes.txt", "old_string": "beta", "new_string": "gamma"}),
    (
        "MultiEdit",
        {
            "file_path": "notes.txt",
            "edits": [
                {"old_string": "alpha", "new_string": "one"},
                {"old_string": "gamma", "new_string": "two"},
            ],
        },
    ),
    ("Write", {"file_path": "new.txt", "content": "fresh\n"}),
    ("Bash", {"command": "cat new.txt; exit 3"}),
    ("Glob", {"pattern": "*.txt"}),
    ("Grep", {"pattern": "two", "output_mode": "content"}),
    ("NotebookRead", {"notebook_path": "book.ipynb"}),
    ("NotebookEdit", {"notebook_path": "book.ipynb", "cell_id": "c1", "new_source": "2 + 2"}),
    ("TodoWrite", {"todos": [{"content": "one", "activeForm": "one", "status": "pending"}]}),
    ("TaskCreate", {"subject": "paint", "description": "the wall"}),
    ("TaskUpdate", {"taskId": "1", "status": "in_progress"}),
    ("TaskGet", {"taskId": "1"}),
    ("TaskList", {}),
    ("Bash", {"command": "sleep 600", "run_in_background": True}),
    ("TaskOutput", {"task_id": "shell_1", "block": False}),
    ("TaskStop", {"task_id": "shell_1"}),
    ("WebFetch", {"url": "http://127.0.0.1:9/page", "prompt": "what is it?"}),
    ("WebSearch", {"query": "walls"}),
    ("AskUserQuestion", {"questions": [QUESTION]}),
    ("EnterPlanMode", {}),
    ("ExitPlanMode", {"plan": "# Plan\n\nPaint it."}),
]
CHANGING = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,27}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d[-T0-9:.Z+]*"), "DATE"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s)\b"), "TIME"),
    (re.compile(r"/t/home/[^\s`]+"), "/t/FILE."),
)


async def told(tmp_path: Path) -> tuple[Editor, list[Any]]:
    project = tmp_path / "project"
    project.mkdir()
    (project / "notes.txt").write_text("alpha\nbeta\n", encoding="utf-8")
    (project / "book.ipynb").write_text(json.dumps(NOTEBOOK), encoding="utf-8")
    script = [f"call: {name} {json.dumps(given)}" for name, given in CALLS]
    options = replace(USUAL, tools=tuple(TOOLS))
    own = {"web": {"search": "searxng", "searchUrl": "http://127.0.0.1:9"}}  # nobody is there
    async with editor(tmp_path, *script, "say: Done.", options=options, own=own) as ed:

        async def permission(params: dict[str, Any]) -> Any:
            ids = [each["optionId"] for each in params["options"]]
            return {"outcome": {"outcome": "selected", "optionId": ids[0]}}

        ed.handlers["session/request_permission"] = permission
        session = await ed.new()
        await ed.turn(session, "go")
        return ed, [
            each
            for each in ed.updates(session)
            if each["sessionUpdate"] == "plan"
            or "status" in each  # what runs says more in its time
        ]


def steady(updates: list[Any], tmp_path: Path) -> Any:
    text = json.dumps(updates, indent=1, ensure_ascii=False)
    text = text.replace(f"{tmp_path}/project", "/p").replace(str(tmp_path), "/t")
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return json.loads(text)


async def test_what_every_tool_does_is_told_as_it_was(tmp_path: Path) -> None:
    """Made anew with: rm tests/acp/golden_tools.json, and this test once more."""
    schema = pytest.importorskip("acp.schema", reason="the package is in the extra dev")
    assert {name for name, _ in CALLS} == set(TOOLS)
    _, updates = await told(tmp_path)
    for update in updates:
        read = schema.SessionNotification.model_validate({"sessionId": "s", "update": update})
        assert read.update.session_update == update["sessionUpdate"]
    found = steady(updates, tmp_path)
    if not GOLDEN.exists():
        text = json.dumps(found, indent=1, ensure_ascii=False)
        GOLDEN.write_text(f"{text}\n", encoding="utf-8")
        pytest.fail("the file was not there; look at what was written")
    assert found == json.loads(GOLDEN.read_text(encoding="utf-8"))
