"""Text of models, tools and files made harmless before it reaches the terminal.

`visible` shows every character that could hide or reorder text as `<U+XXXX>` and drops nothing;
`Stripper` removes whole terminal sequences from output and is safe at any chunk border.
"""

from __future__ import annotations

import re
import unicodedata

MAX_MARKS = 4  # combining marks on one letter; more is noise meant to cover other lines

_ODD_BLANKS = (
    "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2028\u2029\u3164\uffa0\u115f\u1160\u2800"
)
_SUSPECT = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\ue000-\uf8ff"
    r"\U0001d173-\U0001d17a\U000e0000-\U0010ffff" + _ODD_BLANKS + "]"
)
_MARKS = re.compile(
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
)
_PLAIN_BLANKS = frozenset("\u00a0\u202f\u3000\u2800")
_PICTURE = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff#*0-9]"
)
_JOINER, _EMOJI_STYLE, _SKIN = "\u200d", "\ufe0f", range(0x1F3FB, 0x1F400)


def _code(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def visible(text: str, *, strict: bool = False) -> str:
    """Make hidden, reordering and control characters readable; keep newlines and tabs.

    `strict` is for prompts, where the person judges the exact text: there even joined emoji and
    blanks that are no plain space are spelled out.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")

    def replace(match: re.Match[str]) -> str:
        character = match[0]
        if strict:
            return _code(character)
        if character in _PLAIN_BLANKS or "\ue000" <= character <= "\uf8ff":
            return character  # harmless where nothing is judged: blanks, symbols of patched fonts
        if character in (_JOINER, _EMOJI_STYLE) and _in_emoji(text, match.start()):
            return character
        return _code(character)

    text = _SUSPECT.sub(replace, text)
    return _MARKS.sub(_limit_marks, text)


def _limit_marks(match: re.Match[str]) -> str:
    marks = match[0]
    return marks[:MAX_MARKS] + "".join(map(_code, marks[MAX_MARKS:]))


def _in_emoji(text: str, index: int) -> bool:
    """Whether the joiner or style selector at this index belongs to a picture on its left."""
    before = index - 1
    while before >= 0 and (text[before] == _EMOJI_STYLE or ord(text[before]) in _SKIN):
        before -= 1
    if before < 0 or not _PICTURE.match(text[before]):
        return False
    if text[index] == _EMOJI_STYLE:
        return text[index - 1] != _EMOJI_STYLE
    return index + 1 < len(text) and _PICTURE.match(text[index + 1]) is not None


_CSI_END = re.compile(r"[\x40-\x7e]")
_STRING_OPENERS = {"P", "X", "]", "^", "_"}
_C1 = {"\x90": "P", "\x98": "X", "\x9b": "[", "\x9d": "]", "\x9e": "^", "\x9f": "_"}


class Stripper:
    """Removes escape sequences from a stream; one instance per stream keeps the state."""

    def __init__(self) -> None:
        self._state = ""  # "", "esc", "mid", "csi", "string", "string-esc"

    def feed(self, chunk: str) -> str:
        if not self._state and "\x1b" not in chunk and chunk.isascii():
            return chunk
        kept: list[str] = []
        for character in chunk:
            if self._state:
                self._step(character, kept)
            elif character == "\x1b":
                self._state = "esc"
            elif character in _C1:
                self._state = "csi" if _C1[character] == "[" else "string"
            else:
                kept.append(character)
        return "".join(kept)

    def _step(self, character: str, kept: list[str]) -> None:
        if character == "\n" or (character == "\x18" or character == "\x1a"):
            # a sequence never spans lines here: an unterminated one must not swallow what follows
            self._state = ""
            if character == "\n":
                kept.append(character)
        elif character == "\x1b":
            self._state = "string-esc" if self._state.startswith("string") else "esc"
        else:
            self._state = self._next(character)

    def _next(self, character: str) -> str:
        match self._state:
            case "esc" | "string-esc":
                return self._after_escape(character)
            case "csi":
                return "" if _CSI_END.match(character) else "csi"
            case "mid":
                return "mid" if " " <= character <= "/" else ""
            case _:
                return "" if character in "\x07\x9c" else "string"

    def _after_escape(self, character: str) -> str:
        if character == "[":
            return "csi"
        if character in _STRING_OPENERS:
            return "string"
        if " " <= character <= "/":
            return "mid"
        return ""


def stripped(text: str) -> str:
    """Output of a command as a person may read it: no sequences, carriage returns applied."""
    if "\x1b" in text or not text.isascii():
        text = Stripper().feed(text)
    if "\r" in text:
        text = "\n".join(_overwritten(line) for line in text.replace("\r\n", "\n").split("\n"))
    if "\b" in text:
        text = re.sub(r"[^\n]\x08", "", text)
    return visible(text)


def _overwritten(line: str) -> str:
    """What is left of a line whose start was written over: the last non-empty rewrite."""
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def one_line(text: str, *, strict: bool = False) -> str:
    """For titles, paths and labels: one visible line, whatever was in it."""
    joined = " ".join(visible(text, strict=strict).split())
    return joined if strict else unicodedata.normalize("NFC", joined)
