"""What a slash command leads to, as data: the session applies changes, front ends show the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from gatewright.tools.blocks import Block, Table, Text, Tone


class SetMode(msgspec.Struct, frozen=True):
    """`then` is sent to the model in that mode."""

    mode: str
    then: str = ""


class SetModel(msgspec.Struct, frozen=True):
    model: str


class SetEffort(msgspec.Struct, frozen=True):
    effort: str


class ClearHistory(msgspec.Struct, frozen=True):
    pass


Operation: TypeAlias = SetMode | SetModel | SetEffort | ClearHistory


class Say(msgspec.Struct, frozen=True):
    """Show something; nothing changes."""

    blocks: tuple[Block, ...]

    @classmethod
    def text(cls, text: str, tone: Tone = "normal") -> Say:
        return cls((Text(text, tone),))


class Taken(Say, frozen=True, kw_only=True):
    """What became of a secret: `again` asks once more, `then` is a command to run next."""

    again: bool = False
    then: str = ""


class Submit(msgspec.Struct, frozen=True):
    """Send text to the model as if it had been typed."""

    text: str


class Panel(msgspec.Struct, frozen=True):
    """Open a panel; a front end without one of that name shows the fallback."""

    name: str
    fallback: Say


class Secret(Panel, frozen=True, kw_only=True):
    """Ask for something that is shown and kept nowhere; `take` gets it and says what to show.

    A front end without a masked field shows the fallback.
    """

    title: str
    about: tuple[str, ...]
    take: Callable[[str], Awaitable[Say]]


class Sessions(Panel, frozen=True, kw_only=True):
    """The sessions to choose from: id, title, age, size and branch."""

    table: Table


class Change(msgspec.Struct, frozen=True):
    operation: Operation


class Quit(msgspec.Struct, frozen=True):
    pass


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """Leave this session for another one: a stored one, a copy of one, or without a path a new one.

    Given only to a front end that can do it. `said` is told there; mode, model and effort are those
    of the session that is left, `rules` what was denied there, or had to ask, by behavior and text.
    """

    path: str = ""
    copy: bool = False
    title: str = ""  # what the other one is called from now on
    said: str = ""
    mode: str = ""
    model: str = ""
    effort: str = ""
    rules: tuple[tuple[str, str], ...] = ()

    @property
    def carries(self) -> bool:
        """Whether mode, model and effort go along: a stored session has its own."""
        return self.copy or not self.path


Outcome: TypeAlias = Say | Submit | Panel | Change | Quit | Switch
