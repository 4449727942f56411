"""Names of files as our own lines show them: always on one line, never taken for our words.

Whoever made the file chose its name; what is not plain stands in quotes, with all that does not
show or would end the line spelled out.
"""

from __future__ import annotations

from typing import Final

from gatewright.tools.system.patterns import later

LONGEST: Final = 200
_PLAIN = later(r"[\w./@+~%^:,=-]+")


def shown(name: str) -> str:
    """The name of a file as it may stand in a sentence of ours."""
    text = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
    plain = _PLAIN.fullmatch(text) is not None and text.isprintable()
    return text if plain else '"' + spelled(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def spelled(text: str) -> str:
    """One line of text that shows all of itself."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )
