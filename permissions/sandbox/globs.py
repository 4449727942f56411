"""Path globs of sandbox settings: absolute, compared without case, `**` any depth.

`//x` and `/x` are absolute, `~/x` is the home directory, anything else starts at `base`; a bare
name matches at any depth below it. A match of a directory covers its content.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_MAGIC = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True)
class Glob:
    """`literal` is the directory or file everything that matches lies at or below."""

    literal: str
    pattern: re.Pattern[str] | None  # None: exactly `literal`

    def matches(self, path: str) -> bool:
        if self.pattern is None:
            return path.casefold() == self.literal.casefold()
        return self.pattern.fullmatch(path) is not None


def resolved(glob: Glob) -> tuple[Glob, ...]:
    """The glob, and the same where links in its literal part lead."""
    real = os.path.realpath(glob.literal)
    if glob.pattern is None or real == glob.literal:
        return (glob,)
    head = re.escape(glob.literal.rstrip("/"))
    body = glob.pattern.pattern.removeprefix(head)
    pattern = re.compile(re.escape(real.rstrip("/")) + body, re.IGNORECASE | re.DOTALL)
    return (glob, Glob(real, pattern))


def globs(text: str, base: str, home: str) -> tuple[Glob, ...]:
    """The glob as written by a person; several when it has braces."""
    text = text.rstrip("/") or "/"
    if text.startswith("//"):
        text = text[1:]
    elif text == "~" or text.startswith("~/"):
        text = home + text[1:]
    elif text.startswith("**/"):
        text = f"/{text}"
    elif not text.startswith("/"):
        while text.startswith("./"):
            text = text[2:]
        anywhere = "/" not in text
        text = f"{base}/**/{text}" if anywhere else f"{base}/{text}"
    return tuple(_one(each) for each in _braces(text))


def _braces(text: str) -> list[str]:
    if "{" not in text:
        return [text]
    import bracex  # noqa: PLC0415  lazy: 3 ms, few patterns have braces

    return bracex.expand(text, limit=200)


def _one(text: str) -> Glob:
    for tail in ("/**/*", "/**"):
        text = text.removesuffix(tail)
    parts = [part for part in text.split("/") if part not in ("", ".")]
    literal: list[str] = []
    for part in parts:
        if _MAGIC.search(part):
            break
        literal.append(part)
    start = "/" + "/".join(literal)
    if len(literal) == len(parts):
        return Glob(start, None)
    pieces = [_component(part) for part in parts[len(literal) :]]
    body = "".join(pieces)
    head = re.escape(start.rstrip("/"))
    return Glob(start, re.compile(head + body, re.IGNORECASE | re.DOTALL))


def _component(part: str) -> str:
    """One path component as a regular expression that begins with its slash."""
    if part == "**":
        return "(?:/[^/]+)*"
    out, index = ["/"], 0
    while index < len(part):
        char = part[index]
        index += 1
        if char == "*":
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := part.find("]", index + 1)) > 0:
            inner = part[index:end].replace("\\", "\\\\")
            inner = "^" + inner[1:] if inner.startswith("!") else inner
            out.append(f"[{inner}]")
            index = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)
