"""Whether a skill is one by the letter of the public format, and what else is to be said of it.

Errors are those that the format's own checker finds in the six fields it knows; all else is a
warning: what a lenient reader noted, links that lead nowhere, arguments that cannot be told apart.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gatewright.skills.frontmatter import FrontError
from gatewright.skills.model import Diagnostic, Said
from gatewright.skills.places import SKILL
from gatewright.skills.reading import data_of, read_data
from gatewright.skills.strict.plain_yaml import read_strict
from gatewright.skills.template import unquotable
from gatewright.skills.yaml_values import YamlError
from gatewright.tools.system.exact import real_path

NAME, DESCRIPTION, COMPATIBILITY = 64, 1_024, 500
LONG_BODY = 500  # lines of a text that a model has to read at once
SHOWN = 50  # warnings of one kind
_LINK = re.compile(r"\[[^\]\n]{0,500}\]\(\s{0,20}<?([^)\s>]+)")
_CODE = re.compile(r"`[^`\n]+`")
_FENCES = ("```", "~~~")


class Checked(msgspec.Struct, frozen=True):
    """One skill's directory. Without errors it is a skill to every program."""

    folder: Path
    name: str
    errors: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


def checked(folder: Path) -> Checked:
    """`folder` is the skill's own directory, whose real name is what counts."""
    file, name = folder / SKILL, Path(real_path(folder)).name
    if not file.is_file():
        told = Diagnostic(file, 0, f"there is no {SKILL}", f"A skill is a {SKILL}.", fatal=True)
        return Checked(folder, name, (told,))
    try:
        data = data_of(file, lambda: (real_path(folder),))
    except FrontError as error:
        return Checked(folder, name, (Diagnostic(file, error.line, str(error), fatal=True),))
    errors = tuple(Diagnostic(file, line, text, fix) for line, text, fix in _errors(data, name))
    read = read_data(data, file, name, "skill")
    fatal = tuple(each for each in read.diagnostics if each.fatal and not errors)
    warnings = [each for each in read.diagnostics if each not in fatal]
    if read.said is not None:
        at = data.decode(errors="replace").count("\n") - read.body.count("\n")
        warnings += _about_text(file, read.said, read.body, max(at, 1))
    return Checked(folder, name, (*errors, *fatal), tuple(warnings))


def _errors(data: bytes, name: str) -> Iterator[tuple[int, str, str]]:
    try:
        text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        yield 0, "it is not UTF-8", "Save it as UTF-8."
        return
    if not text.startswith("---"):
        yield 1, "it does not begin with ---", "Put its front matter first, without a mark."
        return
    parts = text.split("---", 2)
    if len(parts) < 3:
        yield 1, "the line --- that ends its front matter is missing", "Add it."
        return
    try:
        said = read_strict(parts[1])
    except YamlError as error:
        at = error.line + 1
        hint = "Take --- out of its texts." if not parts[2].startswith("\n") else ""
        yield at, f"its front matter is no plain YAML: {error}", hint or "Correct that line."
        return
    yield from _named(said, name)
    yield from _described(said)
    if "compatibility" in said and said["compatibility"] is None:
        yield 1, "compatibility is no text", "Write it as one text."
    elif len(said.get("compatibility") or "") > COMPATIBILITY:
        yield 1, f"compatibility has more than {COMPATIBILITY} characters", "Shorten it."


def _named(said: Mapping[str, str | None], folder: str) -> Iterator[tuple[int, str, str]]:
    name = unicodedata.normalize("NFKC", (said.get("name") or "").strip())
    if not name:
        yield 1, "it says no name", f"Write name: {folder}."
        return
    if len(name) > NAME:
        yield 1, f"its name has more than {NAME} characters", "Shorten it, and the directory's."
    plain = name == name.lower() and all(char.isalnum() or char == "-" for char in name)
    if not plain or name.strip("-") != name or "--" in name:
        told = f"the name {name[:80]!r} has other characters than small letters, digits and -"
        yield 1, told, "Write words with single hyphens between them."
    if unicodedata.normalize("NFKC", folder) != name:
        yield 1, f"its name is {name[:80]!r} and its directory {folder!r}", "Give both one name."


def _described(said: Mapping[str, str | None]) -> Iterator[tuple[int, str, str]]:
    text = said.get("description") or ""
    if not text.strip():
        yield 1, "it says no description", "Say what it does, and when to use it."
    elif len(text) > DESCRIPTION:
        yield 1, f"its description has more than {DESCRIPTION:,} characters", "Shorten it."


def _about_text(file: Path, said: Said, body: str, at: int) -> Iterator[Diagnostic]:
    """What of a text will not work. `at` is the line of the file before its first."""
    if body.count("\n") > LONG_BODY:
        told = f"its text has more than {LONG_BODY} lines, all of which a model reads at once"
        yield Diagnostic(file, at, told, "Move details to files in references/.")
    if not body.strip():
        yield Diagnostic(file, at, "it has no text", "Say how the task is done.")
    prose = _CODE.sub("", _unfenced(body))
    for found in list(_LINK.finditer(prose))[:SHOWN]:
        if wrong := _wrong_link(file.parent, found[1]):
            line = at + prose.count("\n", 0, found.start())
            yield Diagnostic(file, line, f"its link to {found[1][:80]} {wrong}", "Correct it.")
    for line, wrong in unquotable(body, said.arguments):
        yield Diagnostic(file, at + line - 1, wrong, "Put the argument between plain words.")


def _unfenced(body: str) -> str:
    """As many lines, those between fences empty."""
    lines: list[str] = []
    fence = ""
    for line in body.split("\n"):
        if not fence:
            fence = next((mark for mark in _FENCES if line.startswith(mark)), "")
            lines.append("" if fence else line)
            continue
        if line.startswith(fence) and not line.strip("`~ \t"):
            fence = ""
        lines.append("")
    return "\n".join(lines)


def _wrong_link(folder: Path, target: str) -> str:
    if re.match(r"[a-z][a-z0-9+.-]*:|//|#|\$|@", target, re.IGNORECASE):
        return ""
    path = target.partition("#")[0].partition("?")[0]
    own, real = real_path(folder), real_path(folder / path)
    if os.path.isabs(path) or not (real == own or real.startswith(f"{own}/")):  # noqa: PTH117  a text
        return "leads out of its directory"
    return "" if os.path.exists(real) else "leads to nothing"  # noqa: PTH110  a text
