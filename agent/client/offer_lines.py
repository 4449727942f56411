"""Outcomes of commands over a line: what can be opened leaves its handlers where the session is.

A list, a form or a secret goes over with a number; whoever chooses, reads or types names it. A
panel over live data does not go over: it is said in words, with what it would need.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Choice, Switch
from gatewright.agent.commands.panels import Option
from gatewright.agent.settings.schema import Ui
from gatewright.tools.blocks import Block


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """`blocks` are what is said, of an offer in its place; `offer` is the number of one."""

    blocks: tuple[Block, ...] = ()


class SayLine(Line, frozen=True, tag="say"):
    problem: bool = False


class QuitLine(Line, frozen=True, tag="quit"):
    pass


class SwitchLine(Line, frozen=True, tag="switch"):
    to: Switch


class UiLine(Line, frozen=True, tag="ui"):
    """A setting of the screen has another value."""

    key: str
    ui: Ui


class PickLine(Line, frozen=True, tag="pick"):
    offer: int
    title: str
    choices: tuple[Choice, ...]
    about: tuple[str, ...] = ()
    at: int = 0
    back: bool = False
    head: Choice | None = None


class ListingLine(Line, frozen=True, tag="listing"):
    """`acts` and `looks` are further keys, each with its label."""

    offer: int
    title: str
    rows: tuple[Choice, ...]
    tabs: tuple[str, ...] = ()
    acts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    follows: bool = False
    looks: tuple[tuple[str, str], ...] = ()


class FormLine(Line, frozen=True, tag="form"):
    offer: int
    text: str


class DraftLine(Line, frozen=True, tag="draft"):
    text: str


class SecretLine(Line, frozen=True, tag="secret"):
    offer: int
    title: str
    about: tuple[str, ...] = ()
    told: tuple[Block, ...] = ()


class PageLine(Line, frozen=True, tag="page"):
    title: str


class SettingsLine(Line, frozen=True, tag="settings"):
    """`choices` are values of single settings that only the session knows."""

    offer: int
    options: tuple[Option, ...]
    choices: dict[str, tuple[tuple[str, str], ...]] = {}


class ChecksLine(Line, frozen=True, tag="checks"):
    offer: int
    checks: tuple[str, ...]


OutcomeLine: TypeAlias = (
    SayLine
    | PageLine
    | SettingsLine
    | ChecksLine
    | QuitLine
    | SwitchLine
    | UiLine
    | PickLine
    | ListingLine
    | FormLine
    | DraftLine
    | SecretLine
)
