"""What a person is told before a run goes on, and what it takes over from its first start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import Asked, WorkflowEnded
from gatewright.tools.blocks import Text
from tests.fakes.scripted_provider import read_script
from tests.permissions.composed import ID, Desk, desk
from tests.workflows.test_session import OK, answers, launch, one, through

AGAIN: Mapping[str, Any] = {"resume": ID}


async def asked_again(opened: Desk) -> Asked:
    """The question of a resume, which a turn of its own makes."""
    opened.session.submit("go on")
    return await opened.asked(2)


async def test_its_budget_holds_for_every_start_unless_another_is_said(tmp_path: Path) -> None:
    first = launch(one("{}"), budget={"usd": 2.5, "tokens": 70_000})
    async with desk(tmp_path, [first, *OK]) as opened:
        answers(opened, "say: seen")
        run = (await through(opened)).run
    script = [launch(resumeFromRunId=run), *OK]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        asked = await asked_again(opened)
        assert "Budget: $2.50 and 70,000 tokens" in str(asked.ask.body)
        opened.answer(asked, "once")
        await opened.seen.until(WorkflowEnded, count=2)
        await opened.session.idle()
    script = [launch(resumeFromRunId=run, budget={"usd": 1}), *OK]
    async with desk(tmp_path, script, options=AGAIN) as opened:
        opened.session.submit("go on")
        asked = await opened.asked(3)
        assert "Budget: $1.00'" in str(asked.ask.body)
        opened.answer(asked, "no")
        await opened.ended()


LOOKS = """\
export const meta = {name: 'looks', description: 'Look.'};
const first = await parallel(['a', 'b', 'c'], n => agent(`look at ${n}`, {label: n}));
const second = await agent(`look at all: ${first.join(' ')}`, {label: 'all'});
return [...first, second];
"""


async def told_of(tmp_path: Path, script: str, **more: Any) -> str:
    """What a person reads who is to agree to this script in the place of the first."""
    async with desk(tmp_path, [launch(LOOKS), *OK]) as opened:
        for name, said in {"look at a": "A", "look at b": "B", "look at c": "C"}.items():
            opened.server.tasks[name] = list(read_script(f"say: {said}"))
        opened.server.tasks["look at all"] = list(read_script("say: all"))
        run = (await through(opened)).run
    again = [launch(script, resumeFromRunId=run, **more), *OK]
    async with desk(tmp_path, again, options=AGAIN) as opened:
        asked = await asked_again(opened)
        opened.answer(asked, "no")
        await opened.ended()
        assert len(opened.server.bodies) == 1, "no agent worked for it"
        return "\n".join(block.text for block in asked.ask.body if isinstance(block, Text))


@pytest.mark.parametrize(
    ("edited", "more", "told"),
    [
        (LOOKS, {}, ["4 replayed, 0 go on, 0 run again, 0 new, about $0.00"]),
        (
            LOOKS.replace("'c']", "'d', 'e']"),
            {},
            ["2 replayed, 0 go on, 0 run again, 2 new", "- d: new", "- e: new", "what follows"],
        ),
        (
            LOOKS.replace("look at all", "look again"),
            {},
            ["3 replayed, 0 go on, 0 run again, 1 new", "- all: new"],
        ),
        (
            LOOKS,
            {"rerun": "b"},
            ["2 replayed, 0 go on, 1 run again, 0 new", "b: runs again: asked"],
        ),
        (LOOKS, {"rerun": "all"}, ["0 replayed, 0 go on, 3 run again, 0 new"]),
        (
            LOOKS.replace("label: n}", "label: n, fresh: true}"),
            {},
            ["0 replayed, 0 go on, 3 run again", "a: runs again: always anew"],
        ),
        (
            LOOKS.replace("return [", "throw new Error('broken [").replace("second]", "second]')"),
            {},
            ["4 replayed", "It fails then: Error: broken"],
        ),
        (
            LOOKS.replace("const second", "while (true) {}\nconst second"),
            {},
            ["3 replayed", "It computes for more than 2 s"],
        ),
    ],
    ids=["same", "other items", "other prompt", "label", "all", "fresh", "throws", "never ends"],
)
async def test_how_many_calls_will_be_new_is_known_before_the_yes(
    tmp_path: Path, edited: str, more: dict[str, Any], told: list[str]
) -> None:
    text = await told_of(tmp_path, edited, **more)
    assert [each for each in told if each not in text] == [], text
