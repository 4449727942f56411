"""Which tools fit the words of a query best: words of names first, and words few others have."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from gatewright.tools.protocol import ToolSpec

WORD, NAME_WORD, PART, TEXT_WORD = 0.4, 10.0, 5.0, 2.0
COSINE, IN_NAME, IN_TEXT = 0.6, 3.0, 1.0
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_TOKENS = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDINGS = ("ings", "ing", "ies", "ied", "es", "ed", "s")
_EMPTY = frozenset(
    {"a", "an", "the", "of", "to", "for", "in", "on", "and", "or", "with", "is", "it", "me", "my"}
    | {"i", "by", "from", "that", "this", "all", "some", "what", "which", "how", "can", "please"}
)


class _Index:
    """Which tools have a word: so that a search looks at those alone."""

    def __init__(self, known: Sequence[tuple[str, str]]) -> None:
        self.count = len(known)
        self.names: dict[str, list[int]] = {}  # tools that have the word in their name
        self.weights: dict[str, dict[int, float]] = {}  # and what it counts in each
        for at, (name, text) in enumerate(known):
            for word in words(text):
                found = self.weights.setdefault(word, {})
                found[at] = found.get(at, 0.0) + IN_TEXT
            for word in frozenset(words(name)):
                self.names.setdefault(word, []).append(at)
                found = self.weights.setdefault(word, {})
                found[at] = found.get(at, 0.0) + IN_NAME
        squares = [0.0] * self.count
        self.rare: dict[str, float] = {}
        for word, found in self.weights.items():
            self.rare[word] = rare = math.log(1 + self.count / len(found))
            square = rare * rare
            for at, weight in found.items():
                squares[at] += weight * square
        self.lengths = [math.sqrt(square) or 1.0 for square in squares]

    def cosine(self, asked: Iterable[str]) -> dict[int, float]:
        """Of each tool that has one of the words."""
        rares = {word: self.rare[word] for word in asked if word in self.rare}
        length = math.sqrt(sum(rare * rare for rare in rares.values())) or 1.0
        found: dict[int, float] = {}
        for word, rare in rares.items():
            for at, weight in self.weights[word].items():
                found[at] = found.get(at, 0.0) + rare * rare * math.sqrt(weight)
        return {at: value / (length * self.lengths[at]) for at, value in found.items()}

    def keywords(self, asked: Sequence[str]) -> dict[int, float]:
        """Of each tool that has one of the words, or a part of it in its name."""
        found: dict[int, float] = {}
        for word in asked:
            points = dict.fromkeys(self.weights.get(word, ()), TEXT_WORD)
            if len(word) > 2:
                for part, tools in self.names.items():
                    if word in part or (len(part) > 2 and part in word):
                        points.update(dict.fromkeys(tools, PART))
            points.update(dict.fromkeys(self.names.get(word, ()), NAME_WORD))
            for at, more in points.items():
                found[at] = found.get(at, 0.0) + more
        return {at: value / (NAME_WORD * len(asked)) for at, value in found.items()}


def ranked(query: str, specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Best first; what fits nothing of the query is left out."""
    needed = [word for text in re.findall(r"\+(\S+)", query) for word in words(text)]
    asked = words(query.replace("+", " "))
    asked = [word for word in asked if word not in _EMPTY] or asked
    index = _index(tuple((spec.name, spec.description) for spec in specs))
    cosine, keywords = index.cosine(dict.fromkeys(asked)), index.keywords(asked)
    scores: list[tuple[float, int]] = []
    for at in cosine.keys() | keywords.keys():
        if all(at in index.weights.get(word, ()) for word in needed):
            score = WORD * keywords.get(at, 0.0) + COSINE * cosine.get(at, 0.0)
            scores.append((-score, at))
    return [specs[at] for _, at in sorted(scores)]


@lru_cache(maxsize=2)
def _index(known: tuple[tuple[str, str], ...]) -> _Index:
    return _Index(known)


def words(text: str) -> list[str]:
    """In lower case, names in camel case apart, endings cut; ideographs in pairs."""
    return [word for token in _TOKENS.findall(text) for word in _words(token)]


@lru_cache(maxsize=16_384)
def _words(token: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in _PARTS.findall(_CAMEL.sub(" ", token).lower()):
        found += _pairs(word) if _WIDE.search(word) else [_stem(word)]
    return tuple(word for word in found if word != "mcp")


def _pairs(word: str) -> Iterable[str]:
    return [word[at : at + 2] for at in range(len(word) - 1)] or [word]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            return f"{stem}y" if ending in ("ies", "ied") else stem
    return word
