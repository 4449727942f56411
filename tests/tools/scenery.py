"""A project, a page, a plan and tasks, and for every built-in tool a call that fits in there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gatewright.agent.session.jobs import SessionJobs
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer
from gatewright.tools.services import Hit, PlanStart
from tests.fakes.toolbox import Toolbox
from tests.fakes.waiting import PATIENCE
from tests.fakes.website import page, website

CODE = '''\
"""Rates and taxes."""

RATE = 0.19


def tax(amount: float) -> float:
    return amount * RATE


def total(amount: float) -> float:
    return amount + tax(amount)


def rounded(amount: float) -> float:
    return round(total(amount), 2)
'''
CELLS: list[dict[str, object]] = [
    {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": "# Sales"},
    {
        "cell_type": "code",
        "id": "load",
        "metadata": {},
        "source": "rows = load()\nlen(rows)",
        "execution_count": 1,
        "outputs": [
            {
                "output_type": "execute_result",
                "data": {"text/plain": "42"},
                "metadata": {},
                "execution_count": 1,
            }
        ],
    },
]
PLAN = "# Round once\n\n1. Move `round` into `total`.\n2. Delete `rounded`.\n"
SITE = b"<h1>Rates</h1><p>The rate is <b>19 %</b>.</p><ul><li>books: 7 %</li></ul>"

CALLS: dict[str, dict[str, Any]] = {
    "Read": {"file_path": "src/tax.py", "offset": 3, "limit": 5},
    "Write": {"file_path": "src/tax.py", "content": CODE.replace("0.19", "0.07")},
    "Edit": {
        "file_path": "src/tax.py",
        "old_string": "return amount + tax(amount)",
        "new_string": "return round(amount + tax(amount), 2)",
    },
    "MultiEdit": {
        "file_path": "src/tax.py",
        "edits": [
            {"old_string": "RATE", "new_string": "VAT", "replace_all": True},
            {"old_string": "VAT = 0.19", "new_string": "VAT = 0.2"},
        ],
    },
    "Bash": {
        "command": "cat src/tax.py | wc -l\ngrep -c def src/tax.py; exit 3",
        "description": "Count lines and functions",
    },
    "Glob": {"pattern": "**/*.py"},
    "Grep": {"pattern": "def \\w+", "output_mode": "content", "-C": 1, "head_limit": 5},
    "NotebookRead": {"notebook_path": "sales.ipynb"},
    "NotebookEdit": {
        "notebook_path": "sales.ipynb",
        "cell_id": "load",
        "new_source": "rows = load(2026)\nlen(rows)",
    },
    "WebFetch": {"url": "http://127.0.0.1/rates", "prompt": "What is the rate?"},
    "WebSearch": {"query": "value added tax rates"},
    "TaskOutput": {"task_id": "shell_1"},
    "TaskStop": {"task_id": "shell_2"},
    "TaskCreate": {"subject": "Round once", "description": "In total()."},
    "TaskUpdate": {"taskId": "1", "status": "in_progress"},
    "TaskList": {},
    "TaskGet": {"taskId": "1"},
    "AskUserQuestion": {
        "questions": [
            {
                "question": "Which rate should new invoices use?",
                "header": "Rate",
                "options": [
                    {"label": "19 %", "description": "As now"},
                    {"label": "7 %", "description": "For books"},
                ],
            }
        ]
    },
    "EnterPlanMode": {},
    "ExitPlanMode": {},
    "TodoWrite": {
        "todos": [
            {"content": "Find the rate", "status": "completed"},
            {"content": "Round", "status": "in_progress", "activeForm": "Rounding"},
            {"content": "Test", "status": "pending"},
        ]
    },
}


class Service:
    """A search service with two answers."""

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        return [
            Hit("VAT rates in Europe", "https://rates.example/europe", f"About {query}."),
            Hit("How VAT works", "https://tax.example/vat", "An introduction."),
        ]


class Plan:
    """Plan mode, on or off as the scene needs it."""

    def __init__(self, path: Path, *, on: bool) -> None:
        self._path = path
        self._on = on

    @property
    def path(self) -> Path:
        return self._path

    @property
    def back(self) -> str:
        return "default"

    def active(self) -> bool:
        return self._on

    def enter(self) -> None:
        self._on = True

    def leave(self, start: PlanStart, plan: str) -> None:
        self._on = False


@asynccontextmanager
async def scenery(box: Toolbox, name: str) -> AsyncGenerator[dict[str, Any]]:
    """Everything the call of that tool needs; yields its input."""
    _files(box)
    plan = box.root / "plan.md"
    plan.write_text(PLAN, encoding="utf-8")
    box.set(planning=Plan(plan, on=name == "ExitPlanMode"), searcher=Service())
    box.answers = [Answer(("edit" if name == "ExitPlanMode" else "7 %",))]
    call = dict(CALLS[name])
    jobs = SessionJobs(lambda agent, text: None, lambda changed: None)
    box.set(jobs=jobs.of(MAIN))
    try:
        if name in ("TaskOutput", "TaskStop"):
            await _background(box, jobs)
        if name.startswith("Task"):
            await box.said("TaskCreate", subject="Find the rate", description="It is in tax.py.")
            await box.said("TaskCreate", subject="Test it")
            await box.said("TaskUpdate", taskId="2", addBlockedBy=["1"])
        async with website({"/rates": page(SITE)}) as site:
            if name == "WebFetch":
                call["url"] = f"{site.url}/rates"
            yield call
    finally:
        await jobs.close()


def _files(box: Toolbox) -> None:
    notebook = json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    for path, text in (("src/tax.py", CODE), ("sales.ipynb", notebook)):
        file = box.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        box.ledger.note(file, text.encode())


async def _background(box: Toolbox, jobs: SessionJobs) -> None:
    """shell_1 has ended, shell_2 goes on."""
    for command in ("echo 12 passed; echo 1 failed; exit 1", "sleep 300"):
        await box.said("Bash", command=command, run_in_background=True)
    ended = jobs.find("shell_1", MAIN)
    assert ended is not None
    await asyncio.wait_for(ended.wait(), PATIENCE)
