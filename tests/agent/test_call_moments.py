"""Those who listen hear how a call ended, inside its own task, and of all calls of an answer."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from gatewright.agent.record.events import AnyEvent, ToolFinished, UserMessage
from gatewright.agent.record.messages import CallPart
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.tool_calls import Finished, run_batch
from gatewright.tools.moments import BatchEnded, CallEnded, Moment, Verdict
from gatewright.tools.protocol import Content, TextContent, ToolCall, ToolContext, ToolResult
from tests.fakes.clock import FakeClock
from tests.fakes.executor import FakeExecutor, context


class Table:
    def __init__(self, says: Callable[[Moment], Verdict]) -> None:
        self.says = says
        self.heard: list[Moment] = []
        self.events: list[AnyEvent] = []
        self.executor = FakeExecutor()

    async def at(self, moment: Moment) -> Verdict:
        self.heard.append(moment)
        return self.says(moment)

    async def run(self, *names: str) -> tuple[Finished, ...]:
        def made(call_id: str) -> ToolContext:
            return msgspec.structs.replace(context(), moments=self)

        ports = BatchPorts(
            executor=self.executor,
            context=made,
            emit=self.events.append,
            clock=FakeClock(),
            waited=lambda call_id: 0.0,
        )
        parts = [CallPart(f"c{n}", name, {}) for n, name in enumerate(names)]
        return await run_batch(parts, ports)

    def finished(self) -> list[tuple[Content, ...]]:
        return [event.content for event in self.events if isinstance(event, ToolFinished)]


def on(kind: type[Moment], verdict: Verdict) -> Callable[[Moment], Verdict]:
    return lambda moment: verdict if isinstance(moment, kind) else Verdict()


def text(content: tuple[Content, ...]) -> list[str]:
    return [part.text for part in content if isinstance(part, TextContent)]


async def test_each_call_is_heard_of_and_then_all() -> None:
    made = Table(lambda moment: Verdict())
    await made.run("ReadA", "ReadB", "Change")
    ended = [moment.call.id for moment in made.heard if isinstance(moment, CallEnded)]
    assert sorted(ended) == ["c0", "c1", "c2"]
    assert isinstance(made.heard[-1], BatchEnded)
    assert [call.id for call, _ in made.heard[-1].calls] == ["c0", "c1", "c2"]


async def test_an_output_replaces_what_the_model_reads_and_context_stands_behind() -> None:
    verdict = Verdict(output="redacted", context=("see the log",))
    made = Table(on(CallEnded, verdict))
    await made.run("Change")
    assert [text(content) for content in made.finished()] == [["redacted", "see the log"]]


async def test_a_reason_stands_beside_the_result() -> None:
    made = Table(on(CallEnded, Verdict(word="deny", text="it does not lint")))
    (done,) = await made.run("Change")
    assert text(made.finished()[0])[-1] == "it does not lint"
    assert done.result.ok and not done.result.ends_turn


async def test_who_listens_may_end_the_turn() -> None:
    made = Table(on(CallEnded, Verdict(word="stop", text="enough")))
    first, second = await made.run("Change", "ChangeB")
    assert (first.result.stopped, first.result.ends_turn) == ("enough", True)
    assert made.executor.started == ["c0"]
    assert "a hook ended the turn" in text(second.result.content)[0]


async def test_what_is_said_of_all_is_a_hidden_message_behind_the_results() -> None:
    made = Table(on(BatchEnded, Verdict(context=("2 errors in a.py",))))
    await made.run("Change")
    last = made.events[-1]
    assert isinstance(last, UserMessage) and last.hidden
    assert text(last.content) == ["2 errors in a.py"]


@pytest.mark.parametrize("word", ["deny", "stop"])
async def test_who_hears_of_all_may_end_the_turn(word: str) -> None:
    verdict = Verdict(word="deny" if word == "deny" else "stop", text="budget of the day")
    (done,) = await Table(on(BatchEnded, verdict)).run("Change")
    assert done.result.stopped == "budget of the day"


async def test_a_call_that_did_not_run_did_not_end() -> None:
    made = Table(lambda moment: Verdict())

    class Refusing(FakeExecutor):
        async def act(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
            ctx.leave(ToolResult.not_run("No."))
            return ToolResult.refused("No.")

    made.executor = Refusing()
    await made.run("Change")
    assert [type(moment) for moment in made.heard] == [BatchEnded]
