"""The facade: commands, modes, questions, and an end that leaves nothing running."""

from __future__ import annotations

import asyncio

import pytest

from gatewright.agent.commands.outcome import (
    Change,
    Outcome,
    Page,
    Say,
    SetEffort,
    SetMode,
    SetModel,
    Submit,
)
from gatewright.agent.commands.outcome import said as shown
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.record.events import (
    Answered,
    Asked,
    Cleared,
    ModeChanged,
    ModelChanged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UserMessage,
)
from gatewright.agent.record.messages import UserTurn
from gatewright.agent.turn.stop import Stop
from gatewright.tools.blocks import Text, plain
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.protocol import TextContent, ToolCall, ToolContext, ToolResult
from tests.fakes.clock import FakeClock
from tests.fakes.commands import add_command
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import House, house
from tests.fakes.recorder import Recorder

QUESTION = Ask("question", "Which?", (), (Option("a", "A", "a"), Option("b", "B", "b")))


class Asking(FakeExecutor):
    """Every call asks the person and returns the choice."""

    async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        answer = await ctx.ask(QUESTION)
        return ToolResult.text(f"chose {answer.choice}")


def add(built: House, name: str, outcome: Outcome) -> None:
    async def run(context: CommandContext) -> Outcome:
        return outcome

    add_command(built.session.commands, name, run)


def said(outcome: Outcome) -> str:
    assert isinstance(outcome, Say | Page)
    return "\n".join(plain(block) for block in shown(outcome))


async def test_a_question_is_answered_once_by_whoever_is_first() -> None:
    script = "call: Change\n---\nsay: Done."
    async with house(script, executor=Asking()) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        asked = await seen.until(Asked)
        assert asked.ask.call_id == "call_1"
        assert built.session.answer(asked.id, Answer(("a",)))
        assert not built.session.answer(asked.id, Answer(("b",)))
        await seen.until(TurnEnded)
        assert [event.answer.choice for event in seen.of(Answered)] == ["a"]


async def test_waiting_for_the_person_is_not_the_tools_time() -> None:
    clock = FakeClock()
    script = "call: Change\n---\nsay: Done."
    async with (
        house(script, executor=Asking(), clock=clock) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("go")
        asked = await seen.until(Asked)
        await clock.advance(30.0)
        built.session.answer(asked.id, Answer(("a",)))
        await seen.until(TurnEnded)
        assert seen.of(ToolFinished)[0].ms == 0
        assert seen.of(TurnEnded)[0].ms == 30_000


async def test_interrupt_withdraws_the_question() -> None:
    async with house("call: Change", executor=Asking()) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        asked = await seen.until(Asked)
        built.session.interrupt()
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.ABORTED_TOOLS
        assert seen.of(Answered)[0].answer.cancelled
        assert not built.session.answer(asked.id, Answer(("a",)))


async def test_modes_are_set_cycled_and_told() -> None:
    async with house("") as built, Recorder(built.session) as seen:
        assert built.session.set_mode("plan") == "plan"
        assert built.session.set_mode("plan") == "plan"
        assert built.session.cycle_mode() == "default"
        with pytest.raises(ValueError, match="no mode nonsense"):
            built.session.set_mode("nonsense")
        await seen.until(ModeChanged, count=2)
        assert [event.mode for event in seen.of(ModeChanged)] == ["plan", "default"]


async def test_commands_change_the_session() -> None:
    async with house("say: Hi.") as built, Recorder(built.session) as seen:
        add(built, "bad", Change(SetMode("nonsense")))
        add(built, "other", Change(SetModel("other/model")))
        add(built, "go", Submit("from a command"))
        assert said(await built.session.run_command("/plan")) == "Mode: plan"
        assert said(await built.session.run_command("/bad")) == "There is no mode nonsense."
        assert said(await built.session.run_command("/other")) == "Model: other/model"
        await built.session.run_command("/go")
        await seen.until(TurnEnded)
        assert seen.of(ModelChanged)[0].model == built.session.model == "other/model"
        assert seen.of(UserMessage)[0].content == (TextContent("from a command"),)
        assert built.provider.requests[0].model == "other/model"


async def test_effort_and_cost() -> None:
    async with house("say: Hi.\nusage: in=1000 out=20 cache_read=300") as built:
        assert said(await built.session.run_command("/cost")) == "Nothing was asked yet."
        high = await built.session.apply(Change(SetEffort("high")))
        assert said(high) == "Model: script (high effort)"
        built.session.submit("go")
        await built.session.idle()
        assert built.provider.requests[0].effort == "high"
        rows = said(await built.session.run_command("/cost")).splitlines()
        assert rows[0].split() == ["cached", "written", "uncached", "output", "cost"]
        assert rows[-1].split() == ["session", "300", "0", "1,000", "20", "$1.02"]


async def test_an_unknown_command_names_the_nearest() -> None:
    async with house("") as built:
        add(built, "permissions", Say((Text("rules"),)))
        outcome = said(await built.session.run_command("/permisions"))
        assert outcome == "There is no command /permisions. Did you mean /permissions?"


async def test_clear_hides_the_past_from_the_model() -> None:
    async with house("say: One.\n---\nsay: Two.") as built, Recorder(built.session) as seen:
        built.session.submit("first")
        await seen.until(TurnEnded)
        await built.session.idle()
        await built.session.run_command("/clear")
        built.session.submit("second")
        await seen.until(TurnEnded, count=2)
        assert len(seen.of(Cleared)) == 1
        assert built.provider.requests[1].turns == (UserTurn((TextContent("second"),)),)


async def test_clear_waits_for_the_turn() -> None:
    async with house("wait: gate\nsay: x") as built:
        built.session.submit("go")
        await built.provider.reached("gate")
        assert "Interrupt" in said(await built.session.run_command("/clear"))


async def test_closing_in_the_middle_of_a_turn_settles_it() -> None:
    executor = FakeExecutor()
    executor.hold("Change")
    async with house("call: Change", executor=executor) as built:
        recorder = Recorder(built.session)
        async with recorder as seen:
            built.session.submit("go")
            await seen.until(ToolStarted)
            await built.session.close()
            ended = await seen.until(TurnEnded)
            assert ended.stop is Stop.ABORTED_TOOLS
        assert built.provider.closed
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert left == []
