"""Which skills fit the words of somebody who searches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gatewright.skills.model import Skill
from gatewright.tools.system.patterns import later

IN_NAME, IN_WHEN, IN_DESCRIPTION = 3, 2, 1
SHORT = 3  # a word of fewer letters has to be a word there as well
WORDS = 30
_WORDS = later(r"[^\W_]+")
_EMPTY = frozenset(
    {"a", "an", "the", "of", "to", "for", "in", "on", "and", "or", "with", "is", "it", "me", "my"}
    | {"i", "by", "from", "that", "this", "all", "some", "what", "how", "can", "please", "skill"}
)


def found(skills: Iterable[Skill], query: str) -> Sequence[Skill]:
    """The best first; one that lacks a word with a plus in front is none."""
    asked = [word.casefold() for word in query.split()][:WORDS]
    needed = [word[1:] for word in asked if len(word) > 1 and word[0] == "+"]
    words = [word for each in asked for word in _WORDS.findall(each)]
    words = [word for word in words if word not in _EMPTY] or words
    scored = [(score(skill, words), skill) for skill in skills if _has(skill, needed)]
    best = sorted((each for each in scored if each[0]), key=lambda each: (-each[0], each[1].name))
    return [skill for _, skill in best]


def score(skill: Skill, words: Sequence[str]) -> int:
    said = skill.said
    fields = (
        (IN_NAME, skill.name),
        (IN_WHEN, said.when_to_use),
        (IN_DESCRIPTION, said.description),
    )
    total = 0
    for weight, text in fields:
        folded = text.casefold()
        own = frozenset(_WORDS.findall(folded)) if folded else frozenset[str]()
        total += weight * sum(_is_in(word, folded, own) for word in words)
    return total


def _is_in(word: str, text: str, words: frozenset[str]) -> bool:
    return word in words or ((len(word) >= SHORT or not word.isascii()) and word in text)


def _has(skill: Skill, needed: Sequence[str]) -> bool:
    said = skill.said
    text = f"{skill.name} {said.when_to_use} {said.description}".casefold()
    return all(word in text for word in needed)
