"""Tools whose point is the person: questions, plans, lists."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gatewright.tools.access import Effect
from gatewright.tools.blocks import Markdown, Table, Text, Todo, TodoItem
from gatewright.tools.interact import Answer
from gatewright.tools.person.ask_user import BACK
from gatewright.tools.services import PlanStart
from tests.fakes.toolbox import Toolbox, text

COLOURS: dict[str, Any] = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [
        {"label": "Red", "description": "warm"},
        {"label": "Blue", "description": "cool"},
    ],
}
SIZES: dict[str, Any] = {
    "question": "Which sizes?",
    "header": "Sizes",
    "options": [{"label": "S"}, {"label": "M"}],
    "multiSelect": True,
}


class TestQuestions:
    async def test_answers_reach_the_model(self, box: Toolbox) -> None:
        box.answers = [Answer(("Blue",)), Answer(("S", "M"), text="and XL")]
        result = await box.call("AskUserQuestion", questions=[COLOURS, SIZES])
        assert result.data["answers"] == {"Which colour?": "Blue", "Which sizes?": "S, M; and XL"}
        assert "Which colour?\n-> Blue" in text(result)
        first, second = box.asked
        assert [first.body, second.body] == [
            (),
            (Text("Which colour?  Blue", "dim"),),
        ]
        assert (first.kind, first.free_text, first.multiple) == ("question", True, False)
        assert [option.label for option in first.options] == ["Red", "Blue"]
        assert second.multiple
        assert result.view == (
            Table(
                ("Question", "Answer"),
                (("Which colour?", "Blue"), ("Which sizes?", "S, M; and XL")),
            ),
        )

    async def test_who_goes_back_answers_the_question_before_anew(self, box: Toolbox) -> None:
        box.answers = [Answer(("Blue",)), Answer((BACK,)), Answer(("Red",)), Answer(("S",))]
        result = await box.call("AskUserQuestion", questions=[COLOURS, SIZES])
        assert result.data["answers"] == {"Which colour?": "Red", "Which sizes?": "S"}
        first, second, again, _ = box.asked
        assert BACK not in [option.id for option in first.options]
        back = second.options[-1]
        assert (back.id, back.label, back.key) == (BACK, "Back to question 1", "b")
        assert back.alone
        assert (again.title, again.reason) == (
            "Which colour?",
            "Question 1 of 2. You said: Blue.",
        )

    async def test_two_questions_of_the_same_words_are_both_asked(self, box: Toolbox) -> None:
        box.answers = [Answer(("Blue",)), Answer(("Red",))]
        await box.call("AskUserQuestion", questions=[COLOURS, COLOURS])
        assert len(box.asked) == 2

    async def test_nobody_answers(self, box: Toolbox) -> None:
        box.answers = [Answer(cancelled=True)]
        result = await box.call("AskUserQuestion", questions=[COLOURS, SIZES])
        assert not result.ok and result.ends_turn

    async def test_an_answer_stands_where_a_later_question_is_closed(self, box: Toolbox) -> None:
        box.answers = [Answer(text="green, please"), Answer(cancelled=True)]
        result = await box.call("AskUserQuestion", questions=[COLOURS, SIZES])
        assert result.ok
        assert result.data["answers"] == {"Which colour?": "green, please"}
        assert text(result).endswith(
            "Which colour?\n-> green, please\n"
            "Which sizes?\n-> (not answered: the person closed the question)"
        )

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"options": COLOURS["options"][:1]}, "at least 2"),
            ({"options": COLOURS["options"] * 2}, "same label"),
            ({"header": "much too long a header"}, "at most 12"),
        ],
    )
    async def test_wrong_questions(self, box: Toolbox, change: dict[str, object], why: str) -> None:
        assert why in await box.refused("AskUserQuestion", questions=[{**COLOURS, **change}])
        assert box.asked == []

    async def test_it_is_for_the_human(self, box: Toolbox) -> None:
        facts = await box.facts("AskUserQuestion", questions=[COLOURS])
        assert facts.access.effects == Effect.HUMAN


class Plan:
    """A plan mode that records how it was left."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.on, self.back = False, "default"
        self.left: list[tuple[PlanStart, str]] = []

    @property
    def path(self) -> Path:
        return self._path

    def active(self) -> bool:
        return self.on

    def enter(self) -> None:
        self.on = True

    def leave(self, start: PlanStart, plan: str) -> None:
        self.on = False
        self.left.append((start, plan))


@pytest.fixture
def plan(box: Toolbox) -> Plan:
    made = Plan(box.root / "plan.md")
    box.set(planning=made)
    return made


