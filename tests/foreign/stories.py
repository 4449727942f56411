"""A whole session with an agent of another program: a definition, a story for it, and what came."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import AgentFinished
from gatewright.permissions.sandbox.machine import machine
from gatewright.permissions.sandbox.probe import probe
from tests.agents.test_agent_tool import agent
from tests.permissions.composed import Desk, desk

Step = dict[str, Any]
confined = pytest.mark.skipif(probe(machine()).level != "bwrap", reason="no bubblewrap here")
PROGRAM = Path(__file__).parent / "scripted_agent.py"
ON: Mapping[str, Any] = {"sandbox": {"enabled": True}}


def defined(
    folder: Path, prompts: Sequence[Sequence[Step]], *, more: str = "", opens: str = ""
) -> None:
    """A definition of the person whose program plays this story; `opens` is more of its `acp`."""
    home = folder / "home"
    agents = home / ".gatewright" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    shutil.copy(PROGRAM, home / "other.py")
    story = home / "story.json"
    story.write_text(json.dumps({"prompts": prompts}), encoding="utf-8")
    args = json.dumps(["-I", "-S", str(home / "other.py"), str(story)])
    text = f"---\nname: other\ndescription: Another program.\n{more}"
    text += f"acp: {{command: {sys.executable}, args: {args}{opens}}}\n---\nYou work for us.\n"
    (agents / "other.md").write_text(text, encoding="utf-8")


@asynccontextmanager
async def story(
    folder: Path,
    prompts: Sequence[Sequence[Step]],
    *,
    more: str = "",
    opens: str = "",
    **desk_options: Any,
) -> AsyncGenerator[Desk]:
    """The main agent starts it once with the task `do it`, and says that it heard."""
    defined(folder, prompts, more=more, opens=opens)
    script = [agent("do it", subagent_type="other"), "say: heard"]
    own = {**ON, **desk_options.pop("own", {})}
    async with desk(folder, script, own=own, **desk_options) as opened:
        opened.session.submit("go")
        yield opened


async def end_of(opened: Desk) -> AgentFinished:
    found = await opened.seen.until(AgentFinished)
    await opened.ended()
    return found


def reported(end: AgentFinished) -> Any:
    """What it says it was answered."""
    return json.loads(end.report)
