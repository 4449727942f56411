"""Path globs of sandbox settings: absolute, compared without case, `**` any depth.

`//x` and `/x` are absolute, `~/x` is the home directory, anything else starts at `base`; a bare
name matches at any depth below it. A match of a directory covers its content. What cannot be read
as a glob restricts all that it could be about, and grants nothing.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

import msgspec

from gatewright.permissions.machine.links import led_out, on_disk
from gatewright.permissions.rulebook import braces
from gatewright.tools.system.patterns import later

GLOB_FLAGS = re.IGNORECASE | re.DOTALL
_MOST = 5_000  # entries that are looked at for one pattern
_MAGIC = later(r"[*?\[{]")


class Glob(msgspec.Struct, frozen=True):
    """`literal` is the directory or file everything that matches lies at or below."""

    literal: str
    pattern: re.Pattern[str] | None  # None: exactly `literal`

    def matches(self, path: str) -> bool:
        if self.pattern is None:
            return path.casefold() == self.literal.casefold()
        return self.pattern.fullmatch(path) is not None


def resolved(glob: Glob, roots: tuple[str, ...] = ()) -> tuple[Glob, ...]:
    """The glob, and the same where links in its literal part lead.

    What grants names its `roots`: links in there do not lead it out of them.
    """
    real = os.path.realpath(glob.literal)
    if roots and led_out(on_disk(glob.literal), roots):
        return (glob,)
    if glob.pattern is None or real == glob.literal:
        return (glob,)
    head = re.escape(glob.literal.rstrip("/"))
    body = glob.pattern.pattern.removeprefix(head)
    pattern = re.compile(re.escape(real.rstrip("/")) + body, GLOB_FLAGS)
    return (glob, Glob(real, pattern))


def on_this_disk(glob: Glob) -> Iterator[str]:
    """What is there that matches, within bounds."""
    count, queue = 0, [glob.literal]
    while queue and count < _MOST:
        here = queue.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    count += 1
                    if glob.matches(entry.path):
                        yield entry.path
                    elif entry.is_dir(follow_symlinks=False):
                        queue.append(entry.path)
        except OSError:
            continue


def wrong(text: str) -> str:
    """Why this is no glob, or nothing."""
    if problem := braces.wrong(text):
        return problem
    try:
        _one(text)
    except re.error as error:
        return f"is no glob: {error.msg}"
    return ""


def globs(text: str, base: str, home: str, *, grants: bool = False) -> tuple[Glob, ...]:
    """The glob as written by a person; several when it has braces."""
    text = _absolute(text, base, home)
    try:
        return tuple(_one(each) for each in _alternatives(text))
    except (_TooMany, re.error):
        return () if grants else (_all_in(_literal(text)),)


class _TooMany(Exception):
    pass


def _alternatives(text: str) -> list[str]:
    found = braces.expanded(text)
    if found is None:
        raise _TooMany
    return found


def _absolute(text: str, base: str, home: str) -> str:
    text = text.rstrip("/") or "/"
    if text.startswith("//"):
        return text[1:]
    if text == "~" or text.startswith("~/"):
        return home + text[1:]
    if text.startswith("**/"):
        return f"/{text}"
    if text.startswith("/"):
        return text
    while text.startswith("./"):
        text = text[2:]
    return f"{base}/{text}" if "/" in text else f"{base}/**/{text}"


def _literal(text: str) -> str:
    """The directory that everything which matches lies in."""
    return "/".join(itertools.takewhile(lambda part: not _MAGIC.search(part), text.split("/")))


def _all_in(directory: str) -> Glob:
    everything = re.compile(re.escape(directory) + "/.+", re.IGNORECASE | re.DOTALL)
    return Glob(directory or "/", everything)


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
    head = re.escape(start.rstrip("/"))
    return Glob(start, re.compile(head + _below(parts[len(literal) :]), GLOB_FLAGS))


def _below(parts: list[str]) -> str:
    """Components as an expression that never goes back far, whoever wrote the glob.

    What lies between two wildcards is taken where it comes first: if the rest fits anywhere behind
    a later place, it does so behind this one.
    """
    runs = [list(run) for deep, run in itertools.groupby(parts, lambda p: p == "**") if not deep]
    texts = ["".join(map(_component, run)) for run in runs]
    out = [] if parts[0] == "**" else [texts.pop(0)]
    last = [] if parts[-1] == "**" or not texts else [f"(?:/[^/]+)*{texts.pop()}"]
    out.extend(f"(?>(?:/[^/]+)*?{text}(?=/|\\Z))" for text in texts)
    return "".join((*out, *(last or ["(?:/[^/]+)*"] * (parts[-1] == "**"))))


def _component(part: str) -> str:
    """One path component as a regular expression that begins with its slash."""
    first, *rest = _pieces(part)
    if not rest:
        return f"/{first}"
    return "".join(
        (f"/{first}", *(f"(?>[^/]*?{piece})" for piece in rest[:-1]), f"[^/]*{rest[-1]}")
    )


def _pieces(part: str) -> list[str]:
    """What stands between the `*` of a component."""
    pieces, index = [""], 0
    while index < len(part):
        char = part[index]
        index += 1
        if char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += "[^/]"
        elif char == "[" and (end := part.find("]", index + 1)) > 0:
            inner = re.sub(r"[\\\[&~|]", r"\\\g<0>", part[index:end])
            inner = "^" + inner[1:] if inner.startswith("!") else inner
            pieces[-1] += f"(?!/)[{inner}]"
            index = end + 1
        else:
            pieces[-1] += re.escape(char)
    return pieces
