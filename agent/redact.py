"""Takes secrets out of text that leaves the session: decisions, logs, exports.

What a key looks like is data; values of variables whose name says "key" are secrets whatever they
look like.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

MARK = "[redacted]"
SHORTEST = 8  # shorter values would take ordinary words out of the text
MOST = 200  # variables looked at

_SHAPES = (
    r"sk-[A-Za-z0-9_-]{16,}",  # Anthropic, OpenAI, OpenRouter
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"gsk_[A-Za-z0-9]{20,}",
    r"csk-[A-Za-z0-9]{20,}",
    r"xai-[A-Za-z0-9]{20,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_-]{30,}",
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
)
_SHAPE = re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(_SHAPES) + r")")
_PRIVATE = re.compile(
    r"-----BEGIN (?P<kind>[A-Z ]{0,40}PRIVATE KEY)-----.{1,20000}?-----END (?P=kind)-----",
    re.DOTALL,
)
_HEADER = re.compile(r"(?i)\b(bearer|basic)( +)[A-Za-z0-9._~+/=-]{12,}")
_USERINFO = re.compile(r"(?<=://)[^/\s:@]{1,200}:[^/\s:@]{1,200}(?=@)")
_KEY_NAME = re.compile(r"(?i)key|token|secret|passw|credential|auth")


class Redactor:
    """Built once for a session from its environment."""

    def __init__(self, env: Mapping[str, str]) -> None:
        named = [value for name, value in env.items() if _is_secret(name, value)][:MOST]
        values = sorted(set(named), key=len, reverse=True)  # one may contain another
        self._values = re.compile("|".join(map(re.escape, values))) if values else None

    def text(self, text: str) -> str:
        if self._values is not None:
            text = self._values.sub(MARK, text)
        if "-----BEGIN" in text:
            text = _PRIVATE.sub(MARK, text)
        text = _SHAPE.sub(MARK, text)
        text = _HEADER.sub(rf"\1\2{MARK}", text)
        return _USERINFO.sub(MARK, text)

    def value(self, value: Any) -> Any:
        """The same for every text inside a JSON value."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {key: self.value(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
            case list() | tuple():
                return [self.value(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
            case _:
                return value


def _is_secret(name: str, value: str) -> bool:
    """A path or a short word under a telling name (SSH_AUTH_SOCK, KEYBOARD) is none."""
    if len(value) < SHORTEST or not _KEY_NAME.search(name):
        return False
    if value.startswith(("/", "~", ".", "http://", "https://")):
        return False
    return (
        any(letter.isdigit() for letter in value)
        or not value.isalpha()
        or len(value) > 2 * SHORTEST
    )


class RedactingFilter(logging.Filter):
    """Put on a handler: what a record says is redacted before it is formatted."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._redactor.text(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._redactor.text(
                logging.Formatter().formatException(record.exc_info)
            )
        return True
