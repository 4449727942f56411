"""The model's history as a fold over events.

Live and resumed sessions run this same fold: fold(stored) equals fold(live).
"""

from __future__ import annotations

from gatewright.agent.events import (
    AnyEvent,
    AssistantMessage,
    Cleared,
    Compacted,
    ToolFinished,
    UserMessage,
)
from gatewright.agent.messages import AssistantTurn, CallPart, ResultTurn, Turn, Usage, UserTurn
from gatewright.agent.pairing import Pairing
from gatewright.tools.protocol import TextContent


class Conversation:
    """Grows by `apply`; `view` is what a provider may be sent. Both cost the same at any length."""

    def __init__(self) -> None:
        self._history = Pairing()
        self._open: dict[str, CallPart] = {}
        self.call_ids: set[str] = set()  # of the whole session, also what was cleared
        self.last_usage = Usage()

    def apply(self, event: AnyEvent) -> None:
        """Take one event of the main agent; events that the model is not told of do nothing."""
        match event:
            case UserMessage(content=content):
                self._history.add(UserTurn(content))
            case AssistantMessage(parts=parts, model=model, usage=usage):
                self._history.add(AssistantTurn(parts, model))
                calls = {part.id: part for part in parts if isinstance(part, CallPart)}
                self.call_ids.update(calls)
                self._open.update(calls)
                self.last_usage = usage
            case ToolFinished(call_id=call_id, ok=ok, content=content):
                self._history.add(ResultTurn(call_id, ok, content))
                self._open.pop(call_id, None)
            case Compacted(summary=summary):
                self._restart()
                self._history.add(UserTurn((TextContent(summary),)))
            case Cleared():
                self._restart()
            case _:
                pass

    def view(self) -> tuple[Turn, ...]:
        return self._history.view()

    def dangling(self) -> tuple[CallPart, ...]:
        """Calls without a result: what a crash left behind."""
        return tuple(self._open.values())

    def _restart(self) -> None:
        self._history = Pairing()
        self._open = {}
        self.last_usage = Usage()
