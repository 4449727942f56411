"""Which themes a setting may name: built-in ones, files of the person's own, those of plugins.

Whether a plugin has one is known where plugins are: a setting may name any, as `plugin:name`.
"""

from __future__ import annotations

from pathlib import Path

BUILT_IN = ("auto", "dark", "light", "minimal", "high-contrast", "colour-blind", "ansi")
KEY = ("ui", "theme")
FOLDER = "themes"


def wrong(name: str, home: Path | None) -> str:
    """Why this is no theme, with the nearest name; empty where it is one. `home` is our own."""
    if name in BUILT_IN:
        return ""
    own = () if home is None else sorted(path.stem for path in (home / FOLDER).glob("*.json"))
    known = (*BUILT_IN, *own)
    plugin, mark, theme = name.partition(":")
    if name in known or (mark and plugin and theme and name.isprintable()):
        return ""
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, only with a mistake

    near = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    meant = f"; did you mean {near[0]}?" if near else f": there are {', '.join(known)}"
    return f'names no theme, "{name[:40]}"{meant}'