class TestPlan:
    async def test_enter_names_the_file(self, box: Toolbox, plan: Plan) -> None:
        assert str(plan.path) in await box.said("EnterPlanMode")
        assert plan.on

    @pytest.mark.parametrize("start", ["edit", "clear", "accept_edits"])
    async def test_approval_leaves(self, box: Toolbox, plan: Plan, start: PlanStart) -> None:
        plan.enter()
        plan.path.write_text("# Steps\n", encoding="utf-8")
        box.answers = [Answer((start,))]
        said = await box.said("ExitPlanMode")
        assert "approved" in said and "# Steps" in said
        assert plan.left == [(start, "# Steps\n")]
        (ask,) = box.asked
        assert ask.kind == "plan" and ask.body == (Markdown("# Steps\n"),)
        assert [option.id for option in ask.options] == ["edit", "clear", "accept_edits", "keep"]
        assert ask.options[0].label == "Start editing, in default mode"

    async def test_the_mode_that_is_gone_back_to_stands_once(
        self, box: Toolbox, plan: Plan
    ) -> None:
        plan.enter()
        plan.back = "acceptEdits"
        plan.path.write_text("# Steps\n", encoding="utf-8")
        box.answers = [Answer(("keep",))]
        await box.refused("ExitPlanMode")
        (ask,) = box.asked
        assert [(each.id, each.key) for each in ask.options] == [
            ("edit", "1"), ("clear", "2"), ("keep", "3"),
        ]  # fmt: skip
        assert ask.options[0].label == "Start editing, in acceptEdits mode"

    async def test_feedback_keeps_planning(self, box: Toolbox, plan: Plan) -> None:
        plan.enter()
        plan.path.write_text("# Steps\n", encoding="utf-8")
        box.answers = [Answer(("keep",), text="add tests")]
        assert "They say: add tests" in await box.refused("ExitPlanMode")
        assert plan.on and plan.left == []

    async def test_what_the_person_edited_counts(
        self, box: Toolbox, plan: Plan, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan.enter()
        plan.path.write_text("old", encoding="utf-8")

        async def edit(ask: object) -> Answer:
            plan.path.write_text("new", encoding="utf-8")
            return Answer(("edit",))

        box.set(ask=edit)
        await box.said("ExitPlanMode")
        assert plan.left == [("edit", "new")]

    async def test_nobody_decides(self, box: Toolbox, plan: Plan) -> None:
        plan.enter()
        box.answers = [Answer(cancelled=True)]
        result = await box.call("ExitPlanMode", plan="text")
        assert result.ends_turn and plan.on

    async def test_without_a_plan(self, box: Toolbox, plan: Plan) -> None:
        assert "not on" in await box.refused("ExitPlanMode")
        plan.enter()
        assert "no plan yet" in await box.refused("ExitPlanMode")

    async def test_without_plan_mode(self, box: Toolbox) -> None:
        assert "no plan mode here" in await box.refused("EnterPlanMode")


async def test_todos_are_shown_as_they_stand(box: Toolbox) -> None:
    todos = [
        {"content": "Look", "status": "completed", "activeForm": "Looking"},
        {"content": "Do", "status": "in_progress", "activeForm": "Doing"},
        {"content": "Rest", "status": "pending"},
    ]
    result = await box.call("TodoWrite", todos=todos)
    assert result.view == (
        Todo(
            (
                TodoItem("Look", "completed"),
                TodoItem("Doing", "in_progress"),
                TodoItem("Rest", "pending"),
            )
        ),
    )
    assert result.summary == "1/3"
    facts = await box.facts("TodoWrite", todos=todos)
    assert facts.access.effects == Effect.FREE


class TestTasks:
    async def test_a_life(self, box: Toolbox) -> None:
        for subject in ("Design", "Build", "Ship"):
            await box.said("TaskCreate", subject=subject, description=f"{subject} it")
        await box.said("TaskUpdate", taskId="2", addBlockedBy=["1"], owner="main")
        await box.said("TaskUpdate", taskId="2", addBlocks=["3"])
        assert await box.said("TaskList") == (
            "#1 [pending] Design\n#2 [pending] Build (main) [blocked by #1]\n"
            "#3 [pending] Ship [blocked by #2]"
        )
        assert "waits for 1" in await box.refused("TaskUpdate", taskId="2", status="in_progress")
        await box.said("TaskUpdate", taskId="1", status="completed")
        await box.said("TaskUpdate", taskId="2", status="in_progress")
        assert "Build it" in await box.said("TaskGet", taskId="2")

    async def test_ids_are_never_reused(self, box: Toolbox) -> None:
        await box.said("TaskCreate", subject="a")
        await box.said("TaskUpdate", taskId="1", status="deleted")
        result = await box.call("TaskCreate", subject="b")
        assert result.data["task"]["id"] == "2"
        assert "There are: 2" in await box.refused("TaskGet", taskId="1")

    async def test_no_circle(self, box: Toolbox) -> None:
        for subject in "abc":
            await box.said("TaskCreate", subject=subject)
        await box.said("TaskUpdate", taskId="2", addBlockedBy=["1"])
        await box.said("TaskUpdate", taskId="3", addBlockedBy=["2"])
        said = await box.refused("TaskUpdate", taskId="1", addBlockedBy=["3"], subject="changed")
        assert "wait for each other" in said
        assert "changed" not in await box.said("TaskList")

    async def test_many_at_once_lose_nothing(self, box: Toolbox) -> None:
        calls = [box.call("TaskCreate", subject=f"t{i}") for i in range(40)]
        results = await asyncio.gather(*calls)
        assert {result.data["task"]["id"] for result in results} == {str(i) for i in range(1, 41)}

    async def test_a_damaged_list_is_not_overwritten(self, box: Toolbox) -> None:
        box.ctx.spill.mkdir()
        (box.ctx.spill / "tasks.json").write_text("{", encoding="utf-8")
        assert "damaged" in await box.refused("TaskCreate", subject="a")
        assert (box.ctx.spill / "tasks.json").read_text(encoding="utf-8") == "{"
