"""Makes YAML of front matter that people wrote as if it were plain text. Pure, one pass each.

Only what is no YAML comes here, so nothing that has a meaning loses it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gatewright.tools.system.patterns import later

_ENTRY = later(r"([ \t]*(?:- +)*)([A-Za-z_$][\w.$-]*)[ \t]*:(?:[ \t]+(.*))?$")
_HINT = later(r"^(argument-hint:[ \t]+)(\[.*)$", re.MULTILINE)
_ITEM = later(r"([ ]*- +)(.*)$")
_ANCHOR = later(r"[&*][\w-]+(?: |$)")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")


def quoted(front: str) -> str:
    """In quotes every value that YAML takes for more than text, with the lines it goes on over."""
    lines = [_spaced(line) for line in front.split("\n")]
    made: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        entry = _ENTRY.fullmatch(line)
        value = (entry[3] or "").strip() if entry is not None else ""
        if entry is None or not value:
            made.append(_item(line))
            continue
        depth = len(entry[1])
        inside = list(_deeper(lines, at, depth))
        at += len(inside)
        text = " ".join(filter(None, (value, *(each.strip() for each in inside))))
        if _stays(value, inside) or not _misread(text):
            made += [line, *inside]
        else:
            made.append(f"{entry[1]}{entry[2]}: {_in_quotes(text)}")
    return "\n".join(made)


def hint_quoted(front: str) -> str:
    """In quotes a hint such as `[file] [line]`, which people write in no other way."""
    return _HINT.sub(lambda found: f"{found[1]}{_in_quotes(found[2].rstrip())}", front)


def continued(front: str, known: Collection[str]) -> str:
    """Whatever stands at the margin and is no key that means something goes on with the last."""
    made: list[str] = []
    for line in front.split("\n"):
        key = re.match(r"([A-Za-z_][\w-]*)[ \t]*:(?:\s|$)", line)
        begins = key is not None and key[1] in known
        inside = not line or line[0] in " \t#" or line.startswith("- ")
        made.append(line if begins or inside or not made else f"  {line}")
    return "\n".join(made)


def _spaced(line: str) -> str:
    """Tabs at its beginning as blanks."""
    rest = line.lstrip(" \t")
    return line[: len(line) - len(rest)].replace("\t", "  ") + rest


def _deeper(lines: list[str], at: int, depth: int) -> Iterator[str]:
    """The lines that belong to a value: further in, and blank ones between those."""
    blank: list[str] = []
    for line in lines[at:]:
        if not line.strip():
            blank.append(line)
        elif len(line) - len(line.lstrip()) > depth:
            yield from blank
            blank = []
            yield line
        else:
            return


def _misread(text: str) -> bool:
    """Whether a plain text is something else to YAML."""
    return text[0] in _INDICATORS or ": " in text or text.endswith(":")


def _stays(value: str, inside: list[str]) -> bool:
    """Whether it opens something that YAML knows, and that is no text by its looks."""
    if value[0] in "|>":
        return re.fullmatch(r"[|>][-+0-9]*(?:\s+#.*)?", value) is not None
    if value[0] in "'\"":
        return bool(inside) or _closes(value)
    if value[0] in "[{":
        return bool(inside) or _flow(value)
    return _ANCHOR.match(value) is not None


def _closes(value: str) -> bool:
    """Whether the quote that begins it also ends it."""
    if value[0] == "'":
        return re.fullmatch(r"'(?:[^']|'')*'(?:\s+#.*)?", value) is not None
    return re.fullmatch(r'"(?:[^"\\]|\\.)*"(?:\s+#.*)?', value) is not None


def _flow(value: str) -> bool:
    """Whether the bracket that begins it is closed at its end, not before: `[a] [b]` is text."""
    depth = 0
    for index, char in enumerate(value):
        depth += (char in "[{") - (char in "]}")
        if depth == 0:
            rest = value[index + 1 :].strip()
            return not rest or rest.startswith("#")
    return True


def _item(line: str) -> str:
    """An entry of a list that is plain text."""
    found = _ITEM.fullmatch(line)
    if found is None or not found[2].strip() or _ENTRY.fullmatch(line):
        return line
    text = found[2].strip()
    return line if _stays(text, []) or not _misread(text) else f"{found[1]}{_in_quotes(text)}"


def _in_quotes(text: str) -> str:
    """As YAML's double quotes take it; what looks like an escape stays as it was written."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{escaped}"'
