"""The facade: all that a front end ever sees of the core."""

from __future__ import annotations

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Commands
from gatewright.agent.hub import Subscription
from gatewright.tools.interact import Answer


class Session:
    """Owns hub, inbox, conversation and the runner task; nearly every method returns at once."""

    id: str
    commands: Commands

    @property
    def mode(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def busy(self) -> bool:
        """A turn is running or about to."""
        ...

    def submit(self, text: str) -> str:
        """Queue input for the model; returns its id. Emits UserMessage once it is taken up."""
        ...

    def recall(self) -> tuple[str, ...]:
        """Take back queued input that was not taken up yet (Esc returns it to the editor)."""
        ...

    def interrupt(self) -> bool:
        """Stop the running turn; False when nothing runs."""
        ...

    def answer(self, ask: int, answer: Answer) -> bool:
        """Answer a pending ask; False: someone else was first."""
        ...

    def set_mode(self, name: str) -> str:
        """Switch the permission mode; returns the canonical name or raises ValueError."""
        ...

    def cycle_mode(self) -> str: ...

    async def run_command(self, line: str) -> Outcome:
        """Run `/name args`. Changes and submits are already applied when this returns."""
        ...

    def subscribe(self, *, since: int = 0) -> Subscription:
        """Everything kept so far with seq > since (stored history included), then live events."""
        ...

    async def idle(self) -> None:
        """Wait until no turn runs and the queue is empty."""
        ...

    async def close(self) -> None: ...
