"""What the menu offers for the text before the cursor. Pure: sources come in as arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gatewright.agent.commands.registry import Command, Mention
from gatewright.tui.prompt.match import best, score
from gatewright.tui.prompt.menu import Choice


class Word(NamedTuple):
    """The word being completed: its kind, its text without the sigil, where it starts."""

    kind: str  # "command", "file" or ""
    text: str
    start: int


_QUOTED = re.compile(r'(?:(?<=[\s(\["\'])|^)@"([^"]*)$')  # a name with blanks, being written

NOTHING = Word("", "", 0)


def word_at(line: str, column: int, row: int) -> Word:
    """Which completion applies at the cursor."""
    before = line[:column]
    if row == 0 and before.startswith("/") and not any(c.isspace() for c in before):
        return Word("command", before[1:], 0)
    if quoted := _QUOTED.search(before):
        return Word("file", quoted[1], quoted.start())
    start = max(before.rfind(" "), before.rfind("\t")) + 1
    if before[start:].startswith("@"):
        return Word("file", before[start + 1 :], start)
    return NOTHING


def mention_choices(mentions: Iterable[Mention], query: str) -> list[Choice]:
    """What servers offer, behind files: those that begin so first."""
    found = best(query, mentions, lambda mention: (mention.name, mention.about))
    return [
        Choice(f"@{each.name}", each.name, each.about, open=each.open)
        for each in found
        if each.name != query
    ]


def command_choices(commands: Iterable[Command], query: str) -> list[Choice]:
    """Commands whose name or alias fits; names before aliases, but for one that is typed whole.

    Enter runs the first one: nobody who begins to type a name means what goes by another.
    """
    if "/" in query:
        return []
    every, whole = list(commands), query.lower()
    named = best(query, every, lambda each: (each.name, *(a for a in each.aliases if a == whole)))
    taken = {each.name for each in named}
    others = [each for each in every if each.name not in taken]
    return [_choice(command, query) for command in named] + [
        _choice(command, query) for command in best(query, others, lambda each: each.aliases)
    ]


def _choice(command: Command, query: str) -> Choice:
    also = "" if score(query.lower(), command.name) is not None else _alias(command, query)
    return Choice(
        insert=f"/{command.name}",
        label=f"/{command.name} {also or command.args}".rstrip(),
        detail=command.summary,
        source="" if command.source == "built-in" else command.source,
    )


def _alias(command: Command, query: str) -> str:
    """By which other name it is among what fits."""
    return next((f"(/{name})" for name in best(query, command.aliases, lambda each: (each,))), "")
