"""The four lists a judge goes by: what comes with the program, and the person's own words."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.settings.groups.auto_settings import DEFAULTS, AutoMode

Section: TypeAlias = Literal["environment", "allow", "soft_deny", "hard_deny"]
SECTIONS: tuple[Section, ...] = ("environment", "allow", "soft_deny", "hard_deny")
_FILE = Path(__file__).parent / "prompts" / "lists.json"
LONGEST = 1_000  # characters of one entry
ENTRIES = 200  # of one list


class Entry(msgspec.Struct, frozen=True):
    label: str
    text: str


class Lists(msgspec.Struct, frozen=True):
    environment: tuple[Entry, ...] = ()
    allow: tuple[Entry, ...] = ()
    soft_deny: tuple[Entry, ...] = ()
    hard_deny: tuple[Entry, ...] = ()

    def of(self, section: Section) -> tuple[Entry, ...]:
        match section:
            case "environment":
                return self.environment
            case "allow":
                return self.allow
            case "soft_deny":
                return self.soft_deny
            case "hard_deny":
                return self.hard_deny


def defaults() -> Lists:
    """What comes with the program."""
    return msgspec.json.decode(_FILE.read_bytes(), type=Lists)


def in_force(settings: AutoMode) -> Lists:
    """The person's lists; an empty one is the program's, `$defaults` puts those in its place."""
    own = defaults()
    return Lists(
        _joined(settings.environment, own.environment),
        _joined(settings.allow, own.allow),
        _joined(settings.soft_deny, own.soft_deny),
        _joined(settings.hard_deny, own.hard_deny),
    )


def _joined(texts: tuple[str, ...], own: tuple[Entry, ...]) -> tuple[Entry, ...]:
    if not texts:
        return own
    found: list[Entry] = []
    for text in texts[:ENTRIES]:
        if text.strip() == DEFAULTS:
            found += [each for each in own if each not in found]
        elif text.strip():
            found.append(Entry("", text.strip()[:LONGEST]))
    return tuple(found)
