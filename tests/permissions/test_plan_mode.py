"""Plan mode in a whole session: entered by the model, left only as the person says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatewright.agent.record.events import Asked, Cleared, ModeChanged
from gatewright.tools.blocks import plain
from tests.permissions.composed import ID, Desk, desk

PLAN = "1. Write a.py\n2. Be done\n"


def call(id: str, tool: str, **given: Any) -> str:
    return f"call[{id}]: {tool} {json.dumps(given)}"


def planning(folder: Path, *, in_project: bool = True) -> list[str]:
    """What the model does up to its proposal, and once the person has decided."""
    base = folder / "project" if in_project else folder / "home"
    tried = (
        call("early", "Write", file_path="a.py", content="x = 1\n"),
        call("shell", "Bash", command="touch b.py"),
        call("look", "Bash", command="ls"),
        call("plan", "Write", file_path=f"{base}/.gatewright/plans/{ID}.md", content=PLAN),
    )
    return [
        call("enter", "EnterPlanMode"),
        "\n".join(tried),
        call("exit", "ExitPlanMode"),
        call("late", "Write", file_path="a.py", content="x = 2\n"),
        "say: done",
    ]


async def proposed(opened: Desk) -> Asked:
    """The question about the plan, after all that planning refuses and permits."""
    opened.session.submit("do it")
    asked = await opened.asked()
    assert asked.ask.kind == "plan", asked
    return asked


def modes(opened: Desk) -> list[tuple[str, str]]:
    return [(event.mode, event.by) for event in opened.seen.of(ModeChanged)]


async def test_nothing_changes_but_the_plan_file(tmp_path: Path) -> None:
    async with desk(tmp_path, planning(tmp_path)) as opened:
        asked = await proposed(opened)
        path = opened.project / ".gatewright" / "plans" / f"{ID}.md"
        assert modes(opened) == [("plan", "model")]
        assert str(path) in await opened.finished("enter")
        early, shell = await opened.decided("early"), await opened.decided("shell")
        assert (early.behavior, early.stage) == ("deny", "mode_gate")
        assert (shell.behavior, shell.stage) == ("deny", "mode_gate")
        assert f"Write the plan to {path}, then call ExitPlanMode." in early.reason
        assert (await opened.decided("look")).behavior == "allow"
        assert (await opened.decided("plan")).stage == "plan_file"
        assert path.read_text(encoding="utf-8") == PLAN
        assert [child.name for child in opened.project.iterdir()] == [".gatewright"]
        assert "\n".join(map(plain, asked.ask.body)).strip() == PLAN.strip()
        opened.answer(asked, "keep")


async def test_starting_keeps_the_conversation_and_asks_for_edits(tmp_path: Path) -> None:
    async with desk(tmp_path, planning(tmp_path)) as opened:
        opened.answer(await proposed(opened), "edit", "mind the tests")
        asked = await opened.asked(2)
        assert asked.ask.kind == "permission"
        assert modes(opened) == [("plan", "model"), ("default", "plan")]
        result = await opened.finished("exit")
        assert "mind the tests" in result
        assert PLAN in result
        assert any(text.startswith("do it") for text in opened.words(3)[:2])
        opened.answer(asked, "no")


async def test_the_plan_is_read_again_when_it_is_approved(tmp_path: Path) -> None:
    async with desk(tmp_path, planning(tmp_path)) as opened:
        asked = await proposed(opened)
        path = opened.project / ".gatewright" / "plans" / f"{ID}.md"
        path.write_text("Only a.py.", encoding="utf-8")
        opened.answer(asked, "accept_edits")
        assert "Only a.py." in await opened.finished("exit")
        await opened.ended()


async def test_starting_with_edits_accepted(tmp_path: Path) -> None:
    async with desk(tmp_path, planning(tmp_path)) as opened:
        opened.answer(await proposed(opened), "accept_edits")
        await opened.ended()
        assert modes(opened)[-1] == ("acceptEdits", "plan")
        assert opened.session.mode == "acceptEdits"
        assert (await opened.decided("late")).behavior == "allow"
        assert (opened.project / "a.py").read_text(encoding="utf-8") == "x = 2\n"


async def test_starting_afresh_leaves_nothing_but_the_plan(tmp_path: Path) -> None:
    async with desk(tmp_path, planning(tmp_path)) as opened:
        opened.answer(await proposed(opened), "clear")
        asked = await opened.asked(2)
        assert opened.session.mode == "default"
        assert len(opened.seen.of(Cleared)) == 1
        (words,) = opened.words(3)
        assert PLAN in words
        assert "do it" not in words
        opened.answer(asked, "once")
        await opened.ended()
        assert "x = 2" in (opened.project / "a.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("choice", "text"), [("keep", "first the tests"), ("", "first the tests")])
async def test_going_on_with_planning(tmp_path: Path, choice: str, text: str) -> None:
    async with desk(tmp_path, planning(tmp_path)) as opened:
        opened.answer(await proposed(opened), choice, text)
        assert "first the tests" in await opened.finished("exit")
        await opened.ended()
        assert opened.session.mode == "plan"
        assert (await opened.decided("late")).stage == "mode_gate"
        assert not (opened.project / "a.py").exists()


async def test_the_mode_before_comes_back_and_bypass_edits_nothing_meanwhile(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path, planning(tmp_path), mode="bypassPermissions") as opened:
        asked = await proposed(opened)
        assert (await opened.decided("early")).stage == "mode_gate"
        opened.answer(asked, "edit")
        await opened.ended()
        assert opened.session.mode == "bypassPermissions"
        assert (await opened.decided("late")).stage == "bypass"


async def test_an_untrusted_project_holds_no_plan(tmp_path: Path) -> None:
    lines = planning(tmp_path, in_project=False)
    async with desk(tmp_path, lines, trust=False) as opened:
        opened.answer(await proposed(opened), "keep")
        await opened.ended()
        plans = tmp_path / "home" / ".gatewright" / "plans"
        assert (plans / f"{ID}.md").read_text(encoding="utf-8") == PLAN
        assert not (opened.project / ".gatewright").exists()


async def test_a_plan_file_that_is_a_link_is_protected_like_any_other(tmp_path: Path) -> None:
    async with desk(tmp_path, planning(tmp_path)) as opened:
        plans = opened.project / ".gatewright" / "plans"
        plans.mkdir(parents=True)
        (plans / f"{ID}.md").symlink_to(tmp_path / "victim")
        opened.session.submit("do it")
        assert (await opened.decided("plan")).behavior == "deny"
        await opened.ended()
        assert not (tmp_path / "victim").exists()


async def test_alone_the_answer_is_the_plan(tmp_path: Path) -> None:
    script = [call("early", "Write", file_path="a.py", content="x"), "say: The plan."]
    async with desk(tmp_path, script, mode="plan", interactive=False) as opened:
        opened.session.submit("do it")
        decided = await opened.decided("early")
        assert decided.stage == "mode_gate"
        assert "Answer with the plan" in decided.reason
        assert "ExitPlanMode" not in decided.reason
