"""What a front end may ask of a session, wherever the session runs: the one port of all of them.

`Session` is it in its own process, `RemoteSession` over a line. Nothing here waits for the session
but what is awaitable: what is answered later is given to a callback, at once where it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Commands, Front, Mention
from gatewright.agent.record.events import UsageChanged
from gatewright.agent.record.hub import Subscription
from gatewright.agent.settings.schema import StatusLine
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer, Weighed
from gatewright.tools.protocol import Content

# One message that was taken back: its text, then what was attached.
Taken: TypeAlias = tuple[Content, ...]
Give: TypeAlias = Callable[[Sequence[Taken]], None]


class StatusSource(Protocol):
    """The person's own status line: what runs, where, and when it is to run again."""

    def setting(self) -> StatusLine | None: ...
    def refresh(self) -> None: ...
    def env(self) -> Mapping[str, str]: ...
    def listen(self, changed: Callable[[], None]) -> None: ...


class SessionClient(Protocol):
    """One session, as who shows it sees it."""

    # what it is, as far as it is known here

    @property
    def id(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def moved(self) -> str:
        """Where commands run now, if that is not the project's directory, as it is shown."""
        ...

    @property
    def instructions(self) -> Sequence[str] | None:
        """The instruction files that the model is told from the beginning, as they are shown.

        None while they are being read.
        """
        ...

    @property
    def spent(self) -> UsageChanged: ...
    @property
    def unsaved(self) -> str:
        """What is to be said at its end: what of it the disk did not take; mostly nothing."""
        ...

    @property
    def stays(self) -> str:
        """Left, it goes on: its id, by which one comes back. Empty: it ends with being left."""
        ...

    @property
    def setup_due(self) -> bool:
        """Nothing that could answer is set up."""
        ...

    @property
    def answering(self) -> str:
        """The model and where it comes from."""
        ...

    @property
    def busy(self) -> bool:
        """A turn is running or about to."""
        ...

    @property
    def status(self) -> StatusSource | None:
        """For a status line of the person's own; None where there is none to be run here."""
        ...

    def status_input(self, vim: str) -> bytes:
        """What a status line command reads."""
        ...

    @property
    def commands(self) -> Commands:
        """Those that lead somewhere here; a front end may add its own."""
        ...

    # what happens

    def subscribe(self, *, since: int = 0, streamed: bool = False) -> Subscription:
        """Everything kept so far with seq > since (stored history included), then live events.

        `streamed`: also what passes and still holds, for who comes in the middle of a turn.
        """
        ...

    async def watch(self, agent: str) -> Subscription:
        """What an agent below did and does; its stored events once it has ended.

        Raises SessionError where nothing is known of it.
        """
        ...

    async def opened(self) -> object:
        """Wait until what is asked at the beginning is answered."""
        ...

    async def idle(self) -> None:
        """Wait until no turn runs and the queue is empty."""
        ...

    # what is asked of it

    def submit(
        self,
        text: str,
        attachments: Taken = (),
        *,
        typed: str | None = None,
        id: str = "",
        agent: str = MAIN,
    ) -> str:
        """Queue input for the model; returns its id, a new one where none is given.

        Only what is `typed`, None for all of it, names files to attach. Another agent than the main
        one goes on with it, even if it had ended; where it cannot, InputRefused says why.
        """
        ...

    def typing(self) -> None:
        """The person began to write: what an answer needs may be made ready. Tells nothing."""
        ...

    def take_back(self, give: Give) -> bool:
        """Give back what was not taken up yet; False where nothing waits."""
        ...

    def interrupt(self) -> bool:
        """Stop the running turn; False when nothing runs."""
        ...

    def to_background(self) -> int:
        """Send what turns wait for to the background, commands and agents; how many there were."""
        ...

    async def stop_agent(self, agent: str) -> Outcome:
        """End an agent and all below it; a `Problem` where that cannot be."""
        ...

    async def resume_agent(self, agent: str) -> Outcome:
        """Let an agent that has ended go on where it was; a `Problem` where that cannot be."""
        ...

    def answer(self, ask: int, answer: Answer, *, by: str = "") -> bool:
        """Answer a pending ask; False: it is known that someone else was first.

        `by`: who of several that look at it, where that is to be told to the others.
        """
        ...

    async def weigh(self, ask: int, rules: Sequence[str]) -> Weighed:
        """What an "always" with these rules instead would do; nothing is stored by asking."""
        ...

    def cycle_mode(self) -> str:
        """Go on to the next mode; returns the one in force as far as it is known."""
        ...

    async def mentions(self, begun: str) -> Sequence[Mention]:
        """How a name behind @ that begins so may go on, besides files."""
        ...

    async def run_command(self, line: str, front: Front) -> Outcome:
        """Run `/name args`. Changes and submits are already applied when this returns."""
        ...

    async def apply(self, outcome: Outcome, front: Front) -> Outcome:
        """Do what a command or a choice led to: what a front end has to show of it, or to do."""
        ...

    async def keep_setting(self, key: str, value: str) -> Outcome:
        """Keep a setting in the person's own file; a `Problem` where that cannot be."""
        ...

    async def remember(self, line: str) -> Outcome:
        """Keep a line in the project's instruction file."""
        ...

    async def close(self) -> None:
        """Stop the turn, let the transcript finish, end every task."""
        ...
