"""One row of a table of figures: what was found, what was wanted, and whether that is so."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

MS = 1000.0


class Verdict(NamedTuple):
    name: str
    found: str
    target: str
    good: bool

    def line(self) -> str:
        mark = "" if self.good else "   MISSED"
        return f"{self.name:46} {self.found:34} {self.target}{mark}\n"


def ratio(
    name: str, ours: Sequence[float], base: Sequence[float], most: float, *, more: float = 0.0
) -> Verdict:
    """Of the medians; `more` are milliseconds on top."""
    one, other = statistics.median(ours), statistics.median(base)
    found = f"{one / other:.2f} x  ({one * MS:.2f} / {other * MS:.2f} ms)"
    target = f"<= {most:.2f} x" + (f" + {more:g} ms" if more else "")
    return Verdict(name, found, target, one <= other * most + more / MS)


def at_most(name: str, found: float, target: float, unit: str) -> Verdict:
    return Verdict(name, f"{found:.1f} {unit}", f"<= {target:g} {unit}", found <= target)


def at_least(name: str, found: float, target: float, unit: str) -> Verdict:
    return Verdict(name, f"{found:.1f} {unit}", f">= {target:g} {unit}", found >= target)


def rss(pid: int | str = "self") -> int:
    """KB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
