"""Auto mode that stands still goes on where the person chooses the mode again."""

from __future__ import annotations

import json
from pathlib import Path

from gatewright.agent.record.events import AutoChanged
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import WITHIN, desk

MODEL = "anthropic/claude-sonnet-5-5"
OWN = {"autoMode": {"unmeasured": True, "model": MODEL, "stages": "thinking"}}
NO = "say: " + json.dumps({"why": "Nobody asked.", "label": "deploys", "verdict": "deny"})
CALLS = [f'call[c{at}]: Bash {{"command": "make deploy-{at}"}}' for at in range(3)]


async def test_the_mode_chosen_again_lifts_the_pause(tmp_path: Path) -> None:
    async with desk(tmp_path, [*CALLS, "say: Done."], mode="auto", own=OWN) as made:
        made.server.tasks["<account>"] = list(read_script("\n---\n".join([NO] * 3)))
        made.session.submit("Look around.")
        await made.ended()
        paused = await made.seen.until(AutoChanged, within=WITHIN)
        assert paused.state == "paused"
        assert made.session.set_mode("auto") == "auto"
        again = await made.seen.until(AutoChanged, count=2, within=WITHIN)
        assert again.state == ""
