"""How what a hook says reaches a model: named, bounded, and never in the voice of anybody else."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from gatewright.agent.hooks.handlers import Handler
from gatewright.agent.text.printable import visible
from gatewright.tools.system import private

LONGEST = 10_000  # characters that go into a conversation
PREVIEW = 2_000
NOTICE, TITLE = 2_000, 100  # characters for a person
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
# What looks like a tag of whoever runs the session, or like the turn of another speaker.
_TAGS = re.compile(
    r"<(?=/?\s*(?:system|hook|tool|function|user|assistant|human|ai|command|local-command|antml)"
    r"[\w:-]*[\s/>])",
    re.IGNORECASE,
)


def labelled(handler: Handler, text: str) -> str:
    return f"[{handler.event} hook, {handler.name}] {harmless(text)}"


def blamed(handler: Handler, text: str) -> str:
    """A refusal, with who it comes from."""
    return harmless(text) or f"The hook {handler.name} refused it."


def printed(text: str) -> str:
    """What a program printed, as it would be read: no colours, nothing hidden."""
    return visible(ESCAPES.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n")))


def harmless(text: str) -> str:
    """Printable, and no tag that a model could take for the program's own."""
    return _TAGS.sub("&lt;", printed(text))


def brief(text: str, most: int) -> str:
    """For a person: printable, and no more of it than one reads."""
    shown = printed(text[: most + 1])
    return shown if len(text) <= most else f"{shown[:most]}…"


def bounded(text: str, folder: Path) -> str:
    """A long text in a file of the session, its beginning in its place. Blocks: for a thread."""
    if len(text) <= LONGEST:
        return text
    data = text.encode("utf-8", "replace")
    path = folder / f"hook-{hashlib.blake2b(data, digest_size=8).hexdigest()}.txt"
    try:
        private.write(path, data)
    except OSError as error:
        where = f"the whole could not be kept: {error.strerror or error}"
    else:
        where = f"the whole is in {path}"
    return f"{text[:PREVIEW]}\n[{len(text)} characters; {where}]"
