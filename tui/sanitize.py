"""Text of models, tools and files made harmless before it reaches the terminal.

`visible` shows every character that could hide or reorder text as `<U+XXXX>` and drops nothing;
`Stripper` removes whole terminal sequences from output and is safe at any chunk border.
"""

from __future__ import annotations

import re
import unicodedata

from gatewright.agent.text.printable import BLANKS, counted, visible

__all__ = ["Stripper", "one_line", "stripped", "visible"]

MAX_HELD = 1 << 16  # characters a sequence may have; a longer one is text

_OPENERS = {"[": "csi", "P": "string", "X": "string", "]": "string", "^": "string", "_": "string"}
_C1 = {"\x9b": "csi"} | dict.fromkeys("\x90\x98\x9d\x9e\x9f", "string")
_PLAIN = re.compile("[^\x1b\x90\x98\x9b\x9d\x9e\x9f]+")
_STRING = re.compile("[^\x07\x9c\x1b\n\x18\x1a]+")


class Stripper:
    """Removes escape sequences from a stream; one instance per stream keeps the state.

    What turns out to be no complete sequence comes out as it came in, so it swallows nothing.
    """

    def __init__(self) -> None:
        self._state = ""  # "", "esc", "mid", "csi", "string"
        self._held: list[str] = []
        self._size = 0

    def feed(self, chunk: str) -> str:
        kept: list[str] = []
        at = 0
        while at < len(chunk):
            run = (_STRING if self._state == "string" else _PLAIN).match(chunk, at)
            if run is not None and self._state in ("", "string"):
                self._hold(run[0]) if self._state else kept.append(run[0])
                at = run.end()
            else:
                self._step(chunk[at], kept)
                at += 1
            if self._size > MAX_HELD:
                kept.append(self.finish())
        return "".join(kept)

    def finish(self) -> str:
        """The stream ended, or the line: what was begun is no sequence."""
        held = "".join(self._held)
        self._end()
        return held

    def _hold(self, text: str) -> None:
        self._held.append(text)
        self._size += len(text)

    def _end(self) -> None:
        self._state, self._size = "", 0
        self._held.clear()

    def _begin(self, state: str, character: str) -> None:
        self._state = state
        self._hold(character)

    def _step(self, character: str, kept: list[str]) -> None:
        """One character that begins, continues, ends or breaks a sequence."""
        if (self._state == "string-esc" and character == "\\") or (
            self._state == "string" and character in "\x07\x9c"
        ):
            self._end()
        elif character == "\x1b":
            if self._state == "string":
                self._begin("string-esc", character)
            else:
                kept.append(self.finish())
                self._begin("esc", character)
        elif self._state == "string-esc":
            *string, _escape = self._held
            kept.append("".join(string))
            self._end()
            self._begin("esc", "\x1b")
            self._step(character, kept)
        elif not self._state or self._state == "string":
            kept.append(self.finish())
            if character in _C1:
                self._begin(_C1[character], character)
            else:
                kept.append(character)
        else:
            self._continue(character, kept)

    def _continue(self, character: str, kept: list[str]) -> None:
        if self._state == "esc" and character in _OPENERS:
            self._begin(_OPENERS[character], character)
        elif " " <= character <= "/":
            self._begin("csi" if self._state == "csi" else "mid", character)
        elif self._state == "csi" and "0" <= character <= "?":
            self._hold(character)
        elif "0" <= character <= "~":
            self._end()
        else:
            kept.append(self.finish())
            self._step(character, kept)


_STRUCK = re.compile(r"_\x08(?=.)|(.)\x08(?=\1)|[^\w\s\x00-\x1f]\x08")  # bold, underlined, spinners
_NO_WORDS = re.compile(r"[\W\d_]+")


def stripped(text: str) -> str:
    """Output of a command as a person may read it: no sequences, carriage returns applied."""
    if "\x1b" in text or not text.isascii():
        stripper = Stripper()
        text = stripper.feed(text) + stripper.finish()
    if "\r" in text:
        text = "\n".join(map(_rewritten, text.replace("\r\n", "\n").split("\n")))
    if "\b" in text:
        text = _STRUCK.sub("", text)
    return visible(text)


def _rewritten(line: str) -> str:
    """A line that was written over: its last state, as of a progress bar.

    A state with other words than the one after it stays above it, so nothing is lost.
    """
    if "\r" not in line:
        return line
    kept: list[str] = []
    before = ""
    for state in line.split("\r"):
        if not state.strip():
            continue
        words = _NO_WORDS.sub("", state)
        if kept and words.startswith(before) and bool(words) == bool(before):
            kept[-1] = state
        else:
            kept.append(state)
        before = words
    return "\n".join(kept)


def one_line(text: str, *, strict: bool = False) -> str:
    """For titles, paths and labels: one visible line, whatever was in it.

    `strict` spells out line ends and tabs, and counts blanks that would push something aside.
    """
    if strict:
        text = BLANKS.sub(counted, visible(text.strip(), strict=True))
        return _ENDS.sub(counted, text)
    return unicodedata.normalize("NFC", " ".join(visible(text).split()))


_ENDS = re.compile(r"\n+|\t+")
