"""The small set of requests the demo understands, read by plain patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class Wish(NamedTuple):
    """What is asked for, and the words that go with it."""

    does: str
    said: Mapping[str, str]


HELP = """This is the demo: it works offline and there is no model behind it. It understands

- `tour` - a walk through this project
- `find TODO` or `grep TODO` - search the files
- `read README.md` - show a file
- `run git status` - run a command
- `replace "old" by "new" in notes.txt` - change a file
- `create notes.txt with some text` - write a file
- `plan` and `todo` - how plans and task lists look

Everything it does goes through the same tools, permissions and transcript as with a real model.
For one, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run `agent login`."""

_END = r"\s*[.?!]?\s*$"


_QUOTED = ("old", "new", "path", "what")


def _one(name: str, plain: str) -> str:
    """Something in quotes of any kind, or plain."""
    return rf"(?P<{name}>\"[^\"]+\"|'[^']+'|`[^`]+`|{plain})"


_OLD, _NEW, _PATH = _one("old", ".+?"), _one("new", ".*?"), _one("path", r"\S+?")
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("replace", rf"replace\s+{_OLD}\s+(?:by|with)\s+{_NEW}\s+in\s+{_PATH}{_END}"),
    (
        "create",
        rf"(?:create|write)\s+(?:a file\s+)?{_PATH}"
        r"(?:\s+(?:with|containing|:)\s*(?P<content>.+))?\s*$",
    ),
    ("run", r"run\s+(`?)(?P<command>.+?)\1\s*$"),
    ("find", rf"(?:find|grep|search(?:\s+for)?)\s+{_one('what', '.+?')}{_END}"),
    ("read", rf"(?:read|show|cat|open)\s+{_PATH}{_END}"),
    ("tour", r"(?:.*\s)?tour(?:\s.*|[.!?])?$"),
    ("plan", r"plan(?:\s+(?P<goal>.+?))?\s*$"),
    ("todo", r"to-?dos?(?:\s.*)?$"),
)
_COMPILED = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.DOTALL)) for name, pattern in _PATTERNS
)


def parse(text: str) -> Wish | None:
    """What is asked for, or None where the demo does not understand."""
    wanted = re.sub(r"^(please|can you|could you)\s+", "", text.strip(), flags=re.IGNORECASE)
    for does, pattern in _COMPILED:
        if match := pattern.match(wanted):
            return Wish(
                does, {name: _bare(name, words) for name, words in match.groupdict("").items()}
            )
    return None


def _bare(name: str, words: str) -> str:
    quoted = name in _QUOTED and words[:1] in ("'", '"', "`") and words[-1] == words[0]
    return words[1:-1] if quoted and len(words) > 2 else words
