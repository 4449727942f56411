"""Whether a fact may be kept: no secret, no frame, and no command or order that a tool's output
brought. Whoever proposes it is a model that read a session, and is not believed.

What is not plainly fine is dropped: a fact that is lost costs less than one that acts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gatewright.agent.agents.inert_text import as_data
from gatewright.agent.autonomy.memory.facts import FACT, KINDS, Fact, topic_name
from gatewright.agent.text.printable import visible
from gatewright.agent.text.redact import Redactor
from gatewright.tools.system.patterns import later
from gatewright.tools.system.secrets import secret_name, secret_value

SHORTEST: Final = 8  # characters of a fact, and of a quote
COPIED: Final = 6  # words in a row
SAME: Final = 0.9
NEAR: Final = 200  # characters of what the person said on either side of a quote
STEM: Final = 4  # letters by which a word is known in another form
OWN_WORDS: Final = frozenset({"user", "feedback"})  # what only the person can say

_ASSIGNED = later(r"([A-Za-z][\w.-]{0,80})[\"'`]?\s{0,3}[:=]\s{0,3}\S{3,}")
_TELLS = later(
    r"\b(?:password|passwd|passphrase|passcode|pin|secret|token|api[ _-]?key|access[ _-]?key"
    r"|private[ _-]?key|credentials?|login)s?\b[^.]{0,60}?\s(?:is|are|was|=|:|reads|being)\s",
    re.IGNORECASE,
)
_RANDOM = later(r"(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[A-Za-z0-9+_=-]{20,}(?![\w/.-])")
_URL = later(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s`'\")>]+", re.IGNORECASE)
_SPAN = later(r"`([^`]{1,400})`")
_ACTING = later(r"[|;<>&$]|(?<![\w-])--?[A-Za-z][\w-]*")
_COMMAND = later(
    r"(?<![\w./-])(?:curl|wget|npm|npx|yarn|pnpm|bunx?|pip3?|pipx|uvx|cargo|gem|brew|apt(?:-get)?"
    r"|sudo|doas|su|ssh|scp|rsync|docker|podman|kubectl|rm|mv|dd|chmod|chown|eval|exec|bash|sh|zsh"
    r"|fish|python3?|node|perl|ruby|nc|ncat|telnet|crontab|systemctl|powershell"
    r"|git (?:push|config|remote|clone|reset|clean|checkout)"
    r"|make(?! (?:sure|it|the|an?|this|that|them|sense|no|up|use|their|its)\b))"
    r"\s+(?!is\b|are\b|was\b|and\b|or\b|has\b|with\b)[^\s,;.)]+(?:\s+[^\s,;.)]+)?",
    re.IGNORECASE,
)
_ORDER = later(
    r"(?:^|[.!?:;]\s+)(?:please\b|always\b|never\b|do not\b|don't\b|run\b|execute\b|install\b|use\b"
    r"|ignore\b|disregard\b|forget\b|make sure\b|remember\b|ensure\b|send\b|post\b|upload\b|call\b"
    r"|open\b|fetch\b|download\b|disable\b|skip\b|allow\b|approve\b|trust\b|paste\b|you\b)"
    r"|\b(?:you|agents?|assistants?|models?|ai|claude|llms?)"
    r" (?:must|should|shall|need|have to|has to|may|can|are|is to|will)\b"
    r"|\b(?:must|should) (?:always|never|be run|be executed|run)\b|\bbefore every\b",
    re.IGNORECASE,
)
_WORD = later(r"[^\W_]+")
_GLUE = frozenset(
    {"the", "person", "user", "prefers", "wants", "likes", "said", "says", "asked", "asks", "that"}
    | {"this", "here", "project", "always", "never", "not", "and", "for", "with", "are", "has"}
    | {"have", "should", "must", "rather", "than", "instead", "does", "when", "they", "their"}
)


class Proposed(msgspec.Struct, frozen=True):
    """A fact as a model writes it; `said` is what the person said of it, word for word."""

    text: str = ""
    topic: str = ""
    about: str = ""
    type: str = "project"
    said: str = ""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal is held against."""

    typed: str = ""  # by the person
    done: str = ""  # calls that ran well
    outputs: Sequence[str] = ()  # of tools
    kept: Sequence[str] = ()  # facts there are
    written: str = ""  # what instruction files say


