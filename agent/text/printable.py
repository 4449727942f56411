"""Text of models, tools and files made fit for a terminal: what would act or hide is spelled out.

Every character that moves the cursor, reorders text or shows nothing becomes `<U+XXXX>`, a run of
one of them with its count; nothing is dropped.
"""

from __future__ import annotations

import re

from gatewright.tools.system.patterns import later

MAX_BLANKS = 40  # a longer run of blanks in a question is counted
MAX_EMPTY = 3  # and so are more empty lines than these
MAX_SINGLY = 3  # a longer run of one hidden character is counted

_CONTROLS = later(r"([\x00-\x08\x0b-\x1f\x7f])\1*")
_SPELLED = later(r"<(?=U\+[0-9A-F]{4,6}(?: \u00d7 \d+)?>)")  # which only looks like ours
BLANKS = later(rf" {{{MAX_BLANKS + 1},}}")
_MANY_ENDS = later(rf"\n{{{MAX_EMPTY + 2},}}")
_INNER_TABS = later(r"(?<=[^\t\n])\t+")


def spelled(character: str, count: int = 1) -> str:
    """How a character is shown that cannot be printed."""
    code = f"U+{ord(character):04X}"
    return f"<{code}>" * count if count <= MAX_SINGLY else f"<{code} \u00d7 {count}>"


def visible(text: str, *, strict: bool = False) -> str:
    """The text with everything hidden readable; newlines and tabs stay.

    `strict` is for questions, where the person judges the exact text: there even joined emoji and
    blanks that are no plain space are spelled out, and text that imitates our spelling.
    """
    if strict and "<U+" in text:
        text = _SPELLED.sub("<U+003C>", text)
    if text.isascii():
        if text.isprintable():
            return text
        if not strict:
            text = text.replace("\r\n", "\n")
        return _CONTROLS.sub(lambda match: spelled(match[1], len(match[0])), text)
    from gatewright.agent.text.beyond_ascii import loosely, strictly  # noqa: PLC0415  lazy: 6 ms

    return strictly(text) if strict else loosely(text.replace("\r\n", "\n"))


def as_run(text: str) -> str:
    """A command as it will run: what would push a part out of sight is counted instead."""
    text = visible(text, strict=True)
    if text.isascii() and text.isprintable() and len(text) <= MAX_BLANKS:
        return text
    text = BLANKS.sub(counted, text)
    text = _INNER_TABS.sub(counted, text)
    return _MANY_ENDS.sub(lambda match: f"\n{counted(match)}\n", text)


def counted(match: re.Match[str]) -> str:
    """A run of one character."""
    return spelled(match[0][0], len(match[0]))


def escaped(text: str) -> str:
    """As in a string: for our own sentences about it, which go to programs too."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )
