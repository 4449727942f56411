"""A new skill: its text, which every reader of the format takes, and where it is kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from gatewright.skills.model import SkillError
from gatewright.skills.places import SKILL
from gatewright.skills.reading import KEBAB, NAME

DESCRIPTION = 1_024
_BODY = """# {title}

{description}

## Steps

1. Look at what is there, before anything is changed.
2. Do the task: say here which commands to run, which files to read, in which order.
3. Check the result, and say how to tell that it is right.

## Rules

- Say what must never be done, and when to stop and ask.

Keep this text short. What is long or seldom needed goes into files of its own in `references/`;
what a program does better goes into `scripts/`. Name them here, so that they are found.
"""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,.()/_-;!?")
_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n", "none"})


def new_skill(name: str, description: str, more: Mapping[str, str] | None = None) -> str:
    """The text of a SKILL.md; `more` are further fields. Raises SkillError."""
    _check(name)
    flat = _flat(description)
    if not flat:
        raise SkillError("A description is needed: it says what the skill does, and when to use it")
    if len(flat) > DESCRIPTION:
        raise SkillError(f"A description has at most {DESCRIPTION:,} characters")
    fields = {"name": name, "description": flat, **(more or {})}
    lines = (f"{key}: {value_of(value)}" for key, value in fields.items() if _flat(value))
    sentence = flat if flat.endswith((".", "!", "?", "。")) else f"{flat}."
    body = _BODY.format(title=name.replace("-", " ").capitalize(), description=sentence)
    return "\n".join(("---", *lines, "---", "", body))


def write_skill(place: Path, name: str, text: str, folders: Sequence[str] = ()) -> Path:
    """A new directory with its SKILL.md and empty directories; all of it or nothing.

    Raises SkillError.
    """
    _check(name)
    folder = place / name
    try:
        place.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except FileExistsError:
        raise SkillError(f"{folder} is there already") from None
    except OSError as error:
        raise SkillError(f"{folder} cannot be made: {error.strerror or error}") from None
    try:
        (folder / SKILL).write_text(text, encoding="utf-8")
        for each in folders:
            (folder / each).mkdir()
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SkillError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder / SKILL


def value_of(text: str) -> str:
    """As YAML takes it, in quotes where that is needed."""
    flat = _flat(text)
    plain = set(flat) <= _PLAIN and flat[0].isalpha() and not flat.endswith(("-", "?"))
    clear = plain and flat.casefold() not in _WORDS and "---" not in flat
    return flat if clear else json.dumps(flat.replace("---", "--"), ensure_ascii=False)


def _flat(text: str) -> str:
    """One line of what can be printed."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _check(name: str) -> None:
    if not KEBAB.fullmatch(name) or len(name) > NAME:
        raise SkillError(f"A name is 1 to {NAME} of a-z, 0-9 and single hyphens, as fix-tests")
