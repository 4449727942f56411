"""One turn: request, stream, run the calls, and again until the model calls nothing more.

A function over ports: it knows no settings, no front end and no concrete tool or provider.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.errors import FailureKind, ModelLoading, ProviderError
from gatewright.agent.providers.protocol import StopReason
from gatewright.agent.record.conversation import Conversation
from gatewright.agent.record.events import Noticed, TurnEnded, TurnStarted, UserMessage
from gatewright.agent.record.messages import CallPart, TextPart
from gatewright.agent.turn.answer_stream import Assembly
from gatewright.agent.turn.answers import AnswerPorts, Answers
from gatewright.agent.turn.batch_ports import BatchPorts
from gatewright.agent.turn.budget import Limiting
from gatewright.agent.turn.limits import Limits
from gatewright.agent.turn.loop_guard import LoopGuard, Repeats, Verdict
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.written_call import written_call
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Ask, Option
from gatewright.tools.protocol import Asker, TextContent, ToolCall

if TYPE_CHECKING:
    from gatewright.agent.turn.tool_calls import Finished
    from gatewright.tools.moments import Moments

MALFORMED_LIMIT = 3
RESUMES = 3
KEPT_GOING = 8  # times in a row that somebody else may keep a turn from its end
SAME_CALL_NOTE = (
    "The same call has now given the same result three times. "
    "Do something different, or say what is in the way."
)
RESUME_NOTE = (
    "Your answer reached the output limit. Go on exactly where it stopped, without an "
    "introduction; if a tool call was cut, make it again in smaller parts."
)
WRITTEN_NOTE = (
    "Your whole answer was a call of {tool} written as text, so nothing was run. Call tools "
    "through the tool-call format of this API, never in the text of an answer: make the call again "
    "that way. If the text itself was the answer, give it again with a sentence that says so."
)
WRITTEN_NOTICE = "The model wrote a call of {tool} as text; it was told how to call."
WRITTEN_END = (
    "The model writes its calls of {tool} as text, also after it was told, so nothing was run. "
    "{lack} Or try another model."
)
LACK = (
    "Its server lacks a chat template with tools (llama.cpp: --jinja) or a parser for their calls "
    "(vLLM: --enable-auto-tool-choice, --tool-call-parser)."
)
HOUR, DAY = 3600, 86_400
SENSIBLE = 30 * DAY  # seconds: nobody tries again then
DEFECT = "An internal error ended the turn; see ~/.gatewright/logs/errors.log."
OUTPUT_LIMIT = "The answer kept reaching the model's output limit."


class Ports(msgspec.Struct, frozen=True, kw_only=True):
    answers: AnswerPorts
    tools: BatchPorts
    inputs: Callable[[], Awaitable[bool]]  # takes up what was typed; whether there was any
    limits: Limits
    ask: Asker | None  # None: nobody is there to be asked
    budgets: Sequence[Limiting]  # of the session, and of the agent itself
    moments: Moments | None = None  # who may speak before the turn ends
    agent: str = MAIN


class Continue(enum.StrEnum):
    """Why a turn went on to another request."""

    NEXT_TURN = "next_turn"
    QUEUED_INPUT = "queued_input"
    OUTPUT_LIMIT_RESUME = "output_limit_resume"
    TOLD_TO_CALL = "told_to_call"
    STOP_HOOK_BLOCKED = "stop_hook_blocked"


class Round(msgspec.Struct, frozen=True):
    """What one iteration hands to the next; replaced as a whole."""

    reason: Continue = Continue.NEXT_TURN
    malformed: int = 0  # answers in a row with unreadable arguments
    resumes: int = 0
    written: bool = False  # the answer before this one was a call as text
    kept: int = 0  # ends that somebody did not let happen since the person said something


class End(msgspec.Struct, frozen=True):
    stop: Stop
    message: str = ""
    waits: CallPart | None = None  # a call that the next turn begins with
    model_stop: str = ""
    retry_after: float | None = None


async def run_turn(ports: Ports, talk: Conversation) -> Stop:
    """Never raises except CancelledError; emits exactly one TurnEnded, also when cancelled."""
    turn = _Turn(ports, talk)
    turn.emit(TurnStarted())
    end, failure = End(Stop.MODEL_ERROR, DEFECT), None
    try:
        end = await turn.run()
        await ports.answers.barrier()  # what the disk refuses is told before the turn ends
    except ProviderError as error:
        end = End(_stop_for(error), _told(error), retry_after=error.retry_after)
        failure = error.kind
    except asyncio.CancelledError:
        stop = Stop.ABORTED_TOOLS if turn.in_tools else Stop.ABORTED_STREAMING
        end = End(stop, "Interrupted.")
        raise
    finally:
        turn.finish(end, failure)  # also for a defect, which goes on to the caller
    return end.stop


def _stop_for(error: ProviderError) -> Stop:
    match error.kind:
        case FailureKind.AUTH | FailureKind.QUOTA:
            return Stop.PROVIDER_AUTH
        case FailureKind.TOO_LONG:
            return Stop.PROMPT_TOO_LONG
        case _:
            return Stop.MODEL_ERROR


def _told(error: ProviderError) -> str:
    """What ended the turn; how long the server wanted us to wait is not lost with it."""
    if isinstance(error, ModelLoading):
        return f"{error} It took too long; try again once it is loaded."
    tried = f" Given up after {error.tries} tries." if error.tries > 1 else ""
    wanted = error.retry_after or 0.0
    if wanted < 1:
        return f"{error}{tried}"
    if wanted > SENSIBLE:
        return (
            f"{error}{tried} It asks to wait more than 30 days; choose another model with /model."
        )
    return f"{error}{tried} It asks to wait {_spoken(wanted)}; try again then."


def _spoken(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / HOUR:.0f} hours" if seconds < 2 * DAY else f"{seconds / DAY:.0f} days"


class _Turn:
    def __init__(self, ports: Ports, talk: Conversation) -> None:
        self._ports, self._talk = ports, talk
        self._answers = Answers(ports.answers, talk)
        self._guard, self._repeats = LoopGuard(), Repeats()
        self._clock = ports.answers.clock
        self._started = self._clock.monotonic()
        self.emit = ports.answers.emit
        self.in_tools = False

    async def run(self) -> End:
        waiting = self._talk.waiting
        step: Round | End = await self._go_on(waiting) if waiting is not None else Round()
        while isinstance(step, Round):
            if (end := self._over_budget()) is not None:
                return end
            message = await self._answers.next()
            calls = [part for part in message.parts if isinstance(part, CallPart)]
            step = (
                await self._run_calls(step, calls)
                if calls
                else await self._without_calls(step, message)
            )
        return step

    def finish(self, end: End, failure: FailureKind | None) -> None:
        answers = self._answers
        self.emit(
            TurnEnded(
                stop=end.stop,
                message=end.message,
                failure=failure,
                usage=answers.usage,
                cost=answers.cost,
                requests=answers.requests,
                ms=round((self._clock.monotonic() - self._started) * 1000),
                api_ms=round(answers.seconds * 1000),
                waits=end.waits,
                model_stop=end.model_stop,
                retry_after=end.retry_after,
            )
        )

    async def _go_on(self, call: CallPart) -> Round | End:
        """With a call that was put off; a tool that is gone cannot be called any more."""
        tools = self._ports.tools
        asked = ToolCall(call.id, call.name, call.input)
        found = await tools.executor.prepare(asked, tools.context(call.id).where)
        step = await self._run_calls(Round(), [call])
        if found.tool is None:
            return End(Stop.TOOL_DEFERRED_UNAVAILABLE, found.facts.error)
        return step

    async def _without_calls(self, before: Round, message: Assembly) -> Round | End:
        if message.reason is StopReason.LENGTH:
            if before.resumes >= RESUMES:
                return End(Stop.MODEL_ERROR, OUTPUT_LIMIT, model_stop=message.reason)
            self._tell_model(RESUME_NOTE)
            return Round(Continue.OUTPUT_LIMIT_RESUME, resumes=before.resumes + 1)
        written = self._written_call(message)
        if written and not before.written:
            self.emit(Noticed(text=WRITTEN_NOTICE.format(tool=written), tone="dim"))
            self._tell_model(WRITTEN_NOTE.format(tool=written))
        if await self._ports.inputs():  # typed while the model was answering: go on with it
            return Round(Continue.QUEUED_INPUT, written=bool(written))
        if written and not before.written:
            return self._over_a_limit(0) or Round(Continue.TOLD_TO_CALL, written=True)
        if written:
            lack = self._answers.model.lack or LACK
            return End(Stop.MALFORMED_TOOL_USE, WRITTEN_END.format(tool=written, lack=lack))
        if message.reason is StopReason.REFUSAL:
            declined = message.detail or "The model declined to answer."
            return End(Stop.MODEL_ERROR, declined, model_stop=message.reason)
        return await self._would_end(before, message)

    async def _would_end(self, before: Round, message: Assembly) -> Round | End:
        """Done, unless somebody who listens says what is missing."""
        if (moments := self._ports.moments) is None:
            return End(Stop.COMPLETED)
        from gatewright.tools.moments import TurnWouldEnd  # noqa: PLC0415  only where somebody listens

        said = "".join(part.text for part in message.parts if isinstance(part, TextPart))
        moment = TurnWouldEnd(agent=self._ports.agent, said=said, again=before.kept)
        verdict = await moments.at(moment)
        if verdict.ends_turn():
            return End(Stop.HOOK_STOPPED, verdict.text)
        missing = "\n\n".join(filter(None, (verdict.text, *verdict.context)))
        if not missing or (verdict.word != "deny" and not verdict.context):
            return End(Stop.COMPLETED)
        if before.kept >= KEPT_GOING:
            return End(Stop.COMPLETED, f"Ended although it was asked to go on: {missing}")
        self._tell_model(missing)
        end = self._over_a_limit(0)
        return end or Round(Continue.STOP_HOOK_BLOCKED, kept=before.kept + 1)

    def _written_call(self, message: Assembly) -> str:
        """The tool whose call is all that this answer says; none where a schema shapes answers."""
        frame = self._answers.model.frame
        if frame.schema is not None:
            return ""
        text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
        return written_call(text, frame.tools)

    async def _run_calls(self, before: Round, calls: Sequence[CallPart]) -> Round | End:
        from gatewright.agent.turn.tool_calls import run_batch  # noqa: PLC0415  lazy: 1 ms, with the first call

        self.in_tools = True
        finished = await run_batch(calls, self._ports.tools, self._repeats)
        self.in_tools = False
        if any(item.result.waits for item in finished):
            told = f"{calls[0].name} waits: go on with this session to have it judged again."
            return End(Stop.TOOL_DEFERRED, told, waits=calls[0])
        if stopped := next((item.result.stopped for item in finished if item.result.stopped), ""):
            return End(Stop.HOOK_STOPPED, stopped)
        if barred := next((item.result.barred for item in finished if item.result.barred), ""):
            return End(Stop.AUTO_DENIED, barred)
        if any(item.result.ends_turn for item in finished):
            return End(Stop.USER_REFUSED)
        if any(item.result.completes for item in finished):
            return End(Stop.COMPLETED)
        malformed = before.malformed + 1 if any(call.malformed for call in calls) else 0
        end = self._over_a_limit(malformed) or await self._going_in_circles(finished)
        if end is not None:
            return end
        if await self._ports.inputs():
            return Round(Continue.QUEUED_INPUT, malformed, before.resumes)
        return Round(Continue.NEXT_TURN, malformed, before.resumes, kept=before.kept)

    def _over_a_limit(self, malformed: int) -> End | None:
        limits, answers = self._ports.limits, self._answers
        if malformed >= MALFORMED_LIMIT:
            return End(
                Stop.MALFORMED_TOOL_USE,
                "The model sent unreadable tool arguments three times in a row. Try another model.",
            )
        if limits.requests and answers.requests >= limits.requests:
            rounds = "one round" if answers.requests == 1 else f"{answers.requests} rounds"
            return End(Stop.MAX_TURNS, f"Stopped after {rounds}, the limit.")
        return None

    def _over_budget(self) -> End | None:
        """Before each request: others spend too, between two of ours."""
        for budget in self._ports.budgets:
            if over := budget.over():
                return End(Stop.BUDGET_EXHAUSTED, over)
        return None

    async def _going_in_circles(self, finished: Sequence[Finished]) -> End | None:
        for item in finished:
            result, key = item.result, item.loop_key
            match self._guard.saw(item.call, result.content, ok=result.ok, key=key):
                case Verdict.STOP if not await self._may_go_on(item.call.name):
                    return End(
                        Stop.LOOP_GUARD,
                        f"Stopped: the model repeats {item.call.name} with the same result. "
                        "Say how to go on.",
                    )
                case Verdict.NOTE:
                    self._tell_model(SAME_CALL_NOTE)
                    self.emit(Noticed(text="The model was told that it repeats itself."))
                case _:
                    pass
        return None

    async def _may_go_on(self, tool: str) -> bool:
        if self._ports.ask is None:
            return False
        question = Ask(
            kind="question",
            title=f"The model keeps calling {tool} with the same result. Let it go on?",
            body=(),
            options=(Option("go_on", "Go on", "y"), Option("stop", "Stop the turn", "n")),
        )
        answer = await self._ports.ask(question)
        self._guard = LoopGuard()
        return answer.choice == "go_on"

    def _tell_model(self, text: str) -> None:
        self.emit(UserMessage(content=(TextContent(text),), hidden=True))
