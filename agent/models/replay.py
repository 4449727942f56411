"""`--model demo --replay FILE`: the answers of a recorded session, with real calls."""

from __future__ import annotations

from pathlib import Path

from gatewright.agent.errors import SessionError
from gatewright.agent.providers.demo.demo import ReplayProvider
from gatewright.agent.providers.protocol import Provider
from gatewright.agent.record.events import AssistantMessage
from gatewright.agent.transcript.reader import branch_of
from gatewright.tools.access import MAIN


def replayed(path: Path) -> Provider:
    """Raises SessionError when the file is no transcript or holds no answer."""
    events = (envelope.event for envelope in branch_of(path) if envelope.agent == MAIN)
    messages = [event for event in events if isinstance(event, AssistantMessage)]
    if not messages:
        raise SessionError(f"{path} holds no answer to replay.")
    return ReplayProvider(messages)
