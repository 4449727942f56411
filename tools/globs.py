"""Glob patterns as ripgrep and git read them, compiled to regular expressions over byte paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec


class Glob(msgspec.Struct, frozen=True):
    """One line of an ignore file or one --glob: does it match a path, and what follows."""

    regex: re.Pattern[str]
    negated: bool
    only_directories: bool


def compile_glob(line: str) -> Glob | None:
    """The pattern of one line; None for a comment, an empty or an invalid one."""
    text = line.rstrip("\n\r")
    if not text.endswith("\\ "):
        text = text.rstrip(" ")
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!").removeprefix("\\") if negated else text
    if text.startswith(("\\!", "\\#")):
        text = text[1:]
    only_directories = text.endswith("/")
    text = text.removesuffix("/")
    anchored = "/" in text
    text = text.removeprefix("/")
    if not anchored:
        text = f"**/{text}"
    if text.endswith("/**"):
        text += "/*"
    try:
        return Glob(re.compile(translate(text), re.DOTALL), negated, only_directories)
    except re.error:
        return None


def translate(pattern: str) -> str:
    """A whole-match expression: `*` and `?` stay within a component, `**` crosses them."""
    out: list[str] = []
    at = depth = 0
    while at < len(pattern):
        if pattern.startswith("**/", at) and (at == 0 or pattern[at - 1] == "/"):
            out.append("(?:.*/)?")
            at += 3
            continue
        if pattern[at:] == "**" and (at == 0 or pattern[at - 1] == "/"):
            out.append(".*")
            break
        piece, at, depth = _piece(pattern, at, depth)
        out.append(piece)
    if depth:
        raise re.error("unclosed brace")
    return f"(?:{''.join(out)})\\Z"


def _piece(pattern: str, at: int, depth: int) -> tuple[str, int, int]:
    char = pattern[at]
    if char == "*":
        while pattern.startswith("*", at + 1):
            at += 1
        return "[^/]*", at + 1, depth
    if char == "?":
        return "[^/]", at + 1, depth
    if char == "[":
        text, after = _class(pattern, at)
        return text, after, depth
    if char == "{":
        return "(?:", at + 1, depth + 1
    if char == "}" and depth:
        return ")", at + 1, depth - 1
    if char == "," and depth:
        return "|", at + 1, depth
    if char == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2, depth
    return re.escape(char), at + 1, depth


def _class(pattern: str, at: int) -> tuple[str, int]:
    start = at + 1
    inverted = pattern[start : start + 1] in ("!", "^")
    start += inverted
    end = pattern.find("]", start + 1)
    if end < 0:
        raise re.error("unclosed character class")
    body = pattern[start:end].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
    body = body.replace("]", "\\]")
    return f"(?!/)[{'^' if inverted else ''}{body}]", end + 1


class GlobSet:
    """Patterns in order: the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._globs: Sequence[Glob] = [g for line in lines if (g := compile_glob(line))]

    def __bool__(self) -> bool:
        return bool(self._globs)

    @property
    def wants_some(self) -> bool:
        """Whether there is a pattern that is not negated."""
        return any(not glob.negated for glob in self._globs)

    def verdict(self, path: str, *, directory: bool) -> bool | None:
        """True if the last match is a plain pattern, False if negated, None without a match."""
        for glob in reversed(self._globs):
            if (directory or not glob.only_directories) and glob.regex.match(path):
                return not glob.negated
        return None
