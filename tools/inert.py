"""Makes text from programs and files harmless to a terminal: no escapes, controls or bidi tricks.

The result holds only printable characters, tabs and newlines; nothing is silently dropped but
colour and cursor sequences.
"""

from __future__ import annotations

import re

from gatewright.tools.system.patterns import later

# Escape sequences: CSI, strings (OSC, DCS, SOS, PM, APC) up to their end, and two-byte ones.
_ESCAPES = later(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\|\Z)"
    r"|\x1b[ -/]*[0-Z\\-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_OVERWRITTEN = later(r"^[^\n]*\r(?!\n|\Z)", re.MULTILINE)
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_INVISIBLE = (0x200B, 0x2060, 0xFEFF, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))

_TABLE: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"},
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in (*_BIDI, *_INVISIBLE, 0x2028, 0x2029)},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    0x7F: "\u2421",
    0x0D: None,
}

_SUSPECT = later("[^\\t\\n -~\u00a0-\u0600]")


def inert(text: str) -> str:
    """Printable text; progress lines rewritten with a carriage return keep their last state."""
    if not _SUSPECT.search(text):
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text)
    return text.translate(_TABLE)


def visible(text: str) -> str:
    """As `inert`, for file content: carriage returns stay visible unless they end a line."""
    if not _SUSPECT.search(text):
        return text
    return text.replace("\r\n", "\n").replace("\r", "\u240d").translate(_TABLE)
