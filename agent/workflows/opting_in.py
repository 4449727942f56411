"""How a person opts in to workflows: by a word in a message, or by an effort for the session.

The effort is in force for this session alone: it is written down nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gatewright.agent.context.announcements import Announcement
from gatewright.agent.record.events import AnyEvent, UltracodeSwitched
from gatewright.agent.text.ultracode import meant
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content, TextContent

WANTED = (
    "<ultracode>\nThe person's message has the word ultracode in it: they want this task done by a "
    "workflow. Look around as far as a good plan needs it, write a script for this very task, and "
    "start it with Workflow; a saved one that fits is as good. Do not do the work itself before. "
    "If the message only speaks about the word, answer it as ever.\n</ultracode>"
)
DECIDE = (
    "The person works with the effort ultracode: decide by yourself which tasks deserve a workflow "
    "(several angles, many files, claims to be checked, work that splits), and start one with "
    "Workflow without asking first. What is done faster by hand is done by hand."
)
SUBJECT = "ultracode"


class OptIn:
    """`there` says whether workflows can be started, `counts` whether the word means anything."""

    def __init__(
        self,
        there: Callable[[], bool],
        counts: Callable[[], bool],
        publish: Callable[[AnyEvent], None],
    ) -> None:
        self._there, self._counts, self._publish = there, counts, publish
        self._on = False

    @property
    def there(self) -> bool:
        """Whether there is such an effort."""
        return self._there()

    @property
    def ultracode(self) -> bool:
        """The person has agreed to whatever the model starts, until they leave that effort."""
        return self._on and self._there()

    def switch(self, on: bool) -> None:
        if on is not self._on:
            self._on = on
            self._publish(UltracodeSwitched(on=on))

    def words(self) -> Announcement:
        return Announcement(SUBJECT, DECIDE if self.ultracode else "")

    async def brings(self, typed: str, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        """Beside a message that asks for one."""
        del text, where
        if self._counts() and meant(typed) and self._there():
            return ((TextContent(WANTED),),)
        return ()
