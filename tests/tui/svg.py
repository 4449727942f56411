"""Comparing screens as SVG: what is drawn counts, not the ids the exporter makes up.

`UPDATE_SNAPSHOTS=1 pytest tests/tui/test_snapshots.py` writes them anew; look at the
difference before committing it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

FOLDER = Path(__file__).with_name("snapshots")
UPDATE = "UPDATE_SNAPSHOTS"


def normal(svg: str) -> str:
    """One element per line, without generated ids, web fonts and the window's frame."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<clipPath id=\"terminal-line-\d+\">.*?</clipPath>", "", svg, flags=re.DOTALL)
    svg = re.sub(r" clip-path=\"url\(#terminal-line-\d+\)\"", "", svg)
    svg = re.sub(r"\s*(<(?:rect|text|g|/g|circle)\b)", r"\n\1", svg)
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


def check(name: str, svg: str) -> None:
    """Fail with the first differing line when the screen is not the stored one."""
    path = FOLDER / f"{name}.svg"
    now = normal(svg)
    if os.environ.get(UPDATE):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(now, encoding="utf-8")
        return
    assert path.exists(), f"no snapshot {path.name}: set {UPDATE}=1 to write it"
    before = path.read_text(encoding="utf-8")
    if now != before:
        pairs = zip(before.splitlines(), now.splitlines(), strict=False)
        first = next(
            (f"was {a}\nis  {b}" for a, b in pairs if a != b), "a different number of lines"
        )
        raise AssertionError(f"{path.name} differs ({UPDATE}=1 writes it anew):\n{first}")
