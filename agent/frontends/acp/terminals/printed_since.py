"""What is new in each look at a terminal: its owner gives all that it keeps, and maybe less.

A last line that still changes is held back, as a bar of progress rewrites it. Where the owner keeps
only the end, what was dropped meanwhile is counted by nobody: that is said in its place.
"""

from __future__ import annotations

ANCHOR, LEAST = 1024, 24  # characters by which the text of before is found again
GAP = "[output is missing here: the editor kept only what follows]\n"


class PrintedSince:
    def __init__(self) -> None:
        self._given = ""  # of the text of the last look, as far as it was handed on
        self._last = ""
        self.dropped = False

    def take(self, text: str, *, truncated: bool, over: bool) -> str:
        """What is to be handed on; at the end all of it."""
        text = text.replace("\r\n", "\n")
        still = over or text == self._last
        self._last = text
        self.dropped = self.dropped or truncated
        shown = text if still else text[: text.rfind("\n") + 1]
        new = self._behind_cut(shown) if truncated else self._behind(shown)
        if new:
            self._given = shown
        return new

    def _behind(self, shown: str) -> str:
        given = self._given
        if shown.startswith(given):
            return shown[len(given) :]
        if given.startswith(shown):
            return ""  # a line that is held back by now
        line = shown.rfind("\n", 0, _alike(given, shown)) + 1
        return _apart(given) + shown[line:]  # written anew from that line on

    def _behind_cut(self, shown: str) -> str:
        given = self._given
        anchor = given[-ANCHOR:]
        at = shown.rfind(anchor) if anchor else -1
        if at >= 0:
            return shown[at + len(anchor) :]
        for size in range(min(len(anchor), len(shown)), LEAST, -1):  # the cut fell into it
            if anchor.endswith(shown[:size]):
                return shown[size:]
        if not shown:
            return ""
        return _apart(given) + GAP + shown


def _alike(one: str, two: str) -> int:
    """How many characters they begin with that are the same."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == two[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _apart(given: str) -> str:
    return "\n" if given and not given.endswith("\n") else ""
