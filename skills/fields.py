"""The fields of a skill or a command file, each read by its own rule; a wrong one is told.

What cannot be read is left out and told, but for what forbids: a field that was meant to limit and
cannot be read makes the file unusable, or counts as the stricter of its values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from gatewright.skills.frontmatter import Front
from gatewright.skills.model import Said
from gatewright.skills.yaml_values import Value

LISTED = 1_536  # characters of description and when_to_use together
COMPATIBILITY = 500
NAMES = 200  # entries of one list
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
TRUE = frozenset({"yes", "true", "on", "1", "y"})
FALSE = frozenset({"no", "false", "off", "0", "n"})
_WORD = re.compile(r"[^\W\d][\w-]*")

Say = Callable[[str, str, str], None]  # the key, what is wrong with it, what to do


class Fields:
    """One front matter on its way to a `Said`; `refuse` hears what makes the file unusable."""

    def __init__(self, front: Front, say: Say, refuse: Say) -> None:
        self._front, self._say, self._refuse = front, say, refuse
        keys: list[str] = list(front.values)
        self._keys = {folded(key): key for key in reversed(keys)}  # of two spellings the first

    def said(self, *, command: bool = False) -> Said:
        text, flag, words = self._text, self._flag, self._words
        described = text("description")
        return Said(
            description=described or first_paragraph(self._front.body),
            described=bool(described),
            when_to_use=text("when_to_use"),
            license=text("license"),
            compatibility=self._compatibility(),
            metadata=self._table("metadata"),
            allowed_tools=self._rules("allowed-tools"),
            disallowed_tools=self._rules("disallowed-tools", limiting=True),
            enforce_allowed_tools=flag("enforce-allowed-tools", usual=False, strict=True),
            argument_hint=self._hint(),
            arguments=self._arguments(),
            model_invocable=not flag("disable-model-invocation", usual=False, strict=True),
            user_invocable=flag("user-invocable", usual=True, strict=True),
            model=self._model(),
            effort=self._one_of("effort", EFFORTS),
            fork=self._one_of("context", ("fork",)) == "fork",
            agent=text("agent"),
            background=flag("background", usual=False, strict=False),
            paths=() if command else words("paths", commas_only=True),
            hooks=self._table("hooks"),
            shell=self._shell(),
        )

    def name(self) -> str:
        """What it calls itself, as written: a name may look like a number."""
        key = self._keys.get("name", "name")
        return self._front.said.get(key, "").strip()

    def _value(self, field: str) -> tuple[str, Value]:
        """The key as it is written, and its value; what is not there is null."""
        key = self._keys.get(folded(field), field)
        return key, self._front.values.get(key)

    def _text(self, field: str) -> str:
        key, value = self._value(field)
        if value is None:
            return ""
        if isinstance(value, list | dict):
            self._say(key, f"{key} is no text", "Write it as one text.")
            return ""
        said = self._front.said.get(key, str(value))
        return " ".join(said.replace("\\n", " ").replace("\\t", " ").split())

    def _flag(self, field: str, *, usual: bool, strict: bool) -> bool:
        key, value = self._value(field)
        word = str(value).strip().casefold()
        if value is None or isinstance(value, bool) or word in TRUE | FALSE:
            return usual if value is None else value is True or word in TRUE
        self._say(key, f"{key} is neither true nor false", f"Write {key}: true or false.")
        return strict

    def _one_of(self, field: str, choices: Sequence[str]) -> str:
        key, _ = self._value(field)
        word = self._text(field).casefold()
        if word in ("", "inherit", *choices):
            return "" if word == "inherit" else word
        one = (
            f"is none of {', '.join(choices)}" if len(choices) > 1 else f"can only be {choices[0]}"
        )
        self._say(key, f"{key} {one}", "It counts as if it were not there.")
        return ""

    def _model(self) -> str:
        found = self._text("model")
        return "" if found.casefold() == "inherit" else found

    def _shell(self) -> str:
        key, _ = self._value("shell")
        word = self._text("shell").casefold()
        if word not in ("", "bash"):
            self._say(key, f"its commands are written for {word}", "Only bash is run.")
        return word

    def _compatibility(self) -> str:
        key, _ = self._value("compatibility")
        found = self._text("compatibility")
        if len(found) > COMPATIBILITY:
            told = f"{key} has more than {COMPATIBILITY} characters"
            self._say(key, told, "Shorten it.")
        return found[:COMPATIBILITY]

    def _table(self, field: str) -> Mapping[str, Value]:
        key, value = self._value(field)
        if value is None or isinstance(value, dict):
            return value or {}
        self._say(key, f"{key} is no table of keys", "Write `key: value` lines below it.")
        return {}

    def _rules(self, field: str, *, limiting: bool = False) -> tuple[str, ...]:
        key, value = self._value(field)
        try:
            return tuple(dict.fromkeys(_listed(value, parted)))
        except ValueError as error:
            told = f"{key} {error}"
            say = self._refuse if limiting else self._say
            say(key, told, "Write names with spaces, commas, or as a list.")
            return ()

    def _words(self, field: str, *, commas_only: bool = False) -> tuple[str, ...]:
        key, value = self._value(field)
        try:
            return tuple(dict.fromkeys(_listed(value, in_commas if commas_only else str.split)))
        except ValueError as error:
            self._say(key, f"{key} {error}", "Write a list of texts.")
            return ()

    def _hint(self) -> str:
        """`[file] [line]` is a list to YAML, and meant as it stands."""
        key, value = self._value("argument-hint")
        if isinstance(value, list):
            return " ".join(f"[{each}]" for each in value[:NAMES] if isinstance(each, str | int))
        return self._text(key) if value is not None else ""

    def _arguments(self) -> tuple[str, ...]:
        key, value = self._value("arguments")
        try:
            names = list(_listed(value, lambda text: text.replace(",", " ").split()))
        except ValueError as error:
            self._say(key, f"{key} {error}", "Write names with spaces, or a list.")
            return ()
        for name in names:
            if not _WORD.fullmatch(name):
                told = f"{name[:40]!r} is no name of an argument"
                self._say(key, told, "Letters, digits, _ and -, a letter first.")
        return tuple(name for name in names if _WORD.fullmatch(name))


def _listed(value: object, split: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """The texts of a list, or the parts of one text. Raises ValueError for anything else."""
    if value is None:
        return
    if isinstance(value, bool | dict):
        raise ValueError("is no list")
    if not isinstance(value, list):
        yield from split(str(value))[:NAMES]
        return
    entries = cast("list[object]", value)
    if len(entries) > NAMES:
        raise ValueError(f"has more than {NAMES} entries")
    for each in entries:
        if not isinstance(each, str | int | float) or isinstance(each, bool):
            raise ValueError("holds what is no text")
        yield from filter(None, (str(each).strip(),))


def parted(text: str) -> list[str]:
    """The parts between commas and blanks, but for those in brackets: `Bash(git add:*) Read`."""
    if "(" not in text:
        return [part for each in text.replace(",", " ").split() if (part := each.strip("\"'"))]
    found: list[str] = []
    depth, start = 0, 0
    for index, char in enumerate(f"{text},"):
        depth = max(0, depth + (char == "(") - (char == ")"))
        if index == len(text) or (depth == 0 and (char == "," or char.isspace())):
            if part := text[start:index].strip(" \t\n,").strip("\"'"):
                found.append(part)
            start = index + 1
    return found


def in_commas(text: str) -> list[str]:
    """The parts between commas and line ends, but for those within braces: `src/**/*.{ts,tsx}`."""
    found: list[str] = []
    depth, start = 0, 0
    for index, char in enumerate(f"{text},"):
        depth = max(0, depth + (char == "{") - (char == "}"))
        if index == len(text) or (depth == 0 and char in ",\n"):
            found.append(text[start:index].strip().strip("\"'"))
            start = index + 1
    return [part for part in found if part]


def first_paragraph(body: str) -> str:
    """Of a text, in one line: what describes it where nothing else does."""
    for part in re.split(r"\n\s*\n", body.strip()[:20_000]):
        lines = [line for line in part.splitlines() if not line.lstrip().startswith(("#", "<!--"))]
        if text := " ".join(" ".join(lines).split()):
            return text[:LISTED]
    lines = [line.lstrip("# ").strip() for line in body.splitlines()[:20]]
    return next((line for line in lines if line), "")[:LISTED]


def folded(key: str) -> str:
    """A key in one spelling: `allowedTools` is allowed-tools."""
    return key.casefold().replace("-", "").replace("_", "")


FIELDS = (
    "name", "description", "when_to_use", "license", "compatibility", "metadata", "allowed-tools",
    "disallowed-tools", "enforce-allowed-tools", "argument-hint", "arguments",
    "disable-model-invocation", "user-invocable", "model", "effort", "context", "agent",
    "background", "paths", "hooks", "shell",
)  # fmt: skip
BY_FOLDED: Mapping[str, str] = {folded(field): field for field in FIELDS}
# Known without being ours: other programs' words for what a reader may want to see.
SHOWN = ("version", "author", "tags", "category", "title", "icon", "color")
