"""The row above the prompt with what goes along with the message: pictures, files, folders."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gatewright.tui import cells
from gatewright.tui.line import Line, Span, clip
from gatewright.tui.sanitize import one_line

MOST = 8
NAME = 32  # cells of one name
_MENTION = re.compile(r'(?:(?<=[\s(\["\'])|^)@(?:"([^"\n]+)"|([^\s"\'<>|]+))', re.MULTILINE)
_RANGE = re.compile(r"#L\d{1,9}(?:-L?\d{1,9})?$")


class Attachment(NamedTuple):
    name: str
    size: int = -1  # bytes; -1 where there is nothing to count


def mentioned(text: str, folder: Path) -> list[Attachment]:
    """The files and folders that `@` in a text leads to; a name that leads nowhere is a word."""
    found: dict[str, Attachment] = {}
    for match in _MENTION.finditer(text):
        name = match[1] or match[2].rstrip(".,;:!?)]}")
        path = os.path.join(folder, os.path.expanduser(_RANGE.sub("", name)))  # noqa: PTH111, PTH118
        try:
            facts = os.stat(path)  # noqa: PTH116  for each key that is typed
        except (OSError, ValueError):
            continue
        size = facts.st_size if stat.S_ISREG(facts.st_mode) else -1
        found[name] = Attachment(name, size)
        if len(found) > MOST:
            break
    return list(found.values())


def sized(size: int) -> str:
    """Bytes for people."""
    if size < 0:
        return ""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size //= 1000
    return f"{size} GB"


def attached_rows(attachments: Sequence[Attachment], width: int) -> list[Line]:
    if not attachments:
        return []
    spans = [Span("+ ", "accent")]
    for number, attachment in enumerate(attachments[:MOST]):
        spans.append(Span("   " if number else ""))
        spans.append(Span(cells.fit_middle(one_line(attachment.name), NAME), "dim"))
        if size := sized(attachment.size):
            spans.append(Span(f" {size}", "faint"))
    if len(attachments) > MOST:
        spans.append(Span("   and more", "faint"))
    return [clip(Line(tuple(span for span in spans if span.text)), width)]
