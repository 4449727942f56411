"""What a judge answered: one clear word, or none at all."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec

from gatewright.agent.text.printable import escaped
from gatewright.tools.judgement import Word
from gatewright.tools.protocol import JsonObject

Stage: TypeAlias = Literal["fast", "thinking"]
LONGEST = 20_000  # characters of an answer that is looked at
SENTENCE, LABEL = 300, 60
_REASONED = re.compile(
    r"<(think|thinking|reasoning|thought|analysis)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
_UNENDED = re.compile(r"<(think|thinking|reasoning|thought|analysis)\b", re.IGNORECASE)
_TAG = re.compile(r"<verdict>\s*([a-z]+)\s*</verdict>", re.IGNORECASE)
_OPENED = re.compile(r"<verdict\b", re.IGNORECASE)
_LABEL = re.compile(r"<label>([^<]*)</label>", re.IGNORECASE)
_WHY = re.compile(r"<why>([^<]*)</why>", re.IGNORECASE)
_WORDS: dict[Stage, dict[str, Word]] = {
    "fast": {"allow": "allow", "block": "deny"},
    "thinking": {"allow": "allow", "deny": "deny", "ask": "ask"},
}
_QUICK: dict[str, Word] = {**_WORDS["fast"], "deny": "deny", "ask": "deny"}  # by the schema


class Verdict(msgspec.Struct, frozen=True):
    word: Word
    label: str = ""
    why: str = ""


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    verdict: str
    label: str = ""
    why: str = ""


def schema(stage: Stage, *, sampled: bool) -> JsonObject:
    """For models that can be held to one.

    Where it is part of the prompt it is the same for both stages: servers put it before all that
    they cached, so another one would have the second look read everything anew. A small model of
    one's own that is `sampled` by it is kept from talking on.
    """
    if sampled and stage == "fast":
        return _object({"verdict": {"type": "string", "enum": ["allow", "deny"]}})
    why, label = ({"maxLength": most} if sampled else {} for most in (SENTENCE, LABEL))
    return _object(
        {
            "why": {"type": "string", **why},
            "label": {"type": "string", **label},
            "verdict": {"type": "string", "enum": ["allow", "deny", "ask"]},
        }
    )


def _object(fields: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def read(text: str, stage: Stage) -> Verdict | None:
    """None where it is no verdict, or more than one."""
    if len(text) > LONGEST:
        return None
    text = _REASONED.sub("", text).strip()
    if _UNENDED.search(text):
        return None
    if text.startswith("{"):
        return _structured(text, stage)
    tags = _TAG.findall(text)
    if len(tags) != len(_OPENED.findall(text)):
        return None  # one of them cannot be read, and may say the opposite
    words = {found.lower() for found in tags}
    if not words and stage == "fast":
        words = {text.lower().rstrip(".")}
    if len(words) != 1 or (word := _WORDS[stage].get(words.pop())) is None:
        return None
    return Verdict(word, _one(_LABEL, text, LABEL), _one(_WHY, text, SENTENCE))


def _structured(text: str, stage: Stage) -> Verdict | None:
    try:
        answer = msgspec.json.decode(text, type=_Answer)
    except (msgspec.DecodeError, RecursionError):
        return None
    word = (_QUICK if stage == "fast" else _WORDS[stage]).get(answer.verdict)
    if word is None:
        return None
    return Verdict(word, _plain(answer.label, LABEL), _plain(answer.why, SENTENCE))


def _one(pattern: re.Pattern[str], text: str, most: int) -> str:
    found = pattern.findall(text)
    return _plain(found[-1], most) if found else ""


def _plain(text: str, most: int) -> str:
    return escaped(" ".join(text.split()))[:most]
