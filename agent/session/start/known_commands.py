"""The commands of a session: its own, loaded when they are asked for, and those it was brought."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from gatewright.agent.commands.outcome import Outcome, Problem
from gatewright.agent.commands.registry import Command, Commands, InUse, ListedJobs, Resume
from gatewright.agent.context.instruction_files import MemoryBook
from gatewright.agent.extensions.contribution import Contribution, Part, part_of
from gatewright.agent.session.frame import Frame
from gatewright.agent.session.history_actions import Past
from gatewright.agent.workflows.opting_in import OptIn

if TYPE_CHECKING:
    from gatewright.agent.settings.overview import SettingsBook


NO_SETTINGS = "This session knows no settings."
NO_MEMORY = "This session reads no instruction files."


class State(NamedTuple):
    """Where the state of a session is that its own commands are about."""

    frame: Frame
    brought: Sequence[Contribution]
    past: Past
    in_use: InUse
    jobs: ListedJobs
    resume: Resume

    def part(self, kind: type[Part]) -> Part | None:
        return part_of(self.brought, kind)


def known_commands(state: State) -> Commands:
    """What the session itself can do, then what it was brought."""
    known = Commands()

    @cache
    def own() -> Sequence[Command]:
        from gatewright.agent.session.own_commands import own_commands  # noqa: PLC0415  lazy: 9 ms

        return own_commands(state, known)

    known.add(own)
    for each in state.brought:
        for source in each.commands:
            known.add(source)
    return known


def opting_in(state: State) -> OptIn | None:
    """In to whatever workflows the model begins, where there are any."""
    opting = state.part(OptIn)
    return opting if opting is not None and opting.there else None


async def keep_setting(book: SettingsBook | None, key: str, value: str) -> Outcome:
    """In the person's own file; a `Problem` where that cannot be."""
    from gatewright.agent.commands.settings import kept  # noqa: PLC0415  loaded with the commands

    return await kept(book, key, value) if book is not None else Problem.of(NO_SETTINGS)


async def keep_line(book: MemoryBook | None, line: str) -> Outcome:
    """In the project's instruction file."""
    from gatewright.agent.commands.memory import remember  # noqa: PLC0415  loaded with the commands

    return await remember(book, line) if book is not None else Problem.of(NO_MEMORY)
