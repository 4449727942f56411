"""YAML as the strict readers of other programs take it: lines of `key: value`, and nothing clever.

No brackets, anchors, tags or second keys of one name: a file without them means the same to all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gatewright.skills.yaml_values import DEPTH, YamlError, events_of

FLOW = "brackets or braces, which strict readers refuse: write a list or map in lines of its own"
ANCHOR = "an anchor or alias, which strict readers refuse: write it out"
TAB = "a tab, which strict readers refuse: write blanks"
TAG = "a tag, which strict readers refuse: leave it out"


def read_strict(text: str) -> Mapping[str, str | None]:
    """What each key at the top says, as written; None for a list or map. Raises YamlError."""
    return _Strict().read(text)


class _Strict:
    def __init__(self) -> None:
        self._open: list[dict[str, str | None] | None] = []  # None is a list
        self._keys: list[str | None] = []  # what each open map waits for the value of
        self._top: dict[str, str | None] = {}
        self._quoted: list[tuple[int, int]] = []  # where a tab is a letter

    def read(self, text: str) -> Mapping[str, str | None]:
        documents = 0
        for kind, event in events_of(text):
            line: int = event.start_mark.line
            documents += kind == "DocumentStartEvent"
            if documents > 1:
                raise YamlError("a second document", line)
            match kind:
                case "ScalarEvent":
                    self._plain(event, line)
                    if event.style:
                        self._quoted.append((event.start_mark.index, event.end_mark.index))
                    self._scalar(str(event.value), line)
                case "AliasEvent":
                    raise YamlError(ANCHOR, line)
                case "MappingStartEvent" | "SequenceStartEvent":
                    self._plain(event, line)
                    if event.flow_style:
                        raise YamlError(FLOW, line)
                    self._begin({} if kind.startswith("M") else None, line)
                case "MappingEndEvent" | "SequenceEndEvent":
                    self._open.pop()
                    self._keys.pop()
                case _:
                    pass
        if not documents or not self._top:
            raise YamlError("no line of `key: value`")
        self._tabs(text)
        return self._top

    def _tabs(self, text: str) -> None:
        for begin, end in reversed(self._quoted):
            kept = "".join(char if char == "\n" else "." for char in text[begin:end])
            text = text[:begin] + kept + text[end:]
        for line, found in enumerate(text.split("\n")):
            if "\t" in re.sub(r"(?:^|\s)#.*", "", found).rstrip():
                raise YamlError(TAB, line)

    def _plain(self, event: Any, line: int) -> None:
        if event.anchor is not None:
            raise YamlError(ANCHOR, line)
        if event.tag is not None:
            raise YamlError(TAG, line)

    def _begin(self, made: dict[str, str | None] | None, line: int) -> None:
        if not self._open:
            if made is None:
                raise YamlError("a list where `key: value` belongs", line)
            self._top = made
        elif len(self._open) >= DEPTH:
            raise YamlError("it is nested too deeply", line)
        else:
            self._value(None, line)
        self._open.append(made)
        self._keys.append(None)

    def _scalar(self, text: str, line: int) -> None:
        if not self._open:
            raise YamlError("text where `key: value` belongs", line)
        inside = self._open[-1]
        if inside is None:
            return
        if self._keys[-1] is not None:
            self._value(text, line)
            return
        if text in inside:
            raise YamlError(f"{text[:60]!r} is there twice", line)
        inside[text] = None
        self._keys[-1] = text

    def _value(self, text: str | None, line: int) -> None:
        inside, key = self._open[-1], self._keys[-1]
        if inside is None:
            return
        if key is None:
            raise YamlError("a list or map where the name of a key belongs", line)
        inside[key] = text
        self._keys[-1] = None
