"""Why a text is no JSON object that we can read, and on which line: strict JSON, no comments."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec

from gatewright.agent.settings.layers.depth import nested_deeply
from gatewright.agent.settings.layers.repeated import repeated

MESSAGE = "is not valid JSON"
NO_OBJECT = "expected an object: { ... }"
TOO_DEEP = "is nested too deeply"


class Broken(Exception):
    """`line` is 1-based, 0 where there is none to name."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def parse_object(text: str) -> dict[str, Any]:
    """The object in the text, if nothing would be lost by writing it back. Raises Broken."""
    try:
        value: Any = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Broken(_words(text, error), error.lineno) from error
    except RecursionError as error:
        raise Broken(TOO_DEEP) from error
    except ValueError as error:  # a number of more digits than can be read
        raise Broken(f"{MESSAGE}: a number is too large") from error
    if not isinstance(value, dict):
        raise Broken(NO_OBJECT, 1)
    if nested_deeply(value):
        raise Broken(TOO_DEEP)
    try:
        msgspec.json.decode(text)  # what the loader refuses must not be written either
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise Broken(f"{MESSAGE}: a number or a character cannot be read") from error
    if again := repeated(text):
        raise Broken(f"has the key {again[0]} twice in one object: keep one", again[1])
    return cast("dict[str, Any]", value)


def explain(data: bytes) -> Broken:
    """What is wrong with bytes that the loader could not take."""
    try:
        parse_object(data.decode("utf-8"))
    except Broken as broken:
        return broken
    except UnicodeDecodeError as error:
        return Broken("is not valid UTF-8", data.count(b"\n", 0, error.start) + 1)
    return Broken(MESSAGE)


def _no_constant(name: str) -> Any:
    raise Broken(f"{MESSAGE}: {name} is no value")


def _words(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos :]
    if rest.startswith(("//", "/*", "#")):
        return f"{MESSAGE}: comments are not supported"
    before = text[: error.pos].rstrip()
    if before.endswith(",") and rest.lstrip()[:1] in ("}", "]"):
        return f"{MESSAGE}: a comma stands before the end of a list or object"
    return f"{MESSAGE}: {error.msg.lower()}"
