"""What one command may do, as plain data: computed here, translated by the platform modules.

Pure: the facts about the disk come in as a `Survey`; nothing here looks at the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.permissions.paths import inside
from gatewright.permissions.sandbox.limits import Limits

Reach: TypeAlias = Literal["none", "proxy", "open"]
Kind: TypeAlias = Literal["dir", "file"]


class Network(msgspec.Struct, frozen=True):
    """`none` has only a loopback of its own, `proxy` reaches allowed domains, `open` everything."""

    reach: Reach = "none"
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    private: bool = False  # addresses of this machine and its networks, by name or number
    local_binding: bool = False
    unix_sockets: tuple[str, ...] = ()  # paths; "*" is every one that is not masked


class Wishes(msgspec.Struct, frozen=True):
    """What the person's settings and this call's decision ask for; paths are absolute and real."""

    cwd: str
    home: str
    roots: tuple[str, ...]  # trusted directories: writable but for what is protected
    temp: str = ""  # TMPDIR inside; empty: the private /tmp
    extra: tuple[str, ...] = ()  # writable as they are: caches
    seen: tuple[str, ...] = ()  # stay visible where others are hidden: home, programs
    windows: tuple[str, ...] = ()  # stay readable in what is masked
    network: Network = Network()
    limits: Limits = msgspec.field(default_factory=Limits)


class Wider(msgspec.Struct, frozen=True):
    """What one run may do that others may not; `env` is its own, secret or not.

    In a work tree it may do less: of what lies around it nothing is writable. What is `apart` may
    write in that tree, if it has one, and in directories of its own, and nowhere in the project.
    """

    writes: tuple[str, ...] = ()
    tree: str = ""
    apart: bool = False
    network: Network | None = None  # in place of that of all others
    env: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class Masked(msgspec.Struct, frozen=True):
    """Something that must not be read."""

    path: str
    kind: Kind


class Survey(msgspec.Struct, frozen=True):
    """What was found on disk; every path real."""

    protected: tuple[str, ...] = ()  # exist: stay readable, never change
    masked: tuple[Masked, ...] = ()
    git_writes: tuple[str, ...] = ()  # parts of a repository that lies outside the roots


class SandboxProfile(msgspec.Struct, frozen=True):
    """The whole promise for one command."""

    cwd: str
    home: str
    writable: tuple[str, ...]
    seen: tuple[str, ...]
    temp: str
    anchors: tuple[str, ...]  # directories above what is covered: may change, may not move
    protected: tuple[str, ...]
    masked: tuple[Masked, ...]
    network: Network
    limits: Limits
    windows: tuple[str, ...] = ()

    def opened(self, reads: frozenset[str], writes: frozenset[str]) -> SandboxProfile:
        """With these files to be read, or to be changed: what opens the one is not the other."""
        shown = frozenset(mask.path for mask in self.masked if mask.path in reads)
        stays = [path for path in self.protected if path not in writes]
        stays.extend(p for p in shown - writes if any(inside(p, root) for root in self.writable))
        return replace(
            self,
            protected=_outermost(stays),
            masked=tuple(mask for mask in self.masked if mask.path not in shown),
        )

    def within(self, root: str, git: tuple[str, ...], kept: tuple[str, ...]) -> SandboxProfile:
        """For a work tree that lies in what is writable: of that it alone, and what git needs."""
        others = [path for path in self.writable if not inside(root, path)]
        writable = _outermost((*others, root, *git))
        protected = (p for p in (*self.protected, *kept) if any(inside(p, w) for w in writable))
        anchors = (p for p in self.anchors if any(p != w and inside(p, w) for w in writable))
        return replace(
            self,
            writable=writable,
            protected=_outermost(protected),
            anchors=tuple(anchors),
        )

    def only(self, writable: Iterable[str]) -> SandboxProfile:
        """With nothing else to write in; what could be written stays to be seen."""
        places = _outermost(filter(None, writable))
        inner = (p for p in self.protected if any(inside(p, place) for place in places))
        anchors = (p for p in self.anchors if any(p != w and inside(p, w) for w in places))
        return replace(
            self,
            writable=places,
            seen=_outermost((*self.seen, *self.writable)),
            protected=_outermost(inner),
            anchors=tuple(anchors),
        )

    def without_covers(self) -> SandboxProfile:
        """As it holds where nothing can be mounted over a file in a writable directory."""
        masked = (m for m in self.masked if not any(inside(m.path, r) for r in self.writable))
        return replace(self, protected=(), masked=tuple(masked))


def sandboxed(wishes: Wishes, survey: Survey) -> SandboxProfile:
    """The profile for a command. Restrictions found on disk always beat what is writable."""
    writable = _outermost((*wishes.roots, *wishes.extra, *survey.git_writes))
    if wishes.temp and not any(inside(wishes.temp, root) for root in writable):
        writable = (*writable, wishes.temp)
    named = {*wishes.roots, *wishes.extra, wishes.temp}
    guarded = _outermost(path for path in survey.protected if path not in named)
    guarded = tuple(path for path in guarded if any(inside(path, root) for root in writable))
    masked = tuple(sorted(survey.masked, key=lambda mask: mask.path))
    anchors = {
        above
        for path in (*guarded, *(mask.path for mask in masked))
        for root in writable
        if path != root and inside(path, root)
        for above in _between(path, root)
    }
    return SandboxProfile(
        cwd=wishes.cwd,
        home=wishes.home,
        writable=writable,
        seen=_outermost(wishes.seen),
        temp=wishes.temp,
        anchors=tuple(sorted(anchors)),
        protected=guarded,
        masked=masked,
        network=wishes.network,
        limits=wishes.limits,
        windows=_outermost(wishes.windows),
    )


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Without duplicates and without what lies below another one; shallow ones first."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda path: (path.count("/"), path)):
        if not any(inside(path, above) for above in kept):
            kept.append(path)
    return tuple(kept)


def _between(path: str, root: str) -> Iterator[str]:
    """The directories strictly between `root` and `path`."""
    above = path.rpartition("/")[0]
    while len(above) > len(root):
        yield above
        above = above.rpartition("/")[0]
