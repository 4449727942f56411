"""/btw: one request on the running prefix, and nothing of it stays in the conversation."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.commands.outcome import Problem, Say
from gatewright.agent.record.events import AttemptPaid, ToolStarted
from gatewright.tools.blocks import plain
from tests.permissions.composed import WITHIN, Desk, desk


async def ask(made: Desk, question: str) -> str:
    outcome = await made.session.run_command(f"/btw {question}")
    assert isinstance(outcome, Say | Problem), outcome
    return "\n".join(plain(each) for each in outcome.blocks)


async def test_it_is_answered_from_the_same_prefix_and_leaves_nothing(tmp_path: Path) -> None:
    script = ["say: I fixed a.py", "say: It was a.py.", "say: more"]
    async with desk(tmp_path, script) as made:
        made.session.submit("fix it")
        await made.ended()
        await made.session.idle()
        assert "It was a.py." in await ask(made, "which file was it?")
        first, aside = made.server.bodies[:2]
        assert json.dumps(aside["tools"]) == json.dumps(first["tools"])
        assert json.dumps(aside["system"]) == json.dumps(first["system"])
        assert aside["max_tokens"] <= 1_000
        assert "which file was it?" in made.words(1)[-1]
        assert (await made.seen.until(AttemptPaid, within=WITHIN)).by == "btw"
        made.session.submit("go on")
        await made.ended(2)
        assert not any("which file" in text or "It was a.py" in text for text in made.words(2))


async def test_also_while_a_turn_runs_and_no_tool_of_it_runs(tmp_path: Path) -> None:
    script = [
        'call[c1]: Bash {"command": "touch one"}',
        'call[c9]: Bash {"command": "touch two"}',
        "say: done",
    ]
    async with desk(tmp_path, script) as made:
        made.session.submit("do it")
        asked = await made.asked()
        assert "wanted to look" in await ask(made, "what are you at?")
        made.answer(asked, "once")
        await made.ended()
        await made.seen.until(ToolStarted, within=WITHIN)
        assert (made.project / "one").exists()
        assert not (made.project / "two").exists()


async def test_what_goes_wrong_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path, ["status: 401"]) as made:
        assert "Ask something" in await ask(made, "")
        assert await ask(made, "why?")
