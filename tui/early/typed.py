"""What was typed before the prompt is there: one short line, edited as the prompt itself would.

Only keys whose effect is certain are taken. From the first other one on every byte is left, in its
order, to the prompt: so each is taken up exactly once, and an answer of the terminal by nobody.
"""

from __future__ import annotations

LEFT = frozenset({"\x02", "\x1b[D", "\x1bOD"})
RIGHT = frozenset({"\x06", "\x1b[C", "\x1bOC"})
START = frozenset({"\x01", "\x1b[H", "\x1bOH", "\x1b[1~"})
END = frozenset({"\x05", "\x1b[F", "\x1bOF", "\x1b[4~"})
BACKSPACE = frozenset({"\x7f", "\x08", "\x1b[127u", "\x1b[127;1u"})
PLAIN = frozenset({"", "1", "2"})  # no other modifier than shift
SINGLE = 0x250  # code points below are one cell wide, and none joins another
FINAL = frozenset(chr(code) for code in range(0x40, 0x7F))


class Typed:
    """The line so far; `left` says that somebody else has the rest."""

    def __init__(self, room: int) -> None:
        self.text = ""
        self.at = 0
        self.left = False
        self.last = 0.0  # when the last key came
        self._room = room

    def feed(self, data: bytes, now: float) -> bytes:
        """Take the keys that are ours; returns what is not."""
        if self.left:
            return data
        try:
            text = data.decode()
        except UnicodeDecodeError:  # also half a character
            self.left = True
            return data
        passed, start = "", 0
        while start < len(text) and not self.left:
            key = _key(text, start)
            if _answers(key):
                passed += key
            elif self._take(key):
                self.last = now
            else:
                self.left = True
                break
            start += len(key)
        return (passed + text[start:]).encode()

    def _take(self, key: str) -> bool:
        if key in BACKSPACE:
            self.text = self.text[: max(0, self.at - 1)] + self.text[self.at :]
            self.at = max(0, self.at - 1)
        elif key in LEFT:
            self.at = max(0, self.at - 1)
        elif key in RIGHT:
            self.at = min(len(self.text), self.at + 1)
        elif key in START or key in END:
            return self._jump(key)
        else:
            return self._insert(_character(key))
        return True

    def _jump(self, key: str) -> bool:
        """The prompt's own start of a line lies behind its blanks, and End may scroll."""
        if not self.text or self.text.startswith(" "):
            return False
        self.at = 0 if key in START else len(self.text)
        return True

    def _insert(self, character: str) -> bool:
        if not character or len(self.text) + 2 > self._room or (character == "?" and not self.text):
            return False
        self.text = self.text[: self.at] + character + self.text[self.at :]
        self.at += 1
        return True


def _key(text: str, start: int) -> str:
    """One character, or an escape sequence; one that has no end yet is all that follows."""
    if text[start] != "\x1b":
        return text[start]
    if text.startswith("\x1b[", start):
        for end in range(start + 2, len(text)):
            if text[end] in FINAL:
                return text[start : end + 1]
        return text[start:]
    return text[start : start + 3] if text.startswith("\x1bO", start) else text[start:]


def _answers(key: str) -> bool:
    """The terminal says something of itself, or that somebody looks at it."""
    return key in ("\x1b[I", "\x1b[O") or (
        key.startswith(("\x1b[?", "\x1b[48;")) and key[-1] in "ycut"
    )


def _character(key: str) -> str:
    """What the key writes; empty for what is no plain character of one cell."""
    if key.startswith("\x1b[") and key.endswith("u"):  # as terminals with the kitty protocol say it
        code, _, rest = key[2:-1].partition(";")
        modifiers, _, written = rest.partition(";")
        if modifiers not in PLAIN or not (code.isdecimal() and written.isdecimal()):
            return ""
        key = chr(int(written)) if int(written) < SINGLE else ""
    plain = len(key) == 1 and ord(key) < SINGLE and key.isprintable()
    return key if plain else ""
