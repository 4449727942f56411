"""The README's first command: the demo model shows a newcomer around with real tool calls."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.e2e.program import AGENT, Program
from tests.guards.sources import ROOT

pytestmark = pytest.mark.e2e


def test_the_tour_reads_this_project(program: Program) -> None:
    command = [AGENT, "-p", "tour", "--model", "demo", "--output-format", "stream-json"]
    done = subprocess.run(
        [*command, "--verbose"],
        cwd=ROOT,
        env=program.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    messages: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    blocks: list[dict[str, Any]] = [
        block
        for message in messages
        if message["type"] in {"assistant", "user"}
        for block in message["message"]["content"]
    ]
    names = {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
    results = [block for block in blocks if block["type"] == "tool_result"]
    ran = {names[block["tool_use_id"]] for block in results if not block.get("is_error")}
    assert {"Read", "Grep", "Bash"} <= ran, "git alone may be refused: this project is not trusted"
    said = messages[-1]["result"]
    assert "gatewright" in said.lower()
    assert "permissions/" in said


def test_the_tour_works_anywhere(program: Program) -> None:
    done = program.run("-p", "tour", "--model", "demo")
    assert done.returncode == 0, done.stderr
    assert "notes.txt" in done.stdout, done.stdout
