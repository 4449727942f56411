"""What another program left in a project is offered once: one line, and then never again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Program

pytestmark = pytest.mark.e2e

OFFER = "Found Claude Code's settings: agent import claude."


def put(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


def told(program: Program) -> str:
    done = program.run("-p", "/help", "--model", "demo")
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_settings_are_offered_once(program: Program) -> None:
    put(program.project / ".claude" / "settings.json", {"model": "opus"})
    first = told(program)
    assert first.count(OFFER) == 1
    assert "Found" not in told(program)
    put(program.project / ".claude" / "settings.local.json", {"env": {"A": "b"}})
    assert OFFER in told(program)
    assert "Found" not in told(program)


@pytest.mark.parametrize("document", [{}, {"permissions": {"deny": ["WebSearch"]}}])
def test_a_file_that_counts_as_it_is_is_not_offered(program: Program, document: Any) -> None:
    put(program.project / ".claude" / "settings.json", document)
    assert "Found" not in told(program)


def test_who_imported_is_offered_nothing(program: Program) -> None:
    put(program.home / ".claude" / "settings.json", {"env": {"A": "b"}})
    assert program.run("import", "claude", "--yes").returncode == 0
    assert "Found" not in told(program)


@pytest.mark.parametrize("text", ["[1]", "{broken", '{"files": 7}', '{"files": [1, {}]}'])
def test_a_broken_memory_of_offers_offers_and_ends_nothing(program: Program, text: str) -> None:
    put(program.project / ".claude" / "settings.json", {"model": "opus"})
    state = program.home / ".gatewright" / "state" / "offered.json"
    state.parent.mkdir(parents=True)
    state.write_text(text, encoding="utf-8")
    assert OFFER in told(program)


def test_a_denial_of_theirs_is_not_only_offered(program: Program) -> None:
    put(program.project / ".claude" / "settings.json", {"permissions": {"deny": ["Bash"]}})
    listed = program.run("permissions", "list").stdout
    assert "deny   Bash  (claude-project)" in listed
