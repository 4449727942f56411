"""Facts as they stand in files: whole in the file of their topic, and a line each in the index.

The files are text that anybody may have edited: what is no line of ours is left as it is, byte for
byte, and nothing that is read here is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from gatewright.tools.system.patterns import later

INDEX: Final = "MEMORY.md"
LINES, BYTES = 200, 25_000  # of the index
LINE = 160  # characters of a fact there
FACT, ABOUT = 400, 120  # characters of a fact, and of what a topic is about
TOPIC_BYTES = 256_000  # of a file that is written to; of a longer one only its beginning is read
TOPICS = 300  # files that are looked at
KINDS: Final = ("user", "feedback", "project", "reference")

NAME: Final = later(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
FILE: Final = later(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}\.md")
_ORIGIN = r"(?: \[(?P<day>\d{4}-\d{2}-\d{2})(?: (?P<session>[0-9a-f]{8}))?\])?"
_FACT = later(rf"- (?P<text>\S.*?){_ORIGIN}")
_LINE = later(r"- \[(?P<topic>[^\]]{1,60})\] (?P<text>\S.*?)(?: \((?P<day>\d{4}-\d{2}-\d{2})\))?")
_FIELD = later(r"(?P<key>name|description|type): *(?P<value>.*)")


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sentence or two, in one line. `day` and `session` say when and where it was learnt."""

    topic: str
    text: str
    day: str = ""
    session: str = ""
    kind: str = "project"
    about: str = ""  # what its topic is about, where that is a new one

    @property
    def line(self) -> str:
        origin = " ".join(filter(None, (self.day, self.session)))
        return f"- {self.text} [{origin}]" if self.day else f"- {self.text}"

    @property
    def short(self) -> str:
        """As it stands in the index."""
        day = f" ({self.day})" if self.day else ""
        return f"- [{self.topic}] {shortened(self.text)}{day}"


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    about: str = ""
    kind: str = "project"
    facts: tuple[Fact, ...] = ()

    @property
    def newest(self) -> str:
        return max((each.day for each in self.facts), default="")


def shortened(text: str) -> str:
    if len(text) <= LINE:
        return text
    cut = text[: LINE - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def topic_name(text: str) -> str:
    """A name of a topic out of what a model or a person calls it; empty where nothing is left."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")
    return "" if f"{plain}.md".casefold() == INDEX.casefold() else plain


def fact_of(topic: str, line: str) -> Fact | None:
    """What a line of a topic says, where it is one of a list."""
    found = _FACT.fullmatch(line.rstrip())
    if found is None:
        return None
    return Fact(
        topic=topic, text=found["text"], day=found["day"] or "", session=found["session"] or ""
    )


def topic_of(name: str, text: str) -> Topic:
    """As its file says; a front matter that is none is text like any other."""
    fields: dict[str, str] = {}
    lines = text.splitlines()
    if lines[:1] == ["---"]:
        for line in lines[1:10]:
            if line == "---":
                break
            if (found := _FIELD.fullmatch(line)) is not None:
                fields[found["key"]] = found["value"].strip()
    facts = tuple(fact for line in lines if (fact := fact_of(name, line)) is not None)
    about, kind = fields.get("description", "")[:ABOUT], fields.get("type", "")
    return Topic(name=name, about=about, kind=kind if kind in KINDS else "project", facts=facts)


def index_lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Of each line of ours: the line, its topic, the beginning of its fact."""
    for line in text.splitlines():
        if (found := _LINE.fullmatch(line.rstrip())) is not None:
            yield line, found["topic"], found["text"]


def with_facts(
    files: Mapping[str, bytes], facts: Sequence[Fact], full: frozenset[str] = frozenset()
) -> dict[str, bytes]:
    """What the files are with these facts in them: those that differ. `full` are not written to.

    Each goes to its topic; to the index as long as there is room. What is there already is not
    added once more.
    """
    after: dict[str, bytes] = {}
    for fact in facts:
        name = _room(fact, {**files, **after}, full)
        before = after.get(name, files.get(name, b""))
        if not _has(before, fact):
            after[name] = _appended(before or _heading(fact, name), fact.line)
        index = after.get(INDEX, files.get(INDEX, b""))
        line = msgspec.structs.replace(fact, topic=name.removesuffix(".md")).short
        if INDEX not in full and fits(index, line) and line.encode() not in index.splitlines():
            after[INDEX] = _appended(index, line)
    return after


def fits(index: bytes, line: str) -> bool:
    grown = _appended(index, line)
    return len(grown) <= BYTES and grown.count(b"\n") <= LINES


def _room(fact: Fact, files: Mapping[str, bytes], full: frozenset[str]) -> str:
    """The first file of the topic that may grow."""
    for number in range(1, TOPICS):
        name = f"{fact.topic}.md" if number == 1 else f"{fact.topic}-{number}.md"
        if name not in full and len(files.get(name, b"")) + 4 * FACT <= TOPIC_BYTES:
            return name
    return f"{fact.topic}-{TOPICS}.md"


def _has(data: bytes, fact: Fact) -> bool:
    lines = data.decode("utf-8", "replace").splitlines()
    return any((old := fact_of("", line)) is not None and old.text == fact.text for line in lines)


def _heading(fact: Fact, name: str) -> bytes:
    about = " ".join(fact.about.split())[:ABOUT] or fact.topic.replace("-", " ")
    stem = name.removesuffix(".md")
    return f"---\nname: {stem}\ndescription: {about}\ntype: {fact.kind}\n---\n\n".encode()


def _appended(data: bytes, line: str) -> bytes:
    broken = bool(data) and not data.endswith(b"\n")
    return data + (b"\n" if broken else b"") + line.encode() + b"\n"
