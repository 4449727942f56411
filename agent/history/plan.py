"""What going back would do to the files: worked out from events, before anything is touched."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.history.shadow import Change
from gatewright.agent.record.events import AnyEvent, FileSaved, FilesRestored, Rewound, TreeSaved
from gatewright.agent.record.events_of_past import FileState
from gatewright.tools.system.regular import NotRegular, open_regular


class Target(msgspec.Struct, frozen=True):
    """How a file shall be. `data` None: it did not exist; `ours` that we made it: it may go."""

    path: Path
    data: bytes | None
    mode: int
    ours: bool = False
    left: str = ""
    lines: tuple[str, ...] = ()  # the person's own since then: they stay


class Step(msgspec.Struct, frozen=True):
    """What happens to one file, with the lines that come and go."""

    target: Target
    kind: str  # change, create, delete, leave
    added: int = 0
    removed: int = 0
    why: str = ""


class Sources(msgspec.Struct, frozen=True):
    """Where bytes and differences come from; each may raise OSError."""

    root: Path
    blob: Callable[[str], bytes | None]
    changes: Callable[[str, str], Sequence[Change]]
    object: Callable[[str], bytes]


def targets(  # noqa: C901  one case each
    events: Iterable[AnyEvent], sources: Sources
) -> list[Target]:
    """How each recorded file was before these events, the earliest record counting."""
    found: dict[Path, Target] = {}
    before, undone = "", False
    own: dict[Path, tuple[str, ...]] = {}
    for event in events:
        match event:
            case FileSaved(state=state, line=line) if line:
                path = Path(state.path)
                own[path] = (*own.get(path, ()), line)
                continue
            case FileSaved(state=state):
                _add(found, _kept(state, sources))
            case Rewound():
                undone = True
                continue
            case FilesRestored() if undone:
                pass  # of the branch that was left: with what it had changed it comes to nothing
            case FilesRestored(files=files):
                for state in files:
                    _add(found, _kept(state, sources))
            case TreeSaved(tree=tree, after=False):
                before = before or tree
            case TreeSaved(tree=tree, after=True) if before:
                for change in sources.changes(before, tree):
                    _add(found, _shadowed(change, sources))
                before = ""
            case _:
                pass
        undone = False
    return [
        msgspec.structs.replace(target, lines=own.get(target.path, ())) for target in found.values()
    ]


def _add(found: dict[Path, Target], target: Target) -> None:
    """A file that a tool of ours made is ours, also where a snapshot only saw it appear."""
    known = found.setdefault(target.path, target)
    if known.data is None and target.data is None and target.ours and not known.left:
        found[target.path] = target


def _kept(state: FileState, sources: Sources) -> Target:
    path = Path(state.path)
    if state.left:
        return Target(path, None, 0, left=state.left)
    if not state.hash:
        return Target(path, None, 0, ours=True)
    data = sources.blob(state.hash)
    return Target(path, data, state.mode, left="" if data is not None else "no longer kept")


def _shadowed(change: Change, sources: Sources) -> Target:
    path = sources.root / change.path
    if not change.old:
        return Target(path, None, 0)
    try:
        return Target(path, sources.object(change.old), change.old_mode)
    except OSError:
        return Target(path, None, 0, left="no longer kept")


def steps(wanted: Iterable[Target]) -> list[Step]:
    """What would happen right now; files that are as they should be are not in it."""
    return [step for target in wanted if (step := _step(target)) is not None]


def _step(target: Target) -> Step | None:
    try:
        now = _now(target)
    except OSError as error:
        return Step(target, "leave", why=error.strerror or str(error))
    data = target.data
    if now is None:
        return None if data is None else Step(target, "create", added=_lines(data))
    old, mode = now
    if target.lines and (data is not None or target.ours):
        data = _with_lines(target, old)
        target = msgspec.structs.replace(target, data=data, mode=target.mode or mode)
    if data is None:
        if target.ours:
            return Step(target, "delete", removed=_lines(old))
        return Step(target, "leave", why="made since then, perhaps not by us")
    if old == data and mode == target.mode:
        return None
    return Step(target, "change", *_counts(old, data))


def _with_lines(target: Target, now: bytes) -> bytes | None:
    """The bytes with those of the person's lines that are still there."""
    data, there = target.data or b"", now.splitlines()
    for line in target.lines:
        text = line.encode()
        if text in there and text not in data.splitlines():
            data += (b"" if not data or data.endswith(b"\n") else b"\n") + text + b"\n"
    return data or target.data


def _now(target: Target) -> tuple[bytes, int] | None:
    """Bytes and permissions, None where there is nothing. Raises OSError saying what is wrong."""
    path = target.path
    if target.left:
        raise OSError(target.left)
    if path.resolve() != path:
        raise OSError("a link leads elsewhere now")
    try:
        with open_regular(path, follow=False) as file:
            return file.read(), os.fstat(file.fileno()).st_mode & 0o7777
    except FileNotFoundError:
        return None
    except NotRegular as error:
        raise OSError("no regular file now") from error


def _counts(old: bytes, new: bytes) -> tuple[int, int]:
    """Lines that come and go, their order aside: exact enough for a preview, at any size."""
    had, has = Counter(old.splitlines()), Counter(new.splitlines())
    return (has - had).total(), (had - has).total()


def _lines(data: bytes) -> int:
    return len(data.splitlines())
