"""Print mode as JSON: our events in the message shapes that Claude Code's public SDKs read.

A pure fold: envelopes in, plain objects out. Writing, stdin and control messages are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gatewright.agent.frontends.must_know import MustKnow
from gatewright.agent.frontends.sdk.agent_lines import AgentLines
from gatewright.agent.frontends.sdk.model_sums import ModelSums
from gatewright.agent.frontends.sdk.partial import PartialMessage
from gatewright.agent.frontends.sdk.server_lines import Rows, nobody, status
from gatewright.agent.frontends.sdk.shapes import (
    Line,
    assistant,
    by,
    commands_changed,
    init,
    stream_event,
    system,
    tool_result,
    usage,
    user,
)
from gatewright.agent.frontends.sdk.work_lines import HookLines, Tasks
from gatewright.agent.frontends.sdk.workflow_lines import WorkflowLines
from gatewright.agent.launch.exits import Exit, code_of
from gatewright.agent.record.events import (
    AnyEvent,
    AssistantMessage,
    Compacted,
    Decided,
    DiagnosticsTold,
    Envelope,
    HookAnswered,
    HookRan,
    HookStarted,
    InputDelta,
    InputRefused,
    MessageDropped,
    ModelChanged,
    Noticed,
    RetryScheduled,
    SessionStarted,
    TasksChanged,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    UserMessage,
    WorkflowEnded,
    WorkflowProgressed,
    WorkflowStarted,
)
from gatewright.agent.record.messages import TextPart
from gatewright.agent.turn.stop import Stop
from gatewright.agent.turn.structured_answer import Shape
from gatewright.tools.access import MAIN
from gatewright.tools.protocol import JsonObject

SUBTYPES = {
    Stop.MAX_TURNS: "error_max_turns",
    Stop.BUDGET_EXHAUSTED: "error_max_budget_usd",
}
STOP_REASONS = {
    Stop.COMPLETED: "end_turn",
    Stop.TOOL_DEFERRED: "tool_deferred",
    Stop.TOOL_DEFERRED_UNAVAILABLE: "tool_deferred_unavailable",
}
MISSHAPEN_SUBTYPE = "error_max_structured_output_retries"


class Dialect:
    """The fold over one session's live events; `result` is the last object of each turn."""

    def __init__(
        self,
        session_id: str,
        *,
        new_id: Callable[[], str],
        commands: Callable[[], Sequence[str]] = tuple[str, ...],
        partial: bool = False,
        replay: bool = False,
        shape: Shape | None = None,
    ) -> None:
        self._session_id = session_id
        self.new_id = new_id
        self._commands = commands
        self._replay = replay
        self._shape = shape
        self.code: Exit | None = None  # of the last turn that ended
        self._partial = PartialMessage() if partial else None
        self.hooks: HookLines | None = None  # for who wants to know of them
        self.servers: Rows = nobody
        self.kinds: Callable[[], Sequence[str]] = tuple[str, ...]  # of agents
        self.style: Callable[[], str] = lambda: "default"
        self.skills: Callable[[], Sequence[str]] = tuple[str, ...]
        self.menu: Callable[[], Sequence[Line]] = tuple[Line, ...]
        self._menu: Sequence[Line] = ()  # as the client was told of it
        self.plugins: Callable[[], Line] = dict[str, object]
        self._started: SessionStarted | None = None
        self._listed: tuple[object, ...] = ()  # servers and skills, as the client was told of them
        self._inputs: dict[tuple[str, str], JsonObject] = {}  # by agent and call
        self._denials: list[Line] = []
        self._sums = ModelSums()
        self._answer = ""
        self.agents = AgentLines()
        self._workflows = WorkflowLines()
        self._tasks = Tasks(lambda id: self.agents.knows(id) or self._workflows.knows(id))
        self._warnings = MustKnow()

    def lines(self, envelope: Envelope) -> list[Line]:
        """What to print for one event, often nothing."""
        self._warnings.saw(envelope)
        self._sums.saw(envelope)
        self._take(envelope.event, envelope.agent)
        main = envelope.agent == MAIN
        bodies = [*self.agents.lines(envelope), *(self._bodies(envelope) if main else ())]
        # The event's own id is the one to go back to: it belongs to what the event is about.
        ids = [*("" for _ in bodies[1:]), envelope.uuid]
        return [self._line(id, body) for id, body in zip(ids, bodies, strict=False)]

    def _take(self, event: AnyEvent, agent: str) -> None:
        """Calls of all agents, as they are to run: a carried one, and not its carrier."""
        match event:
            case ToolStarted(call_id=id, input=input):
                self._inputs[agent, id] = input
            case ToolFinished(call_id=id):
                self._inputs.pop((agent, id), None)
            case Decided(behavior="deny") as decided:
                self._deny(decided, agent)
            case _:
                pass

    def input_of(self, call_id: str, agent: str = MAIN) -> Line:
        """The input of a call that runs."""
        return self._inputs.get((agent, call_id), {})

    def command_result(self, said: str) -> Line:
        """The result of a slash command, which no model answered."""
        shape, self._shape = self._shape, None
        line = self._result(TurnEnded(stop=Stop.COMPLETED))
        self._shape = shape
        return self._line("", {**line, "result": said})

    def line(self, body: Line) -> Line:
        """One that is about no event."""
        return self._line("", body)

    def _line(self, uuid: str, body: Line) -> Line:
        return {**body, "session_id": self._session_id, "uuid": uuid or self.new_id()}

    def _bodies(self, envelope: Envelope) -> Iterator[Line]:
        match envelope.event:
            case WorkflowStarted() | WorkflowProgressed() | WorkflowEnded() as told:
                yield from self._workflows.lines(told, envelope.timestamp)
            case AssistantMessage() as message:
                yield from self._assistant(message)
            case UserMessage(hidden=False, content=content) if self._replay:
                yield user(content)
            case ToolFinished() as finished:
                yield tool_result(finished)
            case TextDelta() | ThinkingDelta() | InputDelta() | MessageDropped() as piece:
                if self._partial is not None:
                    yield from map(stream_event, self._partial.pieces(piece))
            case TurnEnded() as ended:
                yield self._result(ended)
            case InputRefused(reason=reason):
                yield self._unsent(reason)
            case event:
                yield from self._facts(event)

    def _facts(self, event: AnyEvent) -> Iterator[Line]:
        """What is about the session and not said in it."""
        match event:
            case SessionStarted() as started:
                self._started = started
                yield self._init(started)
            case TurnStarted() if self._started is not None:
                menu, before = self.menu(), self._menu
                if self._there() != self._listed:
                    yield self._init(self._started)
                if menu != before:
                    self._menu = menu
                    yield commands_changed(menu)
            case TasksChanged() as changed:
                yield from self._tasks.lines(changed)
            case Compacted() | DiagnosticsTold() | ModelChanged() | Noticed() | RetryScheduled():
                yield system(event)
            case HookStarted() | HookAnswered() | HookRan() if self.hooks is not None:
                yield from self.hooks.lines(event)
            case _:
                pass

    def _there(self) -> tuple[object, ...]:
        return [status(row) for row in self.servers()], list(self.skills())

    def _init(self, started: SessionStarted) -> Line:
        """What there is; said again before a turn in which that is not what it was."""
        told = self.servers(), self.kinds(), self.style(), self.skills()
        line = init(started, self._commands(), *told)
        line |= self.plugins()
        self._menu = self.menu()
        self._listed = self._there()
        return line

    def _assistant(self, message: AssistantMessage) -> Iterator[Line]:
        if self._partial is not None:
            yield from map(stream_event, self._partial.finish(message))
        text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
        self._answer = text or self._answer
        yield assistant(message, message.parts)

    def _deny(self, decided: Decided, agent: str) -> None:
        denial: Line = {
            "tool_name": decided.tool,
            "tool_use_id": decided.call_id,
            "tool_input": self.input_of(decided.call_id, agent),
            "reason": decided.reason,
        }
        self._denials.append({**denial, **by(agent)})

    def _unsent(self, reason: str) -> Line:
        """The result of an input that became no turn."""
        line = self._result(TurnEnded(stop=Stop.HOOK_STOPPED))
        self.code = Exit.ERROR
        told = {"subtype": "error_during_execution", "is_error": True, "errors": [reason]}
        return {**line, **told}

    def _problem(self) -> str:
        """What is wrong with the shape of a complete answer."""
        if self._shape is None or self.code is not Exit.OK:
            return ""
        return self._shape.problem(self._answer)

    def _result(self, ended: TurnEnded) -> Line:
        """The result of one turn; costs and models are those of the session so far."""
        self.code = code_of(ended)
        problem = self._problem()
        if problem:
            self.code = Exit.ERROR
        good = self.code is Exit.OK
        subtype = "success" if good else SUBTYPES.get(ended.stop, "error_during_execution")
        line: Line = {
            "type": "result",
            "subtype": MISSHAPEN_SUBTYPE if problem else subtype,
            "is_error": not good,
            "duration_ms": ended.ms,
            "duration_api_ms": ended.api_ms,
            "num_turns": ended.requests,
            "result": self._answer,
            "stop_reason": STOP_REASONS.get(ended.stop),
            "terminal_reason": ended.stop.value,
            "total_cost_usd": round(self._sums.cost, 6),
            "usage": usage(ended.usage),
            "modelUsage": self._sums.told(),
            "permission_denials": self._denials,
            "warnings": self._warnings.taken(),
        }
        if (call := ended.waits) is not None:
            line["deferred_tool_use"] = {"id": call.id, "name": call.name, "input": call.input}
        if not good:
            line["errors"] = [problem or ended.message or ended.stop.value]
        elif self._shape is not None:
            line["structured_output"] = self._shape.value(self._answer)
        self._answer, self._denials = "", []
        return line
