"""Plugs skills in: those there are told to the model, and run by it or by a person's line.

Files are looked at in a thread, before anybody asks; nothing of them runs until one is invoked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence

from gatewright.agent.commands.registry import Command, Handler, Looking
from gatewright.agent.extensions.contribution import Contribution, part_of
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.extensions.skills.invoked import Invoked
from gatewright.agent.extensions.skills.invoking import Invoker
from gatewright.agent.extensions.skills.lessons import Lessons
from gatewright.agent.extensions.skills.session_skills import (
    skills_of,
    telling_of,
    uses_of,
)
from gatewright.agent.plugins.parts import PluginParts
from gatewright.agent.record.events import AnyEvent, Compacted, Envelope, TurnStarted
from gatewright.agent.record.journal import of_main
from gatewright.agent.settings.overview import SettingsBook
from gatewright.agent.settings.workspace import Surroundings
from gatewright.skills.book import SkillBook
from gatewright.skills.naming import Skills
from gatewright.skills.shown.listing import budget
from gatewright.skills.source import SKILL, SLASH, SkillSource
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Block
from gatewright.tools.protocol import ToolSpec


class SessionSkills:
    """What a session has of skills, for whoever asks: front ends, types of agents, panels."""

    def __init__(self, host: Host) -> None:
        from gatewright.agent.extensions.skills.skill_commands import SkillCommands  # noqa: PLC0415  lazy

        self._host = host
        self._only: frozenset[str] | None = None  # what a client wants the model to have
        self.book: SkillBook = skills_of(host, self._kept_out)
        self.uses = uses_of(host)
        self.invoked = Invoked(host.base.start.stored)
        self.invoker = Invoker(host, self.book, self.uses, self.invoked)
        self.commands = SkillCommands(host, self.invoker)
        self.lessons = Lessons(host, self.book)
        self.verbs: Mapping[str, Handler] = {
            "learn": self.lessons.learn,
            "drafts": self.lessons.drafts,
        }
        self._seen = Skills()
        self.telling = telling_of(host, self.book, self.uses)

    def names(self) -> tuple[str, ...]:
        """Those that the model may invoke, as SDK clients are told."""
        now = self.book.now()
        return tuple(sorted(now.called(skill) for skill in self.book.listed(now)))

    def only(self, names: Sequence[str]) -> None:
        """The model has none but these; what a person types is theirs."""
        self._only = frozenset(name.casefold() for name in names)

    def _kept_out(self, name: str) -> bool:
        if self._only is None:
            return False
        name = name.casefold()
        return not any(
            name == each or name.endswith(f":{each}") or each.endswith(f":{name}")
            for each in self._only
        )

    def listing_for(self, tools: Iterable[ToolSpec], window: int) -> str:
        """What an agent with such tools and window is told; nothing if it can invoke none."""
        if not any(spec.name == SKILL for spec in tools):
            return ""
        percent = self._host.around.settings.skills.listing_percent
        return self.telling.for_agent(budget(window, percent))

    def elsewhere(self, words: str) -> Sequence[Block]:
        """Plugins of the marketplaces that were added, as they said last."""
        from gatewright.agent.plugins.panel.market_search import in_markets  # noqa: PLC0415  lazy

        around = self._host.around
        return in_markets(around.places.home, around.own_env, around.settings, words)

    @property
    def settings(self) -> SettingsBook | None:
        return part_of(self._host.brought, SettingsBook)

    def changed(self) -> None:
        """There may be other commands now."""
        self._changed(self.book.now())

    def _changed(self, now: Skills) -> None:
        self._seen = now
        if self._host.joined.is_set():
            self._host.session.commands.changed()

    def saw(self, event: AnyEvent) -> None:
        """At each turn's start: whether there are others now, for the menu. What the model was told
        with its message looked a moment ago."""
        if isinstance(event, TurnStarted):
            self._take(self.book.last())

    async def look_aside(self) -> None:
        """Where a menu opens, which waits for no disk."""
        self._take(await asyncio.to_thread(self.book.now))

    def _take(self, now: Skills) -> None:
        if now is not self._seen:  # the very same while nothing changed
            self._changed(now)


async def plug_skills(host: Host) -> Contribution:
    skills = SessionSkills(host)
    skills.book.begin()
    if (plugins := part_of(host.brought, PluginParts)) is not None:
        plugins.listen(skills.changed)
    if skills.invoked.files:
        await asyncio.to_thread(skills.invoker.shown_again)
    tools = host.around.options.tools
    source = SkillSource(
        skills.invoker,
        skill=tools is None or _named(tools, SKILL),
        slash=_named(tools or (), SLASH),
    )

    def saw(envelope: Envelope) -> None:
        skills.invoked.saw(envelope)
        if envelope.agent == MAIN and isinstance(envelope.event, Compacted):
            for each in skills.invoked.carried():
                host.publish(each)

    def commands() -> Sequence[Command]:
        from gatewright.agent.extensions.skills.skills_command import skills_commands  # noqa: PLC0415  lazy: 2 ms

        return skills_commands(skills)

    return Contribution(
        sources=(source, skills.telling),
        commands=(
            commands,
            Looking(skills.commands.now, skills.look_aside),
        ),
        prompt=(skills.telling.section,),
        announcements=(skills.telling.words,),
        folds=(
            saw,
            of_main(skills.telling.saw),
            of_main(skills.saw),
            of_main(skills.lessons.saw),
        ),
        farewell=skills.lessons.farewell,
        remains=skills.invoked.remains,
        parts=(skills,),
        close=(skills.invoker.close,),
    )


def _named(tools: Collection[str], name: str) -> bool:
    return any(each.casefold() == name.casefold() for each in tools)


def wanted(around: Surroundings) -> bool:
    """Not where no turn is ever run."""
    return not around.options.served


SKILLS = Extension(name="skills", plug=plug_skills, wanted=wanted)
