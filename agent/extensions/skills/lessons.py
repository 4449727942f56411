"""What /skills learn and /skills drafts are about, loaded when they are typed.

Where the person wishes for suggestions it follows what is done, too.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.extensions.host import Host
from gatewright.agent.record.events import AnyEvent
from gatewright.skills.book import SkillBook

if TYPE_CHECKING:
    from gatewright.agent.extensions.skills.learning.learner import Learner


class Lessons:
    def __init__(self, host: Host, book: SkillBook) -> None:
        self._host, self._book = host, book

    async def learn(self, context: CommandContext) -> Outcome:
        return await self._learner.learn(context)

    async def drafts(self, context: CommandContext) -> Outcome:
        return await self._learner.look(context)

    def saw(self, event: AnyEvent) -> None:
        """Of the main agent."""
        if self._suggests:
            self._learner.saw(event)

    def farewell(self) -> str:
        return self._learner.farewell() if self._suggests else ""

    @property
    def _suggests(self) -> bool:
        around = self._host.around
        return around.interactive and around.settings.skills.learning == "suggest"

    @cached_property
    def _learner(self) -> Learner:
        from gatewright.agent.extensions.skills.learning.learner import Learner  # noqa: PLC0415  lazy: 5 ms

        return Learner(self._host, self._book)
