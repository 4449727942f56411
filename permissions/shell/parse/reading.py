"""What reading a line yields: commands in order, scopes, and what was not understood."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from gatewright.permissions.shell.parse.words import Word
from gatewright.tools.system.patterns import later

Joined: TypeAlias = Literal["", ";", "&&", "||", "|"]


class Redirect(msgspec.Struct):
    """`operator` without the descriptor; `body` is the text of a here-document or -string."""

    operator: str
    target: Word
    body: str | None = None
    expands: bool = False  # an unquoted delimiter: substitutions in the body run

    @property
    def file(self) -> bool:
        """Whether a file is opened, /dev/null and descriptor numbers left out."""
        if self.operator.startswith("<<"):
            return False
        text = self.target.plain
        if self.operator in ("<&", ">&") and text is not None and _DESCRIPTOR.fullmatch(text):
            return False
        return not (text == "/dev/null" and not self.target.quoted)

    @property
    def writes(self) -> bool:
        return ">" in self.operator

    @property
    def reads(self) -> bool:
        return "<" in self.operator


_DESCRIPTOR = later(r"\d+-?|-")


class Command(msgspec.Struct):
    """One simple command as it stands in the line."""

    words: list[Word] = msgspec.field(default_factory=list[Word])
    assigns: list[tuple[str, Word]] = msgspec.field(default_factory=list[tuple[str, Word]])
    redirects: list[Redirect] = msgspec.field(default_factory=list[Redirect])
    joined: Joined = ""
    pipe_in: bool = False
    fed: bool = False  # inside a group that something is piped into
    pipe_out: bool = False
    background: bool = False
    depth: int = 0
    statement: int = 0  # commands of one pipeline share it, with what is substituted into them
    spans: list[tuple[int, int]] = msgspec.field(default_factory=list[tuple[int, int]])
    values: tuple[str, tuple[Word, ...]] | None = None  # a loop variable and what it takes

    @property
    def empty(self) -> bool:
        return not (self.words or self.assigns or self.redirects or self.values)


class Scope(msgspec.Struct, frozen=True):
    """The begin or end of a subshell or substitution: what is set inside does not come out."""

    begins: bool


Event: TypeAlias = Command | Scope


class Reading(msgspec.Struct):
    """What was found: `oddities` end automatic grants, `errors` end all but exact ones."""

    events: list[Event] = msgspec.field(default_factory=list[Event])
    oddities: set[str] = msgspec.field(default_factory=set[str])
    errors: set[str] = msgspec.field(default_factory=set[str])

    @property
    def commands(self) -> list[Command]:
        return [event for event in self.events if isinstance(event, Command)]
