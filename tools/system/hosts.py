"""Names that people read as others: of hosts with the ASCII form that is looked up, of files.

For showing only: what is fetched or opened is decided by what a call declares.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MOST = 4  # names that are told of one question
_END = r"\s/?#@:\"'`<>()\[\]{}|\\,;$&!*%"
_AUTHORITY = re.compile(rf"(?:(?<=//)|(?<=\w@))[^{_END}]{{1,253}}")
_DOTTED = re.compile(r"(?<![\w.-])[\w-]{1,63}(?:[.\u3002\uff0e\uff61][\w-]{1,63}){1,30}")
# Letters that look like Latin ones: a label of nothing else is read as another.
_ALIKE = frozenset("аеорсухіјѕһԁԛԝӏвкмнтүԍоοαικνρτυωχɡıⅼ")


def looked_up(text: str, *, bare: bool = True) -> tuple[str, ...]:
    """`name is really xn--…` for the hosts in a text that are not plain ASCII.

    `bare`: also names without `//` before them, where they imitate others.
    """
    if text.isascii():
        return ()
    names = dict.fromkeys(_names(text, bare=bare))
    told = [f"{name} is really {form}" for name in names if (form := ascii_form(name))]
    if len(told) > MOST:
        return (*told[: MOST - 1], f"{len(told) - MOST + 1} more such names follow")
    return tuple(told)


def misread(text: str) -> tuple[str, ...]:
    """`looked_up`, and what in the names of files is read as other letters than it is."""
    if text.isascii():
        return ()
    hosts = looked_up(text)
    told = " ".join(hosts)
    names = [name for name in dict.fromkeys(_files(text)) if name not in told]
    return (*hosts, *map(_letters, names[:MOST]))


_WORD = re.compile(r"[\w.-]+")


def _files(text: str) -> Iterator[str]:
    """Words of two alphabets; of one that imitates another where a slash says it is a file's."""
    for match in _WORD.finditer(text):
        name = match[0]
        if name.isascii():
            continue
        found = [part for part in re.split(r"[._-]", name) if imitates(part)]
        path = "/" in text[max(0, match.start() - 1) : match.start()] + text[match.end() :][:1]
        if found and (path or any(c.isascii() and c.isalpha() for part in found for c in part)):
            yield name


def _letters(name: str) -> str:
    strange = dict.fromkeys(c for c in name if c.isalpha() and _script(c) in _IMITATING)
    said = [f"{c} is U+{ord(c):04X} {unicodedata.name(c, '').lower()}" for c in strange]
    return f"{name} is not what it looks like: {', '.join(said[:MOST])}"


_IMITATING = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "FULLWIDTH"})


def _names(text: str, *, bare: bool) -> Iterator[str]:
    for match in _AUTHORITY.finditer(text):
        name = match[0].rstrip(".")
        if not name.isascii() and (text[match.start() - 1] == "/" or "." in name):
            yield name
    if bare:
        for match in _DOTTED.finditer(text):
            if not match[0].isascii() and any(map(imitates, match[0].split("."))):
                yield match[0]


def imitates(label: str) -> bool:
    """Whether its letters are of several scripts, or look like Latin ones without being it."""
    letters = [c for c in label if c.isalpha() and not c.isascii()]
    if not letters:
        return False
    latin = any(c.isascii() and c.isalpha() for c in label)
    scripts = {_script(c) for c in letters} | ({"LATIN"} if latin else set[str]())
    if len(scripts) > 1:
        return "LATIN" in scripts and bool(scripts & _IMITATING)
    return "LATIN" not in scripts and all(c.lower() in _ALIKE for c in letters)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def ascii_form(host: str) -> str:
    """The host as resolvers get it; empty when it has no such form."""
    plain = unicodedata.normalize("NFKC", host).lower().replace("\u3002", ".")
    shown = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    try:
        return ".".join(map(_label, shown.split(".")))
    except UnicodeError:
        return ""


def _label(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
