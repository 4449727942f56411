"""What passing events still say of now, for who comes in the middle of a turn or of a call.

Only the last one of a kind is held, of those about one thing the last one of that thing, until what
happens says that it is over.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from gatewright.agent.record.events import (
    AgentFinished,
    AgentProgressed,
    AnyEvent,
    AssistantMessage,
    AutoChanged,
    CheckStarted,
    Decided,
    Envelope,
    HookRan,
    HookStarted,
    InputDelta,
    MessageDropped,
    Moved,
    RequestQueued,
    RetryScheduled,
    StreamSilent,
    TasksChanged,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgressed,
    TurnEnded,
    TurnStarted,
    UltracodeSwitched,
    Unconfined,
    UsageChanged,
    WorkflowEnded,
    WorkflowProgressed,
)

MOST = 500  # things at once; what is older is not told
LASTING = (AutoChanged, Moved, TasksChanged, UltracodeSwitched, Unconfined, UsageChanged)
WAITS = (RequestQueued, RetryScheduled, StreamSilent, InputDelta)  # one at a time
WRITES = (TextDelta, ThinkingDelta, AssistantMessage, MessageDropped)  # none of those any more
OF_TURN = ("turn", "waits", "call", "checked")

Key: TypeAlias = tuple[str, str, str]  # what kind of thing, of which agent, which


class Passing:
    """`held` gives what holds now, in its order."""

    def __init__(self) -> None:
        self._held: dict[Key, Envelope] = {}

    def held(self) -> list[Envelope]:
        return sorted(self._held.values(), key=lambda envelope: envelope.seq)

    def saw(self, envelope: Envelope) -> None:
        """An event of the agent itself, or of one below it."""
        event, agent = envelope.event, envelope.agent
        if isinstance(event, WRITES):
            if self._held:
                self._held.pop(("waits", agent, ""), None)
        elif event.durable:
            self._ends(event, agent)
        elif (key := _key(event, agent)) is not None:
            self._hold(key, envelope)

    def _hold(self, key: Key, envelope: Envelope) -> None:
        match envelope.event:
            case TasksChanged(ended=ended, running=running) if ended:  # told once
                envelope = replace(envelope, event=TasksChanged(running=running))
            case InputDelta() as piece:  # one piece of it says nothing
                envelope = replace(envelope, event=replace(piece, json=""))
            case _:
                pass
        self._held.pop(key, None)
        self._held[key] = envelope
        if len(self._held) > MOST:
            del self._held[next(iter(self._held))]

    def _ends(self, event: AnyEvent, agent: str) -> None:
        match event:
            case TurnEnded():
                for key in [key for key in self._held if key[:2] in _of_turn(agent)]:
                    del self._held[key]
            case ToolFinished(call_id=id):
                self._held.pop(("call", agent, id), None)
                self._held.pop(("waits", agent, ""), None)
            case Decided(call_id=id):
                self._held.pop(("checked", agent, id), None)
            case HookRan(id=id):
                self._held.pop(("hook", agent, id), None)
            case AgentFinished(child=child):
                self._held.pop(("agent", "", child), None)
            case WorkflowEnded(run=run):
                self._held.pop(("run", "", run), None)
            case _:
                pass


def _of_turn(agent: str) -> set[tuple[str, str]]:
    return {(kind, agent) for kind in OF_TURN}


def _key(event: AnyEvent, agent: str) -> Key | None:  # noqa: PLR0911  one kind each
    """None of what only says what was, or is held elsewhere."""
    match event:
        case TurnStarted():
            return "turn", agent, ""
        case ToolProgressed(call_id=id):
            return "call", agent, id
        case CheckStarted(call_id=id):
            return "checked", agent, id
        case HookStarted(id=id):
            return "hook", agent, id
        case AgentProgressed(child=child):
            return "agent", "", child
        case WorkflowProgressed(run=run):
            return "run", "", run
        case _ if isinstance(event, WAITS):
            return "waits", agent, ""
        case _ if isinstance(event, LASTING):
            return "last", agent, type(event).__name__
        case _:
            return None
