"""Agents that the agents of a run start: they count in the run, not among those of the session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gatewright.agent.extensions.workflows.run_extension import WorkflowRuns
from gatewright.agent.workflows.runs.run import Run
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import Desk, desk
from tests.workflows.test_session import OK, answers, launch, one, through

FEW: dict[str, Any] = {"agents": {"maxRunning": 1, "maxPerSession": 1}}


def start(call: str, prompt: str, **more: Any) -> str:
    return f"call[{call}]: Agent {json.dumps({'description': 'sub', 'prompt': prompt, **more})}"


def below(opened: Desk, **said: str) -> None:
    for prompt, script in said.items():
        opened.server.tasks[prompt] = list(read_script(script))


def runs(opened: Desk) -> list[Run]:
    part = opened.session.part(WorkflowRuns)
    assert part is not None
    return list(part.opened().runs.runs.values())


def told(opened: Desk, prompt: str) -> str:
    """All that this agent was told by its last request."""
    mine = [b for b in opened.server.bodies if prompt in json.dumps(b["messages"][0])]
    return json.dumps(mine[-1])


async def test_they_do_not_count_among_those_of_the_session(tmp_path: Path) -> None:
    both = "\n".join(start(f"x{n}", f"below-{n}", run_in_background=True) for n in range(2))
    async with desk(tmp_path, [launch(one("{}")), *OK], own=FEW) as opened:
        below(opened, **{f"below-{n}": f"wait: both-{n}\nsay: from {n}" for n in range(2)})
        answers(opened, both, "say: waits", "say: done", "say: done")
        opened.session.submit("use a workflow")
        asked = await opened.asked()
        opened.answer(asked, "once")
        for n in range(2):
            await opened.server.reached(f"both-{n}")
        for n in range(2):
            opened.server.release(f"both-{n}")
        await opened.session.idle()
        (run,) = runs(opened)
        await run.ended.wait()
        assert run.stands == "done", run.why
        assert run.money.agents == 3
        assert "maxPerSession" not in json.dumps(opened.server.bodies)


async def test_those_further_down_count_in_the_run_too(tmp_path: Path) -> None:
    async with desk(tmp_path, [launch(one("{}")), *OK], own=FEW) as opened:
        answers(opened, start("x1", "first-down"), "say: done")
        opened.server.tasks["first-down"] = list(
            read_script(f"{start('y1', 'second-down')}\n---\nsay: it said so")
        )
        below(opened, **{"second-down": "say: from the bottom"})
        end = await through(opened)
        assert (end.status, end.result) == ("done", "done")
        assert "from the bottom" in told(opened, "first-down")
        (run,) = runs(opened)
        assert run.money.agents == 3


async def test_a_run_that_has_all_its_agents_starts_none_below(tmp_path: Path) -> None:
    own = {"workflows": {"maxAgents": 2}}
    script = one("{}", "const more = await agent('look at it', {detail: true}).catch(e => e);")
    async with desk(tmp_path, [launch(script), *OK], own=own) as opened:
        answers(opened, start("x1", "below-1"), start("x2", "below-2"), "say: done")
        below(opened, **{"below-1": "say: from below", "below-2": "say: never"})
        end = await through(opened)
        assert end.status == "done"
        assert "A run has 2 agents at most" in told(opened, "do it")
        assert not any("look at it" in json.dumps(b["messages"][0]) for b in opened.server.bodies)
