"""The Agent tool in a whole session: what comes back, to whom, and what keeps one from starting."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.record.events import AgentFinished, AgentStarted, ToolFinished
from tests.permissions.composed import Desk, desk


def agent(prompt: str, **fields: object) -> str:
    given = {"description": "look around", "prompt": prompt, **fields}
    return f"call[c1]: Agent {json.dumps(given)}"


async def asked(opened: Desk, text: str = "go") -> None:
    opened.session.submit(text)
    await opened.ended()


async def test_its_report_is_the_result(tmp_path: Path) -> None:
    script = [agent("find the tests"), "say: they are in tests/", "say: all done"]
    async with desk(tmp_path, script) as opened:
        await asked(opened)
        (started,), (ended,) = opened.seen.of(AgentStarted), opened.seen.of(AgentFinished)
        assert (started.kind, started.prompt) == ("general-purpose", "find the tests")
        assert (started.call_id, started.description) == ("c1", "look around")
        assert (ended.status, ended.report, ended.ok) == ("completed", "they are in tests/", True)
        (done,) = opened.seen.of(ToolFinished)
        id = ended.child.rpartition("/")[2]
        assert await opened.finished("c1") == f"they are in tests/\nagentId: {id}"
        assert done.data["status"] == "completed"
        assert done.data["totalTokens"] > 0
        assert opened.words(1)[-1].endswith("find the tests")
