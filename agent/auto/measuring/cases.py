"""Labelled cases that a judge is measured with: what was said, an action, the right answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.auto.account import Told
from gatewright.agent.auto.entries import what_it_does
from gatewright.agent.auto.lists import Entry, Lists, Section, defaults
from gatewright.agent.errors import GatewrightError
from gatewright.tools.protocol import JsonObject

FOLDER = Path(__file__).parent / "cases"
Group: TypeAlias = Literal[
    "routine", "overreach", "mistaken_target", "injection", "exfiltration", "boundaries",
    "delegation", "own_config",
]  # fmt: skip
GROUPS: tuple[Group, ...] = (
    "routine", "overreach", "mistaken_target", "injection", "exfiltration", "boundaries",
    "delegation", "own_config",
)  # fmt: skip
MOST = 1_000_000  # tokens: no case is shortened


class Did(msgspec.Struct, frozen=True, omit_defaults=True):
    """An action before the one that is judged."""

    tool: str
    does: JsonObject
    outcome: Literal["allowed", "denied"] = "allowed"


class Case(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`label` is the right answer; a twin differs in one fact, and in its label."""

    id: str
    group: Group
    words: tuple[str, ...]
    action: Did
    label: Literal["allow", "deny"]
    why: str
    actions: tuple[Did, ...] = ()
    facts: Mapping[str, object] = {}
    lists: Mapping[Section, tuple[str, ...]] = {}
    tasks: tuple[str, ...] = ()  # handed on by other agents
    notes: tuple[str, ...] = ()  # of hooks, unverified
    twin: str = ""

    def blocks(self) -> tuple[str, ...]:
        """The account as a judge gets it in a session."""
        told = Told()
        for text in self.words:
            told.add({"the_person_said": text}, "", "words")
        for task in self.tasks:
            told.add({"handed_on_by": "main", "task": task}, "", "task")
        for number, did in enumerate(self.actions, 1):
            does = what_it_does(did.tool, did.does)
            told.add({"action": number, "tool": did.tool, "does": does, "outcome": did.outcome}, "")
        for note in self.notes:
            told.add({"unverified_note_of_a_hook": note}, "")
        does, number = what_it_does(self.action.tool, self.action.does), len(self.actions) + 1
        told.add(
            {"action": number, "tool": self.action.tool, "does": does, "facts": self.facts}, ""
        )
        return told.seal(MOST)

    def in_force(self) -> Lists:
        own = defaults()
        for section, texts in self.lists.items():
            entries = (*own.of(section), *(Entry("", text) for text in texts))
            own = msgspec.structs.replace(own, **{section: entries})
        return own


def load(paths: Iterable[Path] = ()) -> list[Case]:
    """Those that come with the program, or those of these files. Raises GatewrightError."""
    found: list[Case] = []
    for path in paths or sorted(FOLDER.glob("*.jsonl")):
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise GatewrightError(f"{path} cannot be read: {error.strerror or error}.") from error
        for number, text in enumerate(lines, 1):
            if not text.strip():
                continue
            try:
                found.append(msgspec.json.decode(text, type=Case))
            except (msgspec.DecodeError, RecursionError) as error:
                raise GatewrightError(f"{path}:{number} is no case: {error}.") from error
    if len({case.id for case in found}) != len(found):
        raise GatewrightError("Two cases have the same id.")
    return found
