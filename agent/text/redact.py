"""Takes secrets out of text that leaves the session: decisions, logs, exports.

What is one says `tools/system/secrets.py`; headers and private keys are known by how they stand.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gatewright.tools.system.patterns import later
from gatewright.tools.system.secrets import MOST, SHAPE, SHORTEST, Secrets

MARK = "[redacted]"

_PRIVATE = later(
    r"-----BEGIN (?P<kind>[A-Z ]{0,40}PRIVATE KEY)-----(?:(?!-----BEGIN ).){1,20000}?"
    r"-----END (?P=kind)-----",
    re.DOTALL,
)
_HEADER = later(r"(?i)\b(bearer|basic)( +)[A-Za-z0-9._~+/=-]{12,}")
_USERINFO = later(r"(?<=://)[^/\s:@]{1,200}:[^/\s:@]{1,200}(?=@)")


class Redactor:
    """Of a session: from its environment, what its settings call a secret, and what it learns."""

    def __init__(self, env: Mapping[str, str], secrets: Secrets | None = None) -> None:
        self._given = (secrets or Secrets()).masked(env)
        self._learned: dict[str, None] = {}  # the newest last
        self._values = _pattern(self._given)

    def learn(self, values: Iterable[str]) -> None:
        """Secrets that came later, such as a token that was renewed."""
        new = [each for each in values if len(each) >= SHORTEST and each not in self._learned]
        if new:
            learned = (*self._learned, *new)[-MOST:]
            self._learned = dict.fromkeys(learned)
            self._values = _pattern((*self._given, *learned))

    def text(self, text: str) -> str:
        if self._values is not None:
            text = self._values.sub(MARK, text)
        if "-----BEGIN" in text:
            text = _PRIVATE.sub(MARK, text)
        text = SHAPE.sub(MARK, text)
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


def _pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """The longest first: one may contain another."""
    longest = sorted(set(values), key=lambda value: (-len(value), value))
    return re.compile("|".join(map(re.escape, longest))) if longest else None


class RedactingFilter(logging.Filter):
    """Put on a handler: what a record says is redacted before it is formatted."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def use(self, redactor: Redactor) -> None:
        """More is known now: settings were read."""
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._redactor.text(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = self._redactor.text(
                logging.Formatter().formatException(record.exc_info)
            )
        return True


def share(redactor: Redactor) -> None:
    """Let the log, which begins before settings are read, mask what they call a secret."""
    for handler in logging.getLogger().handlers:
        for each in handler.filters:
            if isinstance(each, RedactingFilter):
                each.use(redactor)
