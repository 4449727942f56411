"""The list of a project's features: what stands in it, read from anybody's text within limits.

A list is a value: whoever changes one gets another. Nothing here touches the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.agent.errors import GatewrightError
from gatewright.agent.text.printable import visible
from gatewright.agent.text.well_formed import well_formed
from gatewright.tools.system.patterns import later

State: TypeAlias = Literal["pending", "doing", "done", "blocked"]
MOST = 200  # features of a list
MOST_BYTES = 1_000_000
TITLE, ACCEPTANCE, CHECK, NOTE, GOAL = 200, 4_000, 2_000, 2_000, 2_000  # characters
SLUG = 40
_ID = later(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


class ProjectError(GatewrightError):
    """A list, or a step of its work, that cannot be; its text is for the person."""


class Feature(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`acceptance` says what has to be true, `check` is a command that shows some of it."""

    id: str
    title: str
    acceptance: str = ""
    check: str = ""
    state: State = "pending"
    note: str = ""

    @property
    def over(self) -> bool:
        return self.state in ("done", "blocked")


class FeatureList(msgspec.Struct, frozen=True, kw_only=True):
    goal: str = ""
    features: tuple[Feature, ...] = ()

    def find(self, id: str) -> Feature:
        """Raises ProjectError naming those there are."""
        for each in self.features:
            if each.id == id:
                return each
        known = ", ".join(each.id for each in self.features[:20]) or "none"
        raise ProjectError(f"There is no feature {id!r:.60}. There are: {known}.")

    def count(self, state: State) -> int:
        return sum(each.state == state for each in self.features)

    @property
    def next(self) -> Feature | None:
        """What is to be worked on: one that was begun and left comes before those that wait."""
        for state in ("doing", "pending"):
            for each in self.features:
                if each.state == state:
                    return each
        return None

    @property
    def branch(self) -> str:
        return f"project/{slug(self.goal)}"

    def changed(self, feature: Feature) -> FeatureList:
        """With this one in the place of the one of its id. Raises ProjectError."""
        self.find(feature.id)
        every = (feature if each.id == feature.id else each for each in self.features)
        return checked(replace(self, features=tuple(every)))

    def with_more(self, *features: Feature) -> FeatureList:
        return checked(replace(self, features=(*self.features, *features)))

    def free_id(self) -> str:
        taken = {each.id for each in self.features}
        return next(id for n in range(1, MOST + 2) if (id := f"f{n}") not in taken)


def slug(goal: str) -> str:
    """Of a branch: a few words of the goal."""
    words = re.findall(r"[a-z0-9]+", goal.casefold())
    made = "-".join(words)[:SLUG].strip("-")
    return made or "features"


def read_list(data: bytes) -> FeatureList:
    """Raises ProjectError that says what is wrong, and where."""
    if len(data) > MOST_BYTES:
        raise ProjectError(f"It has more than {MOST_BYTES:,} bytes.")
    try:
        return checked(msgspec.json.decode(data, type=FeatureList))
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise ProjectError(f"It cannot be read: {error}") from None


def written(list: FeatureList) -> bytes:
    """As it stands on the disk: made for people to read and to change."""
    names = ("id", "title", "acceptance", "check", "state", "note")
    every = [msgspec.structs.asdict(each) for each in list.features]
    rows = [{name: row[name] for name in names if row[name]} for row in every]
    value = {"goal": list.goal, "features": rows}
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def checked(list: FeatureList) -> FeatureList:
    """The list itself, if nothing in it is too long or stands there twice."""
    if len(list.features) > MOST:
        raise ProjectError(f"A list has {MOST} features at most.")
    _short("The goal", list.goal, GOAL)
    seen: set[str] = set()
    for each in list.features:
        if not _ID.fullmatch(each.id):
            raise ProjectError(f"{each.id!r:.60} is no id: letters, digits, - and _, 40 at most.")
        if each.id in seen:
            raise ProjectError(f"The id {each.id} stands there twice.")
        seen.add(each.id)
        _one_line(f"The title of {each.id}", each.title, TITLE)
        if not each.title.strip():
            raise ProjectError(f"{each.id} has no title.")
        _short(f"The acceptance of {each.id}", each.acceptance, ACCEPTANCE)
        _one_line(f"The check of {each.id}", each.check, CHECK)
        _short(f"The note of {each.id}", each.note, NOTE)
    return list


def _short(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise ProjectError(f"{what} has more than {most:,} characters.")
    if well_formed(text) != text or visible(text) != text:
        raise ProjectError(f"{what} holds characters that are no text.")


def _one_line(what: str, text: str, most: int) -> None:
    """What a person is shown in a line has no second one that they do not see."""
    if text and not text.isprintable():
        raise ProjectError(f"{what} has to be one line of plain text.")
    _short(what, text, most)


def noted(before: str, more: str) -> str:
    """A note with a line more, whatever an output or an agent put into it: the newest are kept."""
    text = "\n".join(filter(None, (before, visible(well_formed(more)).strip())))
    return text if len(text) <= NOTE else f"…{text[1 - NOTE :]}"


def proposed(goal: str, rows: Sequence[Feature]) -> FeatureList:
    """A list that somebody proposes: everything of it waits."""
    made = [
        replace(each, id=f"f{number}", state="pending", note="")
        for number, each in enumerate(rows, 1)
    ]
    return checked(FeatureList(goal=goal, features=tuple(made)))


Change: TypeAlias = Callable[[FeatureList], FeatureList]
