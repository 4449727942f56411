"""Text with more than ASCII in it made fit for a terminal: marks, joined pictures, flags, Hangul.

Apart, because its tables take milliseconds to compile and plain text needs none of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from gatewright.agent.text.printable import MAX_SINGLY, spelled

MAX_MARKS = 4  # combining marks on one letter; more is noise meant to cover other lines

_ODD_BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800"
_PRIVATE = "\ue000-\uf8ff"
_NONE = "".join(
    chr(0x10000 * plane + 0xFFFE) + chr(0x10000 * plane + 0xFFFF) for plane in range(15)
)
_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufdd0-\ufdef"
    r"\ufff0-\ufffb\ud800-\udfff\U00013430-\U0001345f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    r"\U0001d173-\U0001d17a\U00040000-\U0010ffff" + _NONE
)
_LOOSE = re.compile(f"([{_HIDDEN}])\\1*")
_STRICT = re.compile(f"([{_HIDDEN}{_ODD_BLANKS}{_PRIVATE}\ufffc])\\1*")
_RARE = re.compile(  # newer pictures and ideographs than Python knows are left to the terminal
    "[^\x00-\u036f\u2000-\u2bff\u3041-\u3096\u30a0-\u30fe\u3400-\u9fff\uac00-\ud7a3"
    "\U0001f000-\U0001faff\U00020000-\U0003ffff]"
)
_JAMO = re.compile("[\u1161-\u11ff\ud7b0-\ud7fb]+")
_LEADING = re.compile("[\u1100-\u115e\ua960-\ua97c\uac00-\ud7a3]")
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+")
_TAG_FLAG = re.compile(
    "\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_TONE = re.compile("[\U0001f3fb-\U0001f3ff]+")
_TONED = re.compile(
    "[\u261d\u26f9\u270a-\u270d\U0001f385\U0001f3c2-\U0001f3c4\U0001f3c7\U0001f3ca-\U0001f3cc"
    "\U0001f442\U0001f443\U0001f446-\U0001f450\U0001f466-\U0001f478\U0001f47c"
    "\U0001f481-\U0001f483\U0001f485-\U0001f487\U0001f48f\U0001f491\U0001f4aa\U0001f574"
    "\U0001f575\U0001f57a\U0001f590\U0001f595\U0001f596\U0001f645-\U0001f647"
    "\U0001f64b-\U0001f64f\U0001f6a3\U0001f6b4-\U0001f6b6\U0001f6c0\U0001f6cc\U0001f90c"
    "\U0001f90f\U0001f918-\U0001f91f\U0001f926\U0001f930-\U0001f939\U0001f93c-\U0001f93e"
    "\U0001f977\U0001f9b5\U0001f9b6\U0001f9b8\U0001f9b9\U0001f9bb\U0001f9cd-\U0001f9cf"
    "\U0001f9d1-\U0001f9dd\U0001fac3-\U0001fac5\U0001faf0-\U0001faf8]"
)
_PICTURE = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f004-\U0001f1e5\U0001f200-\U0001f3fa"
    "\U0001f400-\U0001faff]"
)
_JOINER, _TEXT_STYLE, _EMOJI_STYLE, _KEY = "\u200d", "\ufe0e", "\ufe0f", "\u20e3"


def strictly(text: str) -> str:
    """Everything hidden spelled out, joined pictures and odd blanks as well."""
    text = _STRICT.sub(lambda match: spelled(match[1], len(match[0])), text)
    return _seen(_TONE.sub(lambda match: _each(match[0]), text))


def loosely(text: str) -> str:
    """Everything hidden spelled out but what pictures are made of."""
    return _seen(_LOOSE.sub(_loosely, text))


def _loosely(match: re.Match[str]) -> str:
    character, text, at = match[1], match.string, match.start()
    if len(match[0]) == 1:
        if character == _JOINER:
            kept = _joins(text, at)
        elif character in (_EMOJI_STYLE, _TEXT_STYLE):
            kept = _styles(text, at)
        else:
            kept = "\U000e0062" <= character <= "\U000e007f" and _in_tag_flag(text, at)
        if kept:
            return character
    return spelled(character, len(match[0]))


def _joins(text: str, at: int) -> bool:
    """Whether the joiner here makes one picture of two."""
    before = at - 1
    while before >= 0 and (text[before] == _EMOJI_STYLE or _TONE.match(text[before])):
        before -= 1
    return (
        before >= max(0, at - 3)
        and _PICTURE.match(text[before]) is not None
        and _PICTURE.match(text, at + 1) is not None
    )


def _styles(text: str, at: int) -> bool:
    """Whether the selector here belongs to a picture, or to the key that a keycap is made of."""
    before = text[at - 1 : at]
    if before and before in "#*0123456789":
        return text[at : at + 2] == _EMOJI_STYLE + _KEY
    return _PICTURE.match(before) is not None


def _in_tag_flag(text: str, at: int) -> bool:
    """England, Scotland and Wales are the only flags spelled with tags."""
    start = text.rfind("\U0001f3f4", max(0, at - 6), at) + 1
    found = _TAG_FLAG.match(text, start) if start else None
    return found is not None and at < found.end()


def _seen(text: str) -> str:
    """What would be drawn over something else, or by some terminals not at all."""
    if text.isascii():
        return text
    if not text.isprintable():
        text = _RARE.sub(_known, text)
    if any(map(_stacked, set(text))):
        text = "".join(_fewer_marks(text))
    text = _JAMO.sub(_jamo, text)
    text = _TONE.sub(_tone, text)
    return _FLAGS.sub(_flags, text)


def _each(text: str) -> str:
    """Every character spelled, runs counted."""
    return re.sub(r"(.)\1*", lambda match: spelled(match[1], len(match[0])), text)


def _known(match: re.Match[str]) -> str:
    """A character that is none yet has no shape and no known width."""
    return spelled(match[0]) if unicodedata.category(match[0]) == "Cn" else match[0]


@lru_cache(4096)
def _stacked(character: str) -> bool:
    """Drawn over, under or around the letter before it, without a cell of its own."""
    styles = character in (_EMOJI_STYLE, _TEXT_STYLE)
    return unicodedata.category(character) in ("Mn", "Me") and not styles


def _fewer_marks(text: str) -> Iterator[str]:
    before = ""
    for stacked, run in groupby(text, _stacked):
        part = "".join(run)
        if stacked:
            kept = 0 if not before or before.isspace() else MAX_MARKS  # nothing there to sit on
            yield part[:kept] + _each(part[kept:])
        else:
            yield part
        before = part[-1]


def _jamo(match: re.Match[str]) -> str:
    """Vowels and finals of Hangul take no cell after a leading consonant, and need one."""
    led = _LEADING.match(match.string[match.start() - 1 : match.start()]) is not None
    kept = MAX_SINGLY if led else 0
    return match[0][:kept] + _each(match[0][kept:])


def _tone(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 2) : match.start()].removesuffix(_EMOJI_STYLE)
    kept = int(_TONED.match(before[-1:]) is not None)
    return match[0][:kept] + _each(match[0][kept:])


def _flags(match: re.Match[str]) -> str:
    """Two letters are a flag; how wide one alone is, nobody knows."""
    paired = len(match[0]) // 2 * 2
    return match[0][:paired] + _each(match[0][paired:])
