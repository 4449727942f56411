"""What is remembered of one repository, on disk: read by many processes, changed under one lock.

Every change is one change set, so that a kill loses nothing; what waits for the person and what the
last dream replaced lie beside the files and change with them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.memory.change_set import (
    MOST,
    MemoryFailure,
    change,
    content,
    finish,
    unfinished,
)
from gatewright.agent.autonomy.memory.facts import (
    BYTES,
    FILE,
    INDEX,
    LINES,
    TOPIC_BYTES,
    TOPICS,
    Fact,
    Topic,
    index_lines,
    topic_of,
    with_facts,
)
from gatewright.tools.system import private
from gatewright.tools.system.locks import held
from gatewright.tools.system.regular import TooLarge, head_of

WAITING, DREAMT, PROPOSED = ".waiting.json", ".dream.json", ".proposal.json"
MOST_WAITING: Final = 30
INDEX_BYTES: Final = 4 * BYTES  # of one that is written to
HEAD: Final = 16_000  # bytes of a topic that are read to be told
TRIES: Final = 3
BUSY: Final = "{} is being changed by somebody else right now: try again."
NO_DREAM: Final = "There is no /dream to undo."


class Contents(msgspec.Struct, frozen=True):
    """The files as they are: those that can be written to, and why others cannot."""

    files: Mapping[str, bytes]
    left_out: Mapping[str, str]

    def text(self, name: str) -> str:
        return self.files.get(name, b"").decode("utf-8", "replace")

    def topics(self) -> Sequence[Topic]:
        names = sorted(name for name in self.files if FILE.fullmatch(name) and name != INDEX)
        return [topic_of(name.removesuffix(".md"), self.text(name)) for name in names]

    def facts(self) -> Sequence[Fact]:
        return [fact for topic in self.topics() for fact in topic.facts]


class Dreamt(msgspec.Struct, frozen=True):
    """What a dream replaced, by what, and what was learnt after it."""

    before: dict[str, bytes | None]
    after: dict[str, bytes | None]
    since: tuple[Fact, ...] = ()


class MemoryStore:
    """Safe from any thread and process. Whatever cannot be done raises MemoryFailure."""

    def __init__(self, folder: Path, step: Callable[[str], object] = lambda _: None) -> None:
        self.folder, self._step = folder, step

    def look(self) -> Contents:
        """The files as they are; what was begun by somebody who died is finished first."""
        if unfinished(self.folder):
            with self._locked():
                pass
        return self._contents()

    def index(self) -> str:
        """The first lines of the index; empty where there are none or they cannot be read."""
        if unfinished(self.folder):
            self.look()
        try:
            data = head_of(self.folder / INDEX, BYTES + 1, follow=False)
        except OSError:
            return ""
        whole = data[:BYTES]
        if len(data) > BYTES:  # no half of a line
            whole = whole.rpartition(b"\n")[0]
        return "\n".join(whole.decode("utf-8", "replace").splitlines()[:LINES]).strip()

    def topics(self) -> Sequence[Topic]:
        """Of each file its beginning, however long it is."""
        found: list[Topic] = []
        for name in self._names():
            with contextlib.suppress(OSError):
                data = head_of(self.folder / name, HEAD, follow=False)
                text = data.decode("utf-8", "replace")
                whole = text if len(data) < HEAD else text.rpartition("\n")[0]
                found.append(topic_of(name.removesuffix(".md"), whole))
        return found

    def learn(self, facts: Sequence[Fact]) -> None:
        self._change(lambda now: _learnt(now, facts))

    def wait(self, facts: Sequence[Fact]) -> None:
        """Keep them for the person to look at; the oldest go where there are too many."""

        def waiting(now: Contents) -> Mapping[str, bytes | None]:
            kept = (*_waiting(now), *facts)[-MOST_WAITING:]
            return {WAITING: msgspec.json.encode(kept)}

        self._change(waiting)

    def waiting(self) -> Sequence[Fact]:
        return _waiting(self.look())

    def settle(self, chosen: Callable[[int], bool], *, keep: bool) -> Sequence[Fact]:
        """Keep or forget those of them that wait, by their number from 1."""
        done: list[Fact] = []

        def settled(now: Contents) -> Mapping[str, bytes | None]:
            waits = list(enumerate(_waiting(now), 1))
            done[:] = [fact for number, fact in waits if chosen(number)]
            left = [fact for number, fact in waits if not chosen(number)]
            rest = {WAITING: msgspec.json.encode(left) if left else None}
            return {**(_learnt(now, done) if keep else {}), **rest}

        self._change(settled)
        return done

    def edit(self, name: str, before: str, text: str) -> None:
        """What the person made of a file; an empty one goes, with its lines in the index."""

        def edited(now: Contents) -> Mapping[str, bytes | None]:
            if now.text(name) != before:
                raise MemoryFailure(f"{name} changed while you edited it, and stays as it is now.")
            data = text.rstrip("\n").encode() + b"\n" if text.strip() else None
            found: dict[str, bytes | None] = {name: data}
            if data is None and name != INDEX:
                found[INDEX] = _without_topic(now.text(INDEX), name.removesuffix(".md"))
            return found

        if name != INDEX and FILE.fullmatch(name) is None:
            raise MemoryFailure(f"{name!r} is no file of this memory.")
        self._change(edited)

    def propose(
        self, before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]
    ) -> None:
        """Keep what a dream would do for the person to look at."""
        data = msgspec.json.encode(Dreamt(dict(before), dict(after)))
        self._change(lambda _: {PROPOSED: data})

    def proposal(self) -> Dreamt | None:
        """One that is still about the files as they are."""
        now = self.look()
        found = _stored(now, PROPOSED)
        if found is None or any(now.files.get(n) != data for n, data in found.before.items()):
            return None
        return found

    def dreamt(self, before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> None:
        """Put a dream in force; it can be undone until the next one."""

        def applied(now: Contents) -> Mapping[str, bytes | None]:
            changed = [name for name, data in before.items() if now.files.get(name) != data]
            if changed:
                raise MemoryFailure(f"{', '.join(changed)} changed meanwhile: /dream looks again.")
            kept = msgspec.json.encode(Dreamt(dict(before), dict(after)))
            return {**after, DREAMT: kept, PROPOSED: None}

        self._change(applied)

    def undo(self) -> Sequence[str]:
        """Put back what the last dream replaced, byte for byte; what was learnt since is learnt
        again."""
        back: list[str] = []

        def undone(now: Contents) -> Mapping[str, bytes | None]:
            last = _stored(now, DREAMT)
            if last is None:
                raise MemoryFailure(NO_DREAM)
            other = [name for name, data in last.after.items() if now.files.get(name) != data]
            if other:
                raise MemoryFailure(
                    f"{', '.join(other)} was edited after the dream: nothing is put back over that."
                )
            back[:] = last.before
            files = {**now.files, **last.before}
            put = {name: data for name, data in files.items() if data is not None}
            again = with_facts(put, last.since, frozenset(now.left_out))
            return {**last.before, **again, DREAMT: None}

        self._change(undone)
        return back

    def _change(self, make: Callable[[Contents], Mapping[str, bytes | None]]) -> None:
        with self._locked():
            for _ in range(TRIES):
                now = self._contents()
                if change(self.folder, now.files, make(now), self._step):
                    return
        raise MemoryFailure(BUSY.format(self.folder))

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        try:
            private.folder(self.folder)
            with held(self.folder / ".lock"):
                finish(self.folder, self._step)
                yield
        except OSError as error:
            told = f"{self.folder} cannot be used: {error.strerror or error}."
            raise MemoryFailure(told) from error

    def _contents(self) -> Contents:
        files: dict[str, bytes] = {}
        left_out: dict[str, str] = {}
        limits = {INDEX: INDEX_BYTES, WAITING: MOST, DREAMT: MOST, PROPOSED: MOST}
        for name in (INDEX, *self._names(), WAITING, DREAMT, PROPOSED):
            try:
                data = content(self.folder, name, limits.get(name, TOPIC_BYTES))
            except TooLarge:
                left_out[name] = "too long: nothing is added to it, and only its beginning is read"
            except MemoryFailure as failure:
                left_out[name] = str(failure)
            else:
                if data is not None and _is_text(data):
                    files[name] = data
                elif data is not None:
                    left_out[name] = "not UTF-8: nothing is added to it"
        return Contents(files, left_out)

    def _names(self) -> Sequence[str]:
        """Files of topics, links among them."""
        try:
            with os.scandir(self.folder) as entries:
                names = [each.name for each in entries if FILE.fullmatch(each.name) is not None]
        except OSError:
            return ()
        return sorted(name for name in names if name.casefold() != INDEX.casefold())[:TOPICS]


def _learnt(now: Contents, facts: Sequence[Fact]) -> dict[str, bytes | None]:
    """The files with these facts; a dream that can be undone knows of them."""
    after: dict[str, bytes | None] = {**with_facts(now.files, facts, frozenset(now.left_out))}
    last = _stored(now, DREAMT)
    if last is not None and after:
        known = {**last.after, **{n: data for n, data in after.items() if n in last.after}}
        after[DREAMT] = msgspec.json.encode(replace(last, after=known, since=(*last.since, *facts)))
    return after


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _waiting(now: Contents) -> Sequence[Fact]:
    try:
        return msgspec.json.decode(now.files.get(WAITING, b"[]"), type=list[Fact])
    except (msgspec.DecodeError, RecursionError):
        return ()


def _stored(now: Contents, name: str) -> Dreamt | None:
    try:
        return msgspec.json.decode(now.files[name], type=Dreamt)
    except (KeyError, msgspec.DecodeError, RecursionError):
        return None


def _without_topic(index: str, topic: str) -> bytes | None:
    gone = {line for line, name, _ in index_lines(index) if name == topic}
    kept = [line for line in index.splitlines(keepends=True) if line.rstrip() not in gone]
    return "".join(kept).encode() or None
