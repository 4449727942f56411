"""`agent dream`: a proposal and nothing else, by the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatewright.agent.autonomy.memory.facts import Fact
from gatewright.agent.autonomy.memory.memory_place import name_of
from gatewright.agent.autonomy.memory.memory_store import MemoryStore
from tests.e2e.program import Program
from tests.fakes.model_server import ServerThread

STEPS = [{"do": "drop", "ids": [1], "by": 2, "why": "moved"}]


def settings(program: Program, **said: str) -> None:
    path = program.home / ".gatewright" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    model = "anthropic/claude-haiku-4-5"
    path.write_text(json.dumps({"smallModel": model, **said}), encoding="utf-8")


@pytest.fixture
def store(program: Program, tmp_path: Path) -> MemoryStore:
    settings(program, autoMemory="on", autoMemoryDirectory=str(tmp_path / "notes"))
    assert program.run("trust", "add").returncode == 0
    name = name_of(program.project.resolve())
    store = MemoryStore(tmp_path / "notes" / name)
    store.learn([Fact(topic="a", text="It is in memory.", day="2026-01-01"),
                 Fact(topic="a", text="It is on disk.", day="2026-02-01")])  # fmt: skip
    return store


def test_it_writes_a_proposal_only(program: Program, store: MemoryStore) -> None:
    before = dict(store.look().files)
    with ServerThread(f"say: {json.dumps(STEPS)}") as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "key"}
        done = program.run("dream", env=env)
    assert done.returncode == 0, done.stderr
    assert "It is in memory." in done.stdout
    assert "nothing is changed" in done.stdout
    now = dict(store.look().files)
    assert {name: data for name, data in now.items() if name in before} == before
    found = store.proposal()
    assert found is not None
    assert b"memory" not in (found.after["a.md"] or b"")


def test_where_it_is_off_or_a_session_calls_it_says_so(
    program: Program, store: MemoryStore
) -> None:
    assert "terminal of their own" in program.run("dream", env={"GATEWRIGHT": "1"}).stderr
    settings(program)
    done = program.run("dream")
    assert done.returncode != 0
    assert "autoMemory is off" in done.stderr
    assert store.proposal() is None
