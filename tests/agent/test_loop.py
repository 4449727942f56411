"""Turns as lists of events: what a front end sees is all there is to assert on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    MessageDropped,
    Noticed,
    QueueChanged,
    RetryScheduled,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserMessage,
)
from gatewright.agent.record.messages import ResultTurn, TextPart, UserTurn
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.loop_guard import STOP_AT
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.tool_calls import DECLINED, SAME
from gatewright.tools.protocol import (
    INTERRUPTED,
    NOT_BEGUN,
    TextContent,
    ToolCall,
    ToolResult,
)
from tests.fakes.executor import FakeExecutor
from tests.fakes.house import house, recalled
from tests.fakes.recorder import Recorder


def kinds(events: Sequence[AnyEvent]) -> list[str]:
    """The order of events, runs of deltas as one."""
    names: list[str] = []
    for event in events:
        name = type(event).__name__
        if not (name.endswith("Delta") and names and names[-1] == name):
            names.append(name)
    return names


def results(seen: Recorder) -> list[tuple[str, bool, str]]:
    return [
        (
            event.call_id,
            event.ok,
            "".join(p.text for p in event.content if isinstance(p, TextContent)),
        )
        for event in seen.of(ToolFinished)
    ]


async def test_a_turn_of_text() -> None:
    async with house("say: Hello there.") as built, Recorder(built.session) as seen:
        input_id = built.session.submit("hi")
        ended = await seen.until(TurnEnded)
        assert kinds(seen.events) == [
            "UserMessage",
            "TurnStarted",
            "TextDelta",
            "AssistantMessage",
            "UsageChanged",
            "TurnEnded",
        ]
        assert seen.of(UserMessage)[0].input_id == input_id
        assert "".join(event.text for event in seen.of(TextDelta)) == "Hello there."
        assert seen.of(AssistantMessage)[0].parts == (TextPart("Hello there."),)
        assert (ended.stop, ended.requests, ended.usage.output) == (Stop.COMPLETED, 1, 5)
        assert seen.of(UsageChanged)[0].cost == ended.cost > 0
        await built.session.idle()
        assert not built.session.busy


async def test_a_turn_with_calls_sends_their_results_back() -> None:
    script = 'call: ReadA {"x": 1}\ncall: Change {"y": 2}\n---\nsay: Done.'
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.requests) == (Stop.COMPLETED, 2)
        assert kinds(seen.events) == [
            "UserMessage",
            "TurnStarted",
            "InputDelta",
            "AssistantMessage",
            "UsageChanged",
            "ToolStarted",
            "ToolFinished",
            "ToolStarted",
            "ToolFinished",
            "TextDelta",
            "AssistantMessage",
            "UsageChanged",
            "TurnEnded",
        ]
        last = built.provider.requests[1].turns
        assert last[-2:] == (
            ResultTurn("call_1", ok=True, content=(TextContent("ReadA [('x', 1)]"),)),
            ResultTurn("call_2", ok=True, content=(TextContent("Change [('y', 2)]"),)),
        )


async def test_reads_run_side_by_side_and_report_in_order() -> None:
    executor = FakeExecutor()
    slow = executor.hold("ReadSlow")
    script = "call: ReadSlow\ncall: ReadFast\ncall: Change\n---\nsay: Done."
    async with house(script, executor=executor) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        await seen.until(ToolStarted, count=2)
        assert seen.of(ToolFinished) == []
        slow.set()
        await seen.until(TurnEnded)
        assert [item[0] for item in results(seen)] == ["call_1", "call_2", "call_3"]
        assert executor.started == ["call_1", "call_2", "call_3"]
        assert executor.most_running == 2


async def test_a_refusal_ends_the_turn_and_the_calls_behind_it() -> None:
    executor = FakeExecutor({"Change": lambda call: ToolResult.refused("No.", ends_turn=True)})
    script = "call: ReadA\ncall: Change\ncall: ReadB\n---\nsay: never"
    async with house(script, executor=executor) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.USER_REFUSED
        assert results(seen)[1:] == [("call_2", False, "No."), ("call_3", False, DECLINED)]
        assert executor.started == ["call_1", "call_2"]
        assert built.provider.left == 1


async def test_interrupt_while_streaming_keeps_what_came() -> None:
    script = "say: Half an\nwait: gate\nsay: answer"
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        await built.provider.reached("gate")
        assert built.session.interrupt()
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.ABORTED_STREAMING
        kept = seen.of(AssistantMessage)
        assert [(message.parts, message.cut) for message in kept] == [
            ((TextPart("Half an"),), True)
        ]
        assert not built.session.interrupt()


async def test_interrupt_while_tools_run_gives_every_call_a_result() -> None:
    executor = FakeExecutor()
    executor.hold("ReadSlow")
    script = "call: ReadFast\ncall: ReadSlow\ncall: Change\n---\nsay: Back."
    async with house(script, executor=executor) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        await seen.until(ToolFinished)
        built.session.interrupt()
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.ABORTED_TOOLS
        assert [(item[0], item[1]) for item in results(seen)] == [
            ("call_1", True),
            ("call_2", False),
            ("call_3", False),
        ]
        assert [item[2] for item in results(seen)[1:]] == [INTERRUPTED, NOT_BEGUN]
        built.session.submit("go on")
        await seen.until(TurnEnded, count=2)
        assert len(seen.of(ToolFinished)) == 3


async def test_cancel_and_resubmit_many_times_leaves_nothing_behind() -> None:
    rounds = 200
    script = "\n---\n".join(["say: x\nwait: never"] * rounds + ["say: end"])
    async with house(script) as built, Recorder(built.session) as seen:
        for number in range(1, rounds + 1):
            built.session.submit("go")
            await seen.until(TextDelta, count=number)
            built.session.interrupt()
            await seen.until(TurnEnded, count=number)
        built.session.submit("go")
        ended = await seen.until(TurnEnded, count=rounds + 1)
        assert ended.stop is Stop.COMPLETED
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert "session runner" in names
        assert len(asyncio.all_tasks()) <= 4


async def test_input_typed_meanwhile_joins_after_the_batch() -> None:
    executor = FakeExecutor()
    gate = executor.hold("Change")
    async with (
        house("call: Change\n---\nsay: Both.", executor=executor) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("first")
        await seen.until(ToolStarted)
        built.session.submit("second")
        assert seen.of(QueueChanged) == [] or seen.of(QueueChanged)[-1].texts == ("second",)
        gate.set()
        await seen.until(TurnEnded)
        assert len(seen.of(TurnEnded)) == 1
        assert built.provider.requests[1].turns[-1] == UserTurn((TextContent("second"),))


async def test_queued_input_can_be_taken_back() -> None:
    executor = FakeExecutor()
    gate = executor.hold("Change")
    async with (
        house("call: Change\n---\nsay: One.", executor=executor) as built,
        Recorder(built.session) as seen,
    ):
        built.session.submit("first")
        await seen.until(ToolStarted)
        built.session.submit("second")
        assert recalled(built.session) == ["second"]
        gate.set()
        await seen.until(TurnEnded)
        assert [type(event) for event in seen.events].count(UserMessage) == 1
        assert seen.of(QueueChanged)[-1].texts == ()


async def test_a_failed_stream_is_retried_without_repeating_its_text() -> None:
    script = "say: Half\ncut:\n---\nerror: overloaded message=Busy.\n---\nsay: Whole."
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert kinds(seen.events)[2:9] == [
            "TextDelta",
            "MessageDropped",
            "RetryScheduled",
            "RetryScheduled",
            "TextDelta",
            "AssistantMessage",
            "UsageChanged",
        ]
        assert [event.reason for event in seen.of(RetryScheduled)][1] == "Busy."
        assert (ended.stop, ended.requests) == (Stop.COMPLETED, 1)
        assert len(seen.of(MessageDropped)) == 1


@pytest.mark.parametrize(
    ("failure", "stop"),
    [
        ("auth message=Bad key.", Stop.PROVIDER_AUTH),
        ("quota message=No credit.", Stop.PROVIDER_AUTH),
        ("too_long message=Too long.", Stop.PROMPT_TOO_LONG),
        ("refused message=Bad request.", Stop.MODEL_ERROR),
        ("overloaded message=Busy.", Stop.MODEL_ERROR),
    ],
)
async def test_a_lasting_failure_ends_the_turn_with_its_reason(failure: str, stop: Stop) -> None:
    script = "\n---\n".join([f"error: {failure}"] * 3)
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        tried = " Given up after 3 tries." if failure.startswith("overloaded") else ""
        assert (ended.stop, ended.message) == (stop, failure.partition("message=")[2] + tried)
        assert seen.of(AssistantMessage) == []


async def test_unreadable_arguments_are_answered_and_counted() -> None:
    script = "\n---\n".join(['badcall: Change {"a": '] * 3)
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.MALFORMED_TOOL_USE
        assert [item[1] for item in results(seen)] == [False] * 3
        assert built.executor.started == []


async def test_the_same_call_again_and_again_is_noted_then_stopped() -> None:
    script = "\n---\n".join(['call: ReadA {"x": 1}'] * STOP_AT)
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.LOOP_GUARD
        assert len(seen.of(Noticed)) == 1
        assert len(seen.of(ToolFinished)) == STOP_AT


async def test_a_poll_may_be_repeated() -> None:
    script = "\n---\n".join(["call: Poll {}"] * 2 * STOP_AT + ["say: done"])
    executor = FakeExecutor()
    executor.loop_keys["Poll"] = ""
    async with house(script, executor=executor) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        assert (await seen.until(TurnEnded)).stop is Stop.COMPLETED
        assert seen.of(Noticed) == []


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(requests=2), Stop.MAX_TURNS),
        (Limits(cost=0.02), Stop.BUDGET_EXHAUSTED),
    ],
)
async def test_limits_end_the_turn(limits: Limits, stop: Stop) -> None:
    script = "\n---\n".join(f'call: ReadA {{"x": {n}}}' for n in range(4))
    async with house(script, limits=limits) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert (ended.stop, ended.requests) == (stop, 2)


async def test_a_silent_stream_is_given_up() -> None:
    script = "\n---\n".join(["say: x\nwait: never"] * 3)
    limits = Limits(silence=0.05)
    async with house(script, limits=limits) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.MODEL_ERROR
        assert ended.message == "The model sent nothing for 0 s. Given up after 3 tries."
        assert len(seen.of(RetryScheduled)) == 2


async def test_a_defect_ends_the_turn_and_not_the_session(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(call: ToolCall) -> ToolResult:
        raise RuntimeError("a defect")

    executor = FakeExecutor({"Change": broken})
    script = "call: Change\n---\nsay: Still here."
    async with house(script, executor=executor) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        ended = await seen.until(TurnEnded)
        assert ended.stop is Stop.MODEL_ERROR
        built.session.submit("again")
        await seen.until(TurnEnded, count=2)
        assert "a defect" in caplog.text
        assert [type(event) for event in seen.events].count(TurnStarted) == 2
        assert seen.of(ToolFinished)[0].ok is False


async def test_a_repeated_call_gets_its_result_and_one_sentence() -> None:
    script = 'call: ReadA {"x": 1}\n---\n' * 2 + 'call: ReadA {"x": 2}\n---\nsay: Done.'
    async with house(script) as built, Recorder(built.session) as seen:
        built.session.submit("go")
        await seen.until(TurnEnded)
        first, second, other = (event.content for event in seen.of(ToolFinished))
        assert second == (*first, SAME)
        assert SAME not in other
