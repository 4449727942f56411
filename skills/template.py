"""Renders the text of a skill or command file: placeholders, commands and names of files in it.

The template is read once, and nothing that is put into it is ever read again: arguments, results of
commands and files are data. Pure; the commands are run by whoever asked.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from gatewright.skills.shell_words import ShellPlaces, placed

COMMANDS = 50  # in one text
MENTIONS = 20
_INLINE = re.compile(r"(?<!\S)!`(?P<inline>[^`\n]+)`")
_OPENS = re.compile(rf"(?P<fence>^[ \t]*```!(?P<first>[^\n`]*)\n)|{_INLINE.pattern}", re.MULTILINE)
_CLOSES = re.compile(r"^[ \t]*```[ \t]*$", re.MULTILINE)
_HOLE = (
    r"(?P<escaped>\\\$(?=\d|\{|[A-Za-z_]))"
    r"|\$ARGUMENTS\[(?P<index>\d{1,3})\]"
    r"|\$(?P<all>ARGUMENTS)(?!\w)"
    r"|\$(?P<number>\d{1,3})(?!\d)"
    r"|\$\{(?P<value>[A-Z][A-Z_]*)\}"
    r"|\$(?P<name>{names})(?!\w)"
)
WRONG = (
    "{hole} stands where a shell would take it for code and not for one word: put it between plain "
    "words, not into [[ ]], (( )), a here-document, ${{...}}, an index or eval"
)
_MENTION = re.compile(r'(?:(?<=[\s(\["\'])|^)@(?:"([^"\n]+)"|([^\s"\'<>|]+))', re.MULTILINE)
_ZERO_BASED = re.compile(r"(?<!\\)\$(?:0(?!\d)|ARGUMENTS\[)")


class _Found(NamedTuple):
    """A command as it is written, and where it stands."""

    start: int
    end: int
    text: str


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What is put in. `names` are those of positionals; `values` of `${NAME}`, as they are now."""

    arguments: str = ""
    names: tuple[str, ...] = ()
    values: Mapping[str, str] = {}
    from_one: bool = False  # a command file: `$1` is the first, unless it uses `$0`


class Command(msgspec.Struct, frozen=True):
    """One to run. `wrong` says why it must not be: an argument would not stay one word of it."""

    text: str
    wrong: str = ""


class Rendered(msgspec.Struct, frozen=True):
    """Text and commands in their order; `mentions` are files that the template names with @."""

    pieces: tuple[str | Command, ...]
    mentions: tuple[str, ...] = ()

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, Command))

    def text(self, results: Sequence[str]) -> str:
        """With what came of each command in its place. Nothing of that is looked at."""
        left = iter(results)
        return "".join(piece if isinstance(piece, str) else next(left) for piece in self.pieces)


def render(template: str, given: Given) -> Rendered:
    filling = _Filling(template, given)
    pieces: list[str | Command] = []
    mentions: list[str] = []
    at = 0
    for found in _written(template):
        before = template[at : found.start]
        mentions += filling.mentions(before)
        pieces.append(filling.text(before))
        pieces.append(filling.command(found.text))
        at = found.end
    mentions += filling.mentions(template[at:])
    pieces.append(filling.text(template[at:]))
    if given.arguments.strip() and not filling.used:
        pieces.append(f"\n\nARGUMENTS: {given.arguments}")
    return Rendered(tuple(pieces), tuple(dict.fromkeys(mentions))[:MENTIONS])