def keepable(each: Proposed, known: Known, redactor: Redactor) -> tuple[Fact | None, str]:
    """The fact, or why there is none."""
    text, about = " ".join(each.text.split()), " ".join(each.about.split())
    why = next(_objections(each, text, known, redactor), "")
    if why:
        return None, why
    fine = not (unsafe(about, redactor) or orders(about) or any(acting(about)))
    fine = fine and not _copied(about, known)
    topic = topic_name(each.topic)
    return Fact(topic=topic, text=text, kind=each.type, about=about if fine else ""), ""


def _objections(each: Proposed, text: str, known: Known, redactor: Redactor) -> Iterator[str]:
    if not SHORTEST <= len(text) <= FACT or not topic_name(each.topic) or each.type not in KINDS:
        yield "no fact as it was asked for"
    if why := unsafe(text, redactor) or unsafe(topic_name(each.topic), redactor):
        yield why
    theirs = says_as(text, _around(each.said, known.typed))
    if not theirs and each.type in OWN_WORDS:
        yield "nothing the person said"
    if not theirs and orders(text):
        yield "an order that is not the person's"
    if any(not _in(part, known.typed, known.done) for part in acting(text)):
        yield "a command or an address that nobody here used"
    if _copied(text, known):
        yield "copied from what a tool answered"
    plain = _plain(text)
    if any(_same(plain, _plain(old)) for old in known.kept):
        yield "known already"
    if plain in _plain(known.written):
        yield "the project's own files say it"


def unsafe(text: str, redactor: Redactor) -> str:
    """Why no text of this kind is ever kept; empty where nothing is wrong with it."""
    if redactor.text(text) != text or secret_value(text) or _TELLS.search(text):
        return "a secret"
    if any(secret_name(found[1]) for found in _ASSIGNED.finditer(text)) or _RANDOM.search(text):
        return "a secret"
    if visible(text, strict=True) != text or as_data(text)[1] or "<" in text:
        return "a text that could pass for another's"
    return ""


def acting(text: str) -> Iterator[str]:
    """What of a text could be run or visited."""
    rest = text
    for span in _SPAN.finditer(text):
        inner = span[1].strip()
        if " " in inner or _ACTING.search(inner) or _URL.search(inner):
            yield inner
        rest = rest.replace(span[0], " ")
    yield from (found[0].rstrip(".,;:") for found in _URL.finditer(rest))
    yield from (found[0] for found in _COMMAND.finditer(_URL.sub(" ", rest)))
    words = _URL.sub(" ", rest).split()
    for at, word in enumerate(words):
        if _ACTING.search(word.rstrip(".,;:)")):
            yield " ".join(words[max(0, at - 1) : at + 2]).rstrip(".,;:")


def orders(text: str) -> bool:
    """Whether it tells somebody to do something."""
    return _ORDER.search(text) is not None


def _around(said: str, typed: str) -> str:
    """What the person said where this quote stands; empty: nowhere."""
    quote, whole = _plain(said), _plain(typed)
    at = whole.find(quote) if len(quote) >= SHORTEST else -1
    return whole[max(0, at - NEAR) : at + len(quote) + NEAR] if at >= 0 else ""


def says_as(text: str, source: str) -> bool:
    """Whether at least half of what it says are words of that: a quote alone proves nothing."""
    stems = {word[:STEM] for word in _words(source)}
    said = [word for word in _words(text) if len(word) > 2 and word not in _GLUE]
    return 2 * sum(word[:STEM] in stems for word in said) >= len(said) > 0


def _in(part: str, *texts: str) -> bool:
    wanted = " ".join(part.split())
    return any(wanted in " ".join(text.split()) for text in texts)


def _copied(text: str, known: Known) -> bool:
    """Whether so many words in a row stand in an output, and nobody here wrote them."""
    runs = _runs(text) - _runs(known.typed)
    return bool(runs) and any(runs & _runs(output) for output in known.outputs)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _words(text)
    return {tuple(words[at : at + COPIED]) for at in range(len(words) - COPIED + 1)}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _plain(text: str) -> str:
    return " ".join(_words(text))


def _same(one: str, other: str) -> bool:
    if one in other:
        return True
    a, b = set(one.split()), set(other.split())
    return bool(a | b) and len(a & b) / len(a | b) >= SAME
