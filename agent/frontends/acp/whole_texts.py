"""Both sides of a change, whole, from what a file holds now and the lines that changed.

Live, a file is read before and after the call. In a replay the last change of a file leads to the
one before it; where the file is another by now, only the changed lines are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from gatewright.agent.frontends.acp.shown_blocks import LARGEST, Whole, applied
from gatewright.agent.record.events import Envelope, ToolFinished
from gatewright.tools.access import MAIN, Where
from gatewright.tools.blocks import Diff
from gatewright.tools.system.regular import read_regular

TextOf: TypeAlias = Callable[[Path], str | None]


def on_disk(path: Path) -> str | None:
    """The text of a file; None for what is none, or too large to be shown."""
    try:
        return read_regular(path, LARGEST).decode("utf-8")
    except (OSError, ValueError):
        return None


class WholeTexts:
    """`where` says what the paths in diffs are from; `text_of` what a file holds now."""

    def __init__(self, where: Callable[[], Where], text_of: TextOf = on_disk) -> None:
        self._where, self._text_of = where, text_of
        self._past: dict[tuple[str, str], Whole | None] = {}

    def absolute(self, shown: str) -> str:
        where = self._where()
        if shown.startswith("~/"):
            return str(where.home / shown[2:])
        return str(where.root / shown)

    def foreseen(self, diff: Diff) -> Whole | None:
        path = self.absolute(diff.path)
        before = self._text_of(Path(path))
        if before is None:
            return (path, None, _added(diff)) if _new(diff) else None
        after = applied(before, diff.hunks)
        return (path, before, after) if after is not None else None

    def done(self, event: str, diff: Diff) -> Whole | None:
        """`event` is the one that tells of it, by its uuid."""
        if (event, diff.path) in self._past:
            return self._past[event, diff.path]
        return _back(self.absolute(diff.path), self._text_of, diff)

    def remember(self, envelopes: Iterable[Envelope]) -> None:
        """What was before the stored changes, the newest first."""
        texts: dict[str, str | None] = {}
        for envelope in reversed(list(envelopes)):
            event = envelope.event
            if envelope.agent != MAIN or not isinstance(event, ToolFinished):
                continue
            for diff in (block for block in event.view if isinstance(block, Diff)):
                path = self.absolute(diff.path)
                if path not in texts:
                    texts[path] = self._text_of(Path(path))
                whole = _back(path, lambda at: texts.get(str(at)), diff)
                self._past[envelope.uuid, diff.path] = whole
                texts[path] = whole[1] if whole is not None else None


def _back(path: str, text_of: TextOf, diff: Diff) -> Whole | None:
    after = text_of(Path(path))
    before = applied(after, diff.hunks, back=True) if after is not None else None
    if after is None or before is None:
        return None
    return path, None if _new(diff) and not before else before, after


def _new(diff: Diff) -> bool:
    """Nothing stood there before."""
    return not diff.removed and all(line[:1] == "+" for hunk in diff.hunks for line in hunk.lines)


def _added(diff: Diff) -> str:
    return "".join(f"{line[1:]}\n" for hunk in diff.hunks for line in hunk.lines)
