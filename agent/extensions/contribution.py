"""What may be brought to a session by what plugs into it.

A system is a folder of its own and one line in `listed.py`. Nothing of it is imported by a session
that does not want it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec

from gatewright.agent.commands.registry import CommandSource, Mention
from gatewright.agent.context.announcements import Announcement
from gatewright.agent.record.journal import Fold
from gatewright.tools.access import Access, Where
from gatewright.tools.protocol import Content, ToolSource

if TYPE_CHECKING:
    from gatewright.tools.classify import Classify
    from gatewright.tools.moments import Moments

# What the person typed of an input, all of it, and where it is said.
Brings: TypeAlias = Callable[[str, str, Where], Awaitable[Sequence[tuple[Content, ...]]]]
Close: TypeAlias = Callable[[], Awaitable[None]]
# Keeps what a call is about to change; True: uncommitted work may be thrown away.
Saving: TypeAlias = Callable[[Access, bool], Awaitable[None]]
Part = TypeVar("Part")


class Root(msgspec.Struct, frozen=True):
    """A directory that others load definitions from, and whose word it is."""

    path: Path
    origin: str


class Contribution(msgspec.Struct, frozen=True, kw_only=True):
    """All that an extension may bring. `parts` is what front ends ask for by its type."""

    sources: tuple[ToolSource, ...] = ()
    commands: tuple[CommandSource, ...] = ()  # live: asked again when they say so
    prompt: tuple[Callable[[], str], ...] = ()  # sections of the system prompt
    announcements: tuple[Callable[[], Announcement], ...] = ()
    folds: tuple[Fold, ...] = ()
    brings: tuple[Brings, ...] = ()  # what goes to the model beside an input of the person
    claims: Callable[[str], bool] | None = None  # which names behind @ it brings itself
    mentions: Callable[[str], Awaitable[Sequence[Mention]]] | None = None  # how one may go on
    moments: Moments | None = None
    classify: Classify | None = None  # judges asks in a person's place: auto mode is offered
    agents: bool = False  # there is something to delegate to
    lost: Callable[[], Mapping[str, str]] | None = None  # by call: the result of one cut off
    saving: Saving | None = None  # keeps what a call is about to change
    keeps: Callable[[Path], Awaitable[bool]] | None = None  # whether it could put a path back
    remains: Callable[[], Sequence[str]] | None = None  # what is put back beside a summary
    roots: tuple[Root, ...] = ()
    parts: tuple[object, ...] = ()
    problems: tuple[str, ...] = ()  # for the person, when the session begins
    farewell: Callable[[], str] | None = None  # and a line when it ends; empty for none
    close: tuple[Close, ...] = ()


def part_of(contributions: Sequence[Contribution], kind: type[Part]) -> Part | None:
    """What somebody brought of this type; the first, where several did."""
    for contribution in contributions:
        for part in contribution.parts:
            if isinstance(part, kind):
                return part
    return None


def parting(lost: str, contributions: Sequence[Contribution]) -> str:
    """What is to be said at the end, a line each: `lost` is what the disk did not take."""
    said = [each.farewell() for each in contributions if each.farewell is not None]
    return "\n".join(filter(None, (lost, *said)))


async def mentioned(brought: Sequence[Contribution], begun: str) -> Sequence[Mention]:
    """How a name behind @ that begins so may go on, by all who know of some."""
    asked = [each.mentions for each in brought if each.mentions is not None]
    return [one for offered in asked for one in await offered(begun)]
