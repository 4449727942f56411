"""What hooks are told about a session: a fold over its events, one small record per agent."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from gatewright.agent.record.events import (
    AgentFinished,
    AgentStarted,
    AssistantMessage,
    Envelope,
    Moved,
    UserMessage,
)
from gatewright.agent.record.messages import CallPart, TextPart
from gatewright.tools.access import MAIN, Where


class Known(msgspec.Struct):
    cwd: Path
    kind: str = ""
    said: str = ""
    calls: int = 0  # of its last answer


class SessionFacts:
    """`saw` must be called with every event."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._agents = {MAIN: Known(where.cwd)}
        self.prompt = ""

    def of(self, agent: str) -> Known:
        return self._agents.get(agent) or Known(self._where.cwd)

    def where(self, agent: str) -> Where:
        return replace(self._where, cwd=self.of(agent).cwd)

    def saw(self, envelope: Envelope) -> None:
        match envelope.event:
            case UserMessage(input_id=id, hidden=False) if envelope.agent == MAIN:
                self.prompt = id
            case AssistantMessage(parts=parts):
                text = "".join(part.text for part in parts if isinstance(part, TextPart))
                known = self._known(envelope.agent)
                known.said = text or known.said
                known.calls = sum(isinstance(part, CallPart) for part in parts)
            case Moved(where=text):
                self._known(envelope.agent).cwd = self._place(text)
            case AgentStarted(child=child, kind=kind):
                self._agents[child] = Known(self.of(envelope.agent).cwd, kind)
            case AgentFinished(child=child):
                self._agents.pop(child, None)
            case _:
                pass

    def _known(self, agent: str) -> Known:
        return self._agents.setdefault(agent, Known(self._where.cwd))

    def _place(self, shown: str) -> Path:
        """As `Where.moved` shows it: from the project, from home, or whole."""
        if shown.startswith("~/"):
            return self._where.home / shown[2:]
        return self._where.root / shown
