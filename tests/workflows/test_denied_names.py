"""Rules about the name of a workflow: what they forbid, however it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import ToolFinished, WorkflowEnded, WorkflowStarted
from tests.permissions.composed import ID, Desk, desk
from tests.workflows.test_session import OK, answers, launch

META = "export const meta = {name: 'look', description: 'Look.'};"
LOOK = f"{META}\nreturn await agent('look at it');\n"
OTHER = "export const meta = {name: 'other', description: 'Another.'};\nreturn 1;\n"
DENIED: dict[str, Any] = {"permissions": {"deny": ["Workflow(look)"]}}


def saved(folder: Path, script: str = LOOK, name: str = "look") -> Path:
    place = folder / "home" / ".gatewright" / "workflows"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.js").write_text(script, encoding="utf-8")
    return place / f"{name}.js"


async def launched(opened: Desk) -> bool:
    """Whether the run begins, after a yes where somebody is asked."""
    opened.session.submit("go")
    await opened.ended()
    return bool(opened.seen.of(WorkflowStarted))


@pytest.mark.parametrize("how", ["name", "path", "link", "copy", "script", "mine"])
async def test_a_deny_rule_holds_for_the_script_however_it_is_given(
    tmp_path: Path, how: str
) -> None:
    path = saved(tmp_path)
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    (project / "copy.js").write_text(LOOK, encoding="utf-8")
    (project / "link.js").symlink_to(path)
    given: dict[str, Any] = {
        "name": {"name": "look"},
        "path": {"scriptPath": str(path)},
        "link": {"scriptPath": "link.js"},
        "copy": {"scriptPath": "copy.js"},
        "script": {"script": LOOK},
        "mine": {"script": OTHER},
    }[how]
    async with desk(tmp_path, [launch(**given), *OK], own=DENIED, interactive=False) as opened:
        answers(opened, "say: seen")
        assert await launched(opened) == (how == "mine")


@pytest.mark.parametrize("rule", ["look", "/look", "LOOK", "user:look", "workflow:user:look"])
async def test_a_rule_may_say_any_name_of_it(tmp_path: Path, rule: str) -> None:
    saved(tmp_path)
    own = {"permissions": {"deny": [f"Workflow({rule})"]}}
    async with desk(tmp_path, [launch(name="look"), *OK], own=own, interactive=False) as opened:
        assert not await launched(opened)


async def test_a_name_that_is_asked_about_is_not_had_by_a_copy(tmp_path: Path) -> None:
    """In a mode that asks about no launch, the name asks, and a copy of it is refused."""
    saved(tmp_path)
    own = {"permissions": {"ask": ["Workflow(look)"], "disableBypassPermissionsMode": "enable"}}
    script = [launch(script=LOOK), "say: no", launch(name="look", call="w2"), *OK]
    async with desk(tmp_path, script, own=own, mode="bypassPermissions") as opened:
        answers(opened, "say: seen")
        assert not await launched(opened)
        assert "ask rule 'Workflow(look)'" in await opened.finished("w1")
        opened.session.submit("by its name, then")
        opened.answer(await opened.asked(), "once")
        assert (await opened.seen.until(WorkflowEnded)).status == "done"


async def test_a_name_goes_on_with_runs_of_its_own_alone(tmp_path: Path) -> None:
    """A rule that lets it begin lets nothing of another run be replayed."""
    saved(tmp_path)
    own = {"permissions": {"allow": ["Workflow(look)"]}}
    other = OTHER.replace("return 1", "return await agent('look at it')")
    async with desk(tmp_path, [launch(script=other), *OK], own=own) as opened:
        answers(opened, "say: of the other", "say: mine")
        opened.session.submit("go")
        opened.answer(await opened.asked(), "once")
        end = await opened.seen.until(WorkflowEnded)
        await opened.session.idle()
    again = [launch(name="look", resumeFromRunId=end.run), *OK]
    async with desk(tmp_path, again, own=own, options={"resume": ID}) as opened:
        answers(opened, "say: mine")
        opened.session.submit("go on")
        failed = await opened.seen.until(ToolFinished, where=lambda event: not event.ok)
        assert "is one of other" in str(failed.content)
        await opened.ended(2)
        assert len(opened.seen.of(WorkflowStarted)) == 1


NESTED = "export const meta = {name: 'outer', description: 'Outer.'};\n"


@pytest.mark.parametrize("inner", ["'look'", "{scriptPath: 'copy.js'}"])
async def test_nor_is_it_run_within_another(tmp_path: Path, inner: str) -> None:
    saved(tmp_path)
    (tmp_path / "project").mkdir(exist_ok=True)
    (tmp_path / "project" / "copy.js").write_text(LOOK, encoding="utf-8")
    script = f"{NESTED}try {{ return await workflow({inner}) }} catch (e) {{ return e.message }}\n"
    async with desk(tmp_path, [launch(script), *OK], own=DENIED, interactive=False) as opened:
        answers(opened, "say: seen")
        opened.session.submit("go")
        end = await opened.seen.until(WorkflowEnded)
        assert "Workflow(look)" in end.result
        assert "look at it" not in json.dumps(opened.server.bodies)
