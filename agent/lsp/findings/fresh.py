"""Which diagnostics are those of the text that was sent last: nothing else is ever given out.

An answer to a pull, or a publication with the version that was just sent, is. A publication without
a version may be of any text that was sent before it: it counts once the server says nothing more of
the file for a while, a longer one where an older text was still being worked on, or where this
server has once said more after that while.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gatewright.agent.lsp.wire.shapes import Diagnostic

QUIET = 0.15  # seconds without a further word about a file
PATIENT = 2.0  # the same where an older text may still be meant
CALM = 0.5  # after which nothing is under way any more
LONGEST = 3.0
FORGOTTEN = 5.0  # after which a server says no more of a text that was replaced
SETTLES = 2.0  # after other files were changed: what it says no more of holds
TOGETHER = 0.01  # files that are sent within it changed at once
KEPT, MESSAGE = 500, 1000  # findings of a file, characters of each

Items = tuple[Diagnostic, ...]


class Held(msgspec.Struct, frozen=True):
    """What a server found in the text of that version."""

    version: int
    items: Items
    at: float
    edit: int = 0  # how many changes of any file it had been sent by then
    asked: bool = False  # it is an answer, so it is known what to
    doubtful: bool = False  # word for word what was said of the text before, and no version


class Waiting(msgspec.Struct, frozen=True):
    """An unversioned publication that may be of the newest text."""

    items: Items
    at: float
    quiet: float


class _File:
    def __init__(self) -> None:
        self.version = 0
        self.held: Held | None = None
        self.before: Held | None = None  # of an older text: what a change is compared with
        self.waiting: Waiting | None = None
        self.owed: list[float] = []  # when texts were sent that nothing was said of yet
        self.settled_at = 0.0


class Freshness:
    """Of one run of a server. Times come from whoever calls."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._quiet = QUIET
        self._last = -LONGEST  # when it was last sent or said anything of any file
        self._edits, self._sent_at = 0, -LONGEST
        self._stir, self._stirred_at = 0, -LONGEST  # the last change of files it has not open
        self._calm = True  # when it was sent the last change, nothing else was under way

    def sent(self, uri: str, version: int, now: float) -> None:
        """The file has this text from now on; versions only grow."""
        file = self._files.setdefault(uri, _File())
        self._settle(file, now)
        self._reckon(now)
        if file.held is not None:
            file.before, file.owed = file.held, [] if file.waiting is None else file.owed[-1:]
        file.owed = [*(at for at in file.owed if now - at < FORGOTTEN), now]
        file.version, file.held, file.waiting = version, None, None
        self._edits += 1
        self._last = now

    def stirred(self, now: float) -> None:
        """Files that it has not open are others now: what it said of the open ones is in doubt."""
        self._reckon(now)
        self._edits += 1
        self._stir, self._stirred_at = self._edits, now
        self._last = now

    def _reckon(self, now: float) -> None:
        if now - self._sent_at > TOGETHER:
            busy = any(each.held is None for each in self._files.values())
            self._calm = not busy and now - self._last >= CALM
        self._sent_at = now

    def closed(self, uri: str) -> None:
        self._files.pop(uri, None)

    def published(self, uri: str, version: int | None, items: Items, now: float) -> bool:
        """Whether it may be of use; what is of another text, or of no open file, is dropped."""
        file = self._files.get(uri)
        self._last = max(self._last, now)
        if file is None or (version is not None and version != file.version):
            return False
        items = bounded(items)
        if version is not None:
            file.waiting = None
            self._hold(file, items, now)
            return True
        self._learn(file, now)
        quiet = self._quiet if len(file.owed) < 2 else max(PATIENT, self._quiet)
        file.waiting = Waiting(items, now, quiet)
        return True

    def pulled(self, uri: str, version: int, items: Items, now: float, *, edit: int) -> None:
        """An answer to a question that was put when so many changes had been sent."""
        file = self._files.get(uri)
        if file is not None and version == file.version:
            file.waiting = None
            file.held = Held(version, bounded(items), now, edit, asked=True)
            file.settled_at = now

    @property
    def edits(self) -> int:
        return self._edits

    def version(self, uri: str) -> int:
        return file.version if (file := self._files.get(uri)) is not None else 0

    def fresh(self, uri: str, now: float) -> Held | None:
        """What it found in the text as it was sent last; None: not known yet."""
        file = self._files.get(uri)
        if file is None:
            return None
        self._settle(file, now)
        held = file.held if file.waiting is None else None
        return None if held is None or self._doubted(held, now) else held

    def _doubted(self, held: Held, now: float) -> bool:
        """Who is asked is asked anew; who says it by itself has a while for it."""
        return held.edit < self._stir and (held.asked or now - self._stirred_at < SETTLES)

    def others(self, uris: Iterable[str], now: float) -> dict[str, Held]:
        """What it has said of files that did not change since the last change of any file."""
        found: dict[str, Held] = {}
        for uri in uris:
            held = self.fresh(uri, now)
            if held is None or held.edit != self._edits:
                continue
            if held.asked or self._calm or now - self._last >= CALM:
                found[uri] = held
        return found

    def still(self, now: float) -> bool:
        """Whether it has nothing more to say of the last change."""
        return now - self._last >= CALM and now - self._stirred_at >= SETTLES

    def baseline(self, uri: str, now: float) -> Held | None:
        """The newest that was ever known of the file: of its text now, or of one before."""
        file = self._files.get(uri)
        if file is None:
            return None
        return self.fresh(uri, now) or file.held or file.before

    def due(self, uris: Iterable[str]) -> float | None:
        """When something that waits for quiet will count, at the earliest."""
        files = (self._files.get(uri) for uri in uris)
        times = [self._due(file) for file in files if file is not None]
        return min((at for at in times if at is not None), default=None)

    def _due(self, file: _File) -> float | None:
        if file.waiting is not None:
            return file.waiting.at + file.waiting.quiet
        held = file.held
        doubted = held is not None and held.edit < self._stir and not held.asked
        return self._stirred_at + SETTLES if doubted else None

    def _hold(self, file: _File, items: Items, now: float) -> None:
        before = file.before
        again = file.waiting is not None and before is not None and before.items == items
        file.held = Held(file.version, items, now, self._edits, doubtful=again)
        file.waiting = None
        file.settled_at = now

    def _settle(self, file: _File, now: float) -> None:
        waiting = file.waiting
        if waiting is not None and now - waiting.at >= waiting.quiet:
            self._hold(file, waiting.items, waiting.at)

    def _learn(self, file: _File, now: float) -> None:
        """It says more of a text whose findings had counted: from now on it is waited for."""
        self._settle(file, now)
        if file.held is not None and file.held.version == file.version:
            gap = now - file.settled_at
            if gap < LONGEST:
                self._quiet = min(LONGEST, max(self._quiet, gap * 1.5))


def bounded(items: Items) -> Items:
    """As many as anybody looks at, the gravest first, and of each a bounded text."""
    if len(items) > KEPT:
        items = tuple(sorted(items, key=lambda item: item.weight)[:KEPT])
    if any(len(item.message) > MESSAGE for item in items):
        cut = msgspec.structs.replace
        items = tuple(cut(item, message=item.message[:MESSAGE]) for item in items)
    return items
