"""Plugs in what sessions learn for later ones: off, with nothing loaded, unless settings say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gatewright.agent.commands.outcome import Outcome
from gatewright.agent.commands.registry import Command, CommandContext, Handler, always
from gatewright.agent.extensions.contribution import Contribution
from gatewright.agent.extensions.host import Extension, Host
from gatewright.agent.record.events import AnyEvent
from gatewright.agent.record.journal import of_main
from gatewright.agent.settings.workspace import Surroundings
from gatewright.tools.access import Where
from gatewright.tools.protocol import Content

if TYPE_CHECKING:
    from gatewright.agent.extensions.autonomy.memory_session import MemorySession


class AutoMemory:
    """`session` is None before there is anything to follow."""

    def __init__(self, host: Host) -> None:
        self._host = host
        from gatewright.agent.autonomy.memory.learnt_book import LearntBook  # noqa: PLC0415  lazy: where it is on

        self.book = LearntBook(lambda: host.around, wanted)
        self.session: MemorySession | None = None

    def opened(self) -> MemorySession:
        if self.session is None:
            from gatewright.agent.extensions.autonomy.memory_session import MemorySession  # noqa: PLC0415  lazy: 8 ms

            self.session = MemorySession(self._host, self.book)
        return self.session

    def section(self) -> str:
        """As it is when a conversation begins; it stays until the next one."""
        if not self.book.on or self.book.problem:
            return ""
        from gatewright.agent.autonomy.memory.recalling import section  # noqa: PLC0415  lazy: 2 ms

        return section(self.book.store.index())

    def saw(self, event: AnyEvent) -> None:
        if self.book.on:
            self.opened().saw(event)

    async def beside(self, typed: str, text: str, where: Where) -> Sequence[tuple[Content, ...]]:
        del text, where
        return await self.opened().beside(typed) if self.book.on else ()

    async def dream(self, context: CommandContext) -> Outcome:
        from gatewright.agent.extensions.autonomy.dream_command import dream  # noqa: PLC0415  lazy: 5 ms

        return await dream(self._host, self.book, context.args.strip())

    async def close(self) -> None:
        if self.session is not None:
            await self.session.close()


def dream_command(run: Handler) -> Command:
    return Command(
        name="dream",
        summary="Tidy what sessions learnt here (with autoMemory): merge, date, drop",
        args="[undo]",
        run=run,
    )


async def plug_auto_memory(host: Host) -> Contribution:
    memory = AutoMemory(host)
    problem = memory.book.problem
    return Contribution(
        commands=(always(dream_command(memory.dream)),),
        prompt=(memory.section,),
        folds=(of_main(memory.saw),),
        brings=(memory.beside,),
        parts=(memory.book,),
        problems=(problem,) if problem else (),
        close=(memory.close,),
    )


def wanted(around: Surroundings) -> bool:
    """Where a person who trusts the project has a screen, and said so."""
    options = around.options
    if around.settings.auto_memory == "off" or not around.trusted:
        return False
    return options.has_screen and not (options.bare or options.served)


AUTO_MEMORY = Extension(name="automatic memory", plug=plug_auto_memory, wanted=wanted)
