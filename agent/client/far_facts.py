"""What a session at the other end of a line is, as it was told last."""

from __future__ import annotations

from collections.abc import Sequence

from gatewright.agent.client.far_state import FarState
from gatewright.agent.record.events import UsageChanged


class FarFacts:
    """The part of `SessionClient` that only tells facts."""

    def __init__(self, state: FarState) -> None:
        self._state = state

    @property
    def id(self) -> str:
        return self._state.facts.id

    @property
    def mode(self) -> str:
        return self._state.facts.mode

    @property
    def model(self) -> str:
        return self._state.facts.model

    @property
    def moved(self) -> str:
        return self._state.facts.moved

    @property
    def spent(self) -> UsageChanged:
        return self._state.facts.spent

    @property
    def unsaved(self) -> str:
        return self._state.facts.unsaved

    @property
    def stays(self) -> str:
        return self._state.stays

    @property
    def setup_due(self) -> bool:
        return self._state.facts.setup_due

    @property
    def instructions(self) -> Sequence[str] | None:
        return self._state.facts.instructions

    @property
    def answering(self) -> str:
        return self._state.facts.answering
