"""Of each call there is one validation, one statement of facts and one context, gate and all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.session.agent import Agent
from gatewright.tools.access import Access, Where
from gatewright.tools.files.read import Read
from gatewright.tools.files.write import Write
from gatewright.tools.protocol import JsonObject, ToolContext
from tests.permissions.composed import desk


async def test_validations_facts_and_contexts_of_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: Counter[str] = Counter()
    context = Agent.context

    def contexts(agent: Agent, call_id: str) -> ToolContext:
        counted[f"context {call_id}"] += 1
        return context(agent, call_id)

    def watched(tool: type[Any]) -> None:
        read, access = tool.read, tool.access

        def reads(self: Any, raw: JsonObject) -> object:
            counted[f"read {tool.__name__}"] += 1
            return read(self, raw)

        def states(self: Any, input: Any, where: Where) -> Access:
            counted[f"facts {tool.__name__}"] += 1
            found: Access = access(self, input, where)
            return found

        monkeypatch.setattr(tool, "read", reads)
        monkeypatch.setattr(tool, "access", states)

    monkeypatch.setattr(Agent, "context", contexts)
    watched(Read)
    watched(Write)
    script = (
        'call[c1]: Read {"file_path": "a.txt"}',
        'call[c2]: Write {"file_path": "b.txt", "content": "x"}',
        "say: done",
    )
    async with desk(tmp_path, script) as made:
        (made.project / "a.txt").write_text("a", encoding="utf-8")
        made.session.submit("go")
        made.answer(await made.asked(), "once")  # also of one that a person is asked about
        await made.ended()
    once = ("read Read", "facts Read", "context c1", "read Write", "facts Write", "context c2")
    assert counted == dict.fromkeys(once, 1)
