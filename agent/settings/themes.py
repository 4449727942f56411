"""Which themes a setting may name: the built-in ones, and the files of the person's own."""

from __future__ import annotations

from pathlib import Path

BUILT_IN = ("dark", "light", "minimal", "high-contrast", "colour-blind", "ansi")
KEY = ("ui", "theme")
FOLDER = "themes"


def wrong(name: str, home: Path | None) -> str:
    """Why this is no theme, with the nearest name; empty where it is one. `home` is our own."""
    if name in BUILT_IN:
        return ""
    own = () if home is None else sorted(path.stem for path in (home / FOLDER).glob("*.json"))
    known = (*BUILT_IN, *own)
    if name in known:
        return ""
    from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, only with a mistake

    near = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    meant = f"; did you mean {near[0]}?" if near else f": there are {', '.join(known)}"
    return f'names no theme, "{name[:40]}"{meant}'
