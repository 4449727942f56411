"""All kinds of agents of a session: read at the first question, and again what changed since.

Of two with one name the first place counts; what an untrusted project says comes after all else.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from gatewright.agent.agents.definitions.builtin import builtin_kinds
from gatewright.agent.agents.definitions.found import Found
from gatewright.agent.agents.definitions.places import Ground, Place, Seen, files_of, places_of
from gatewright.agent.agents.kind import AgentKind
from gatewright.agent.text.printable import escaped

if TYPE_CHECKING:
    from gatewright.agent.agents.definitions.misnamed import Unknown

NAMED = 30  # kinds of an answer that lists them


def not_here(kind: AgentKind) -> str:
    """Whoever starts no programs has no agents that are some."""
    del kind
    return "its turns run in another program (acp), and none is started here"


class Shadowed(msgspec.Struct, frozen=True):
    """One that does not count, and why."""

    kind: AgentKind
    why: str


class Kinds(msgspec.Struct, frozen=True):
    """What was found at one moment."""

    by_name: Mapping[str, AgentKind] = {}  # folded
    shadowed: tuple[Shadowed, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def find(self, name: str) -> AgentKind | None:
        return self.by_name.get(name.strip().casefold())


class KindBook:
    """Implements `AgentKinds`. Everything it asks for is asked anew at each question."""

    def __init__(
        self,
        ground: Callable[[], Ground],
        *,
        given: Callable[[], Sequence[Found]] = tuple,
        disabled: Callable[[], frozenset[str]] = frozenset,
        denied: Callable[[str], bool] = lambda name: name == "",
        elsewhere: Callable[[AgentKind], str] = not_here,
        unknown: Unknown = lambda name: "" if name else "A name is missing.",
    ) -> None:
        self._ground, self._given = ground, given
        self._disabled, self._denied, self._unknown = disabled, denied, unknown
        self._elsewhere = elsewhere  # why those that are other programs cannot be started
        self._lock = threading.Lock()
        self._read: dict[Seen, Found | None] = {}
        self._made: tuple[object, Kinds] | None = None
        self._where: tuple[object, Sequence[Place]] | None = None  # for which ground

    def find(self, name: str) -> AgentKind | None:
        kind = self.now().find(name)
        return kind if kind is not None and not self._taken_away(kind) else None

    def offered(self) -> Sequence[AgentKind]:
        kinds = sorted(self.now().by_name.values(), key=lambda kind: kind.name)
        return tuple(kind for kind in kinds if not (self._taken_away(kind) or kind.withheld))

    def problems(self) -> Sequence[str]:
        return self.now().problems

    def last_problems(self) -> Sequence[str]:
        """As they were when somebody looked last."""
        return self._made[1].problems if self._made is not None else self.problems()

    def refusal(self, name: str) -> str:
        """Why nothing of that name is started; empty where it may be."""
        kind = self.now().find(name)
        if kind is None:
            names = [each.name for each in self.offered()]
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            there = f"{', '.join(names[:NAMED])}{more}" if names else "none"
            return f"There is no type of agent {escaped(name)[:80]!r}. There are: {there}."
        if away := self._taken_away(kind):
            return f"The type of agent {kind.name} is not available: {away}."
        if kind.withheld:
            said = ", ".join(kind.withheld)
            return (
                f"{kind.name} ({kind.path}) has {said}, which counts once the person trusts this "
                "project: agent trust add."
            )
        return ""

    def now(self) -> Kinds:
        """As the files are at this moment."""
        with self._lock:
            ground = self._ground()
            given = tuple(self._given())
            seen = _once(each for place in self._places(ground) for each in files_of(place))
            key = (tuple(seen), given)
            if self._made is None or self._made[0] != key:
                self._read = {each: self._found(each) for each in seen}
                self._made = (key, self._spelt(_joined(seen, self._read, given)))
            return self._made[1]

    def _places(self, ground: Ground) -> Sequence[Place]:
        """The same while nothing of the ground changed, nor where a link in it leads."""
        roots = (ground.where.root, *(root for _, root in ground.roots))
        key = (ground, tuple(map(os.path.realpath, roots)))
        if self._where is None or self._where[0] != key:
            self._where = (key, tuple(places_of(ground)))
        return self._where[1]

    def _spelt(self, kinds: Kinds) -> Kinds:
        """With what those that count name and nothing has."""
        from gatewright.agent.agents.definitions.misnamed import misnamed  # noqa: PLC0415  lazy

        unknown = cache(self._unknown)  # most name the same few
        wrong = (misnamed(kind, unknown, kinds.by_name) for kind in kinds.by_name.values())
        told = tuple(escaped(each) for each in chain.from_iterable(wrong))
        return msgspec.structs.replace(kinds, problems=(*kinds.problems, *told))

    def _found(self, seen: Seen) -> Found | None:
        from gatewright.agent.agents.definitions.reading import read_file  # noqa: PLC0415  lazy: 1 ms, on a read

        if seen in self._read:
            return self._read[seen]
        return read_file(seen.path, seen.place.standing)

    def _taken_away(self, kind: AgentKind) -> str:
        if kind.name.casefold() in self._disabled():
            return "agents.disabled names it"
        if kind.acp is not None and (why := self._elsewhere(kind)):
            return why
        return f"a rule denies Agent({kind.name})" if self._denied(kind.name) else ""


def _once(found: Iterable[Seen]) -> list[Seen]:
    """One file under two names, as a link has it, is one definition."""
    first: dict[tuple[int, int, int, int], Seen] = {}
    for each in found:
        first.setdefault(each.mark, each)
    return list(first.values())


def _joined(
    seen: Sequence[Seen], read: Mapping[Seen, Found | None], given: Sequence[Found]
) -> Kinds:
    joining = _Joining()
    for origin in (True, False):
        for each in seen:
            if (each.place.standing.origin == "managed") is origin and each.place.standing.trusted:
                joining.take(read[each], each)
        if origin:
            joining.all(given)
    joining.all(Found("built in", kind) for kind in builtin_kinds())
    for each in seen:
        if not each.place.standing.trusted:
            joining.take(read[each], each)
    return joining.done()


class _Joining:
    def __init__(self) -> None:
        self._kinds: dict[str, AgentKind] = {}
        self._folders: dict[tuple[str, str], str] = {}  # where a name stood first in a place
        self._shadowed: list[Shadowed] = []
        self._problems: list[str] = []
        self._notes: list[str] = []

    def all(self, found: Iterable[Found]) -> None:
        for each in found:
            self.take(each)

    def take(self, found: Found | None, seen: Seen | None = None) -> None:
        if found is None:
            return
        self._problems += found.problems
        self._notes += found.notes
        if found.kind is None:
            return
        kind, name = found.kind, found.kind.name.casefold()
        if seen is not None:
            first = self._folders.setdefault((str(seen.place.folder), name), found.source)
            if first != found.source:
                told = f"{found.source}: {kind.name} is defined in {first} already: give it another"
                self._problems.append(escaped(f"{told} name."))
        before = self._kinds.get(name)
        if before is None:
            self._kinds[name] = kind
            return
        if not kind.trusted:
            why = f"the {before.origin} one counts as long as the project is not trusted"
            self._problems.append(
                escaped(f"{found.source}: {kind.name} is also a {before.origin} agent, and {why}.")
            )
        else:
            why = f"the {before.origin} one comes first"
        self._shadowed.append(Shadowed(kind, why))

    def done(self) -> Kinds:
        return Kinds(self._kinds, tuple(self._shadowed), tuple(self._problems), tuple(self._notes))
