"""What the parts of the screen may ask of the program around them: its one port."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from gatewright.agent.client.port import SessionClient  # the screen is there before the core
    from gatewright.agent.commands.outcome import Offer, SetUi, Switch
    from gatewright.agent.record.hub import Subscription
    from gatewright.tui.picker import Picking
    from gatewright.tui.prompt.editor import Edited
    from gatewright.tui.prompt.menu import Choice
    from gatewright.tui.transcript.items import Item


class Host(Protocol):
    """The program: sessions, what it shows of them, the terminal, and its end."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the background; a defect in it is told."""
        ...

    # sessions

    @property
    def switches(self) -> bool:
        """It can go over to other sessions."""
        ...

    def switch(self, to: Switch) -> None: ...
    def enter(self, session: SessionClient) -> Subscription:
        """Show this session from now on, its last screenful first."""
        ...

    async def follow(self, events: Subscription) -> None:
        """Show what happens until the subscription ends."""
        ...

    def tasks(self) -> Sequence[str]:
        """What runs in the background."""
        ...

    # what is shown

    def add(self, item: Item) -> int: ...
    def patch(self, item: Item) -> None: ...
    def reveal(self, number: int) -> None: ...
    def show_queue(self, texts: Sequence[str]) -> None: ...
    def open_panel(self, offer: Offer) -> bool: ...
    def pick(self, picking: Picking) -> None: ...
    def take_up(self, setting: SetUi) -> None: ...
    def take_back(self) -> None:
        """Put what was sent and not taken up into the prompt."""
        ...

    def use_theme(self, name: str, *, keep: bool) -> None: ...

    # files, for the `@` menu

    def folder(self) -> Path: ...
    def files(self, query: str) -> tuple[Sequence[Choice], str]:
        """What fits, and what to say below it."""
        ...

    def refresh_files(self) -> None:
        """Read the list again if it is old; returns at once."""
        ...

    # the terminal

    def copy(self, text: str) -> None: ...
    def edit(self, text: str, done: Callable[[Edited], None]) -> None:
        """Let the person edit a text; returns at once."""
        ...

    def call_by(self, ways: bool | str) -> None:
        """How to call the person when a question waits, as the setting says it."""
        ...

    # the end

    def ask_to_leave(self) -> None: ...
    async def leave(self, code: int = 0) -> None: ...
