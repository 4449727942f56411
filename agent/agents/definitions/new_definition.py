"""A new definition of an agent: its text, and the file it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gatewright.agent.agents.definitions.reading import USUAL
from gatewright.agent.errors import GatewrightError

_BODY = """You are the agent {name}. What you are for: {task}.

- The task text is all you were told. Do that, all of it, and nothing beside it.

Your report: first the result, then what it rests on, then what was not done.
"""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,.()/_-;!?")


def new_definition(name: str, description: str, more: Mapping[str, str]) -> str:
    """The text of a file; `more` are further fields. Raises GatewrightError."""
    description = " ".join(description.split())
    if not description:
        raise GatewrightError("A description is needed: it says when to use the agent.")
    task = description.rstrip(". ")
    fields = {"name": name, "description": description, **more}
    lines = (f"{key}: {_value(value)}" for key, value in fields.items() if value)
    return "\n".join(("---", *lines, "---", "", _BODY.format(name=name, task=task)))


def write_definition(folder: Path, name: str, text: str) -> Path:
    """A new file in a directory that is made where there is none. Raises GatewrightError."""
    if not USUAL.fullmatch(name) or len(name) > 64:
        raise GatewrightError("A name is 1 to 64 of a-z, 0-9 and hyphens, such as test-runner.")
    path = folder / f"{name}.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise GatewrightError(f"{path} is there already.") from error
    except OSError as error:
        raise GatewrightError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def _value(text: str) -> str:
    """As YAML takes it, in quotes where that is needed."""
    flat = " ".join(text.split())
    plain = set(flat) <= _PLAIN and flat[0].isalpha() and not flat.endswith(("-", "?"))
    words = flat.casefold() in {"yes", "no", "on", "off", "true", "false", "null", "y", "n"}
    return flat if plain and not words else json.dumps(flat, ensure_ascii=False)