def unquotable(template: str, names: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    """Where an argument cannot stay one word of a command: the line from 1, and what is wrong."""
    values = {name: name for name in re.findall(r"\$\{([A-Z][A-Z_]*)\}", template)}
    given = Given(arguments="a b c d e f g h i", names=tuple(names), values=values)
    filling = _Filling(template, given)
    for found in _written(template):
        if wrong := filling.command(found.text).wrong:
            yield template.count("\n", 0, found.start) + 1, wrong


def commands_of(template: str) -> Iterator[str]:
    """Those that it would run, as they are written: what people are shown before a yes."""
    for found in _written(template):
        yield found.text


def _written(template: str) -> Iterator[_Found]:
    """In one pass: where a fence is not closed no later one is, and none is looked for."""
    opens, at = _OPENS, 0
    while (found := opens.search(template, at)) is not None:
        if opens is _INLINE or not found["fence"]:
            at = found.end()
            yield _Found(found.start(), at, found["inline"])
        elif (close := _CLOSES.search(template, found.end())) is not None:
            lines = template[found.end() : close.start()]
            at = close.end()
            yield _Found(found.start(), at, f"{found['first'].strip()}\n{lines}".strip())
        else:
            opens, at = _INLINE, found.start()


def in_rule(rule: str, values: Mapping[str, str]) -> str:
    """A rule of a skill with its directories spelled out; nothing else is put into one."""

    def value(found: re.Match[str]) -> str:
        known = values.get(found[1]) if found[1].endswith(("_DIR", "_ROOT", "_DATA")) else None
        return found[0] if known is None else known

    return re.sub(r"\$\{([A-Z][A-Z_]*)\}", value, rule)


def words(arguments: str) -> tuple[str, ...]:
    """As a shell parts them; what it could not part is parted at white space."""
    try:
        return tuple(shlex.split(arguments))
    except ValueError:
        return tuple(arguments.split())


class _Filling:
    """Knows what each placeholder of one template stands for."""

    def __init__(self, template: str, given: Given) -> None:
        self._given = given
        self._words = words(given.arguments)
        self._first = 1 if given.from_one and not _ZERO_BASED.search(template) else 0
        names = "|".join(re.escape(n) for n in sorted(given.names, key=len, reverse=True))
        self._hole = re.compile(_HOLE.replace("{names}", names or r"(?!)"))
        self.used = False  # an argument was put somewhere

    def text(self, template: str) -> str:
        return self._hole.sub(self._in_text, template)

    def command(self, template: str) -> Command:
        """Each placeholder becomes part of one word, or the command is not one to run."""
        places, made, at = ShellPlaces(template), list[str](), 0
        wrong = ""
        for found in self._hole.finditer(template):
            value = self._value(found)
            if value is None and not found["escaped"]:
                continue
            place = places.at(found.start())
            made.append(template[at : found.start()])
            if value is None:
                made.append("$" if place == "single" else found[0])
            elif place == "comment":
                made.append(found[0])
            elif place == "nowhere":
                wrong = wrong or WRONG.format(hole=found[0])
                made.append(found[0])
            else:
                made.append(placed(value, place))
            at = found.end()
            places.skip(at)
        made.append(template[at:])
        return Command("".join(made), wrong)

    def mentions(self, template: str) -> list[str]:
        """Names of files as the template writes them: no argument is part of one."""
        found: list[str] = []
        for match in _MENTION.finditer(template):
            written = match[1] or match[2].rstrip(".,;:!?)]}`*")
            name = in_rule(written, self._given.values)
            if name and "$" not in name:
                found.append(name)
        return found

    def _in_text(self, found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        value = self._value(found)
        return found[0] if value is None else value

    def _value(self, found: re.Match[str]) -> str | None:
        """None: it stays as it is."""
        given = self._given
        if found["escaped"]:
            return None
        if found["all"]:
            return self._argument(given.arguments)
        if (number := found["index"] or found["number"]) is not None:
            at = int(number) - self._first
            return self._argument(self._words[at]) if 0 <= at < len(self._words) else None
        if (name := found["value"]) is not None:
            return given.values.get(name)
        return self._named(found["name"])

    def _named(self, name: str) -> str:
        at = self._given.names.index(name)
        return self._argument(self._words[at] if at < len(self._words) else "")

    def _argument(self, text: str) -> str:
        self.used = True
        return text
