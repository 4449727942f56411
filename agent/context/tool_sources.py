"""The tools of a session: which can be called, which are offered, and what is said of the others.

What is offered is decided at a model's first request and stays byte for byte until a clear or
delegate mode: a tool that comes later can be called all the same, and the model is told so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from gatewright.agent.context.announcements import Announcement
from gatewright.agent.record.events import AnyEvent, Cleared, ModeChanged
from gatewright.tools.abilities import Deferring, Finding, Growing, Sized
from gatewright.tools.protocol import Tool, ToolSource, ToolSpec

SUBJECT = "tools"
LISTED = 4_000  # characters of their names: less than a hundredth of most windows
GROUPS = 200  # that are named where the names are too many
FOUND = "ToolSearch shows what they take, and CallTool calls one."
ALONE = "delegate"  # the mode in which the main agent is offered other tools


def _nothing(name: str) -> bool:
    """No tool is refused whatever it is asked."""
    return name == ""


def _everything(name: str) -> bool:
    return bool(name)


class _Able:
    """Which sources can do more than others: to look whether one can is slow."""

    def __init__(self, sources: Sequence[ToolSource]) -> None:
        self.sized = [each for each in sources if isinstance(each, Sized)]
        self.growing = [each for each in sources if isinstance(each, Growing)]
        self.finding = [each for each in sources if isinstance(each, Finding)]
        self.deferring = [each for each in sources if isinstance(each, Deferring)]


class ToolSources:
    """One source made of several: who comes first has the name. It is what the gate runs from."""

    def __init__(
        self,
        sources: Sequence[ToolSource],
        denied: Callable[[str], bool] = _nothing,
        coordinates: Callable[[str], bool] = _nothing,
    ) -> None:
        self._sources = list(sources)
        self._able: _Able | None = None
        self._coordinates = coordinates  # what a main agent has that only coordinates
        self._denied = denied  # refused whatever it is asked: not worth a word
        self._offered: dict[tuple[str, bool], tuple[ToolSpec, ...]] = {}
        self._mode = ""
        self.thawed: Callable[[], object] = tuple  # the array is to be made anew
        self.main_has: Callable[[str], bool] = _everything  # what the main agent may call

    def add(self, *sources: ToolSource) -> None:
        """Further ones; all that were there before come before them."""
        self._sources += sources
        self._able = None

    @property
    def _these(self) -> _Able:
        if self._able is None:
            self._able = _Able(self._sources)
        return self._able

    def find(self, name: str) -> Tool[Any] | None:
        """May import the tool's module: call it off the event loop the first time."""
        for source in self._sources:
            if (tool := source.find(name)) is not None:
                return tool
        return None

    def specs(self, *, short: bool = False, window: int = 0) -> Sequence[ToolSpec]:
        """All that can be called, in the order of the sources; 0 is a window of the usual size."""
        return self._of(self._sources, short=short, window=window)

    def _of(
        self, sources: Sequence[ToolSource], *, short: bool = False, window: int = 0
    ) -> Sequence[ToolSpec]:
        found: dict[str, ToolSpec] = {}
        sized = {id(source): source.sized for source in self._these.sized} if window else {}
        for source in sources:
            if (fitting := sized.get(id(source))) is not None:
                specs = fitting(window, short=short)
            else:
                specs = source.specs(short=short)
            for spec in specs:
                found.setdefault(spec.name, spec)
        return [spec for name, spec in found.items() if not self._denied(name)]

    def offered(
        self, *, model: str = "", short: bool = False, window: int = 0
    ) -> tuple[ToolSpec, ...]:
        """The array of a model's requests, as it was first made; sorted by name.

        Of a main agent that only coordinates it is what coordinating takes.
        """
        if (known := self._offered.get((model, short))) is not None:
            return known
        every = self.for_agents(short=short, window=window)
        made = tuple(spec for spec in every if self._mains(spec))
        self._offered[model, short] = made
        return made

    def for_agents(self, *, short: bool = False, window: int = 0) -> tuple[ToolSpec, ...]:
        """What agents that others start choose from: as it would be offered in any other mode."""
        put_off = self._put_off()
        every = self.specs(short=short, window=window)
        specs = [spec for spec in every if spec.name not in put_off]
        return tuple(sorted(specs, key=lambda spec: spec.name))

    def beside(self) -> Sequence[ToolSpec]:
        """What can be called though not every array that was made has it."""
        arrays = [{spec.name for spec in array} for array in self._offered.values()]
        if not arrays:  # everything is in the first one but what its source puts off
            put_off = self._put_off()
            late = self._of(self._these.deferring) if put_off else ()
            return [spec for spec in late if spec.name in put_off and self._mains(spec)]
        specs = [spec for spec in self.specs() if self._mains(spec)]
        everywhere = set[str].intersection(*arrays)
        return [spec for spec in specs if spec.name not in everywhere]

    def announced(self) -> Announcement:
        """The names of those tools, for the model."""
        beside = sorted(spec.name for spec in self.beside())
        if not beside:
            return Announcement(SUBJECT, "")
        names = ", ".join(beside)
        text = "besides the tools of this request these can be called, by their name"
        way = f" {FOUND}" if self.searched else ""
        if len(names) > LISTED:
            names = _counted(beside)
            text = "besides the tools of this request these many can be called"
            way = f" {FOUND} A group's name as the query lists it." if self.searched else ""
        return Announcement(SUBJECT, f"Notice of this program: {text}: {names}.{way}")

    @property
    def searched(self) -> bool:
        """Whether there is, or may come, what is found by searching."""
        return any(each.grows() for each in self._these.growing) or bool(self._put_off())

    async def settled(self) -> None:
        """Wait, not for long, for tools that are on their way."""
        for source in self._these.growing:
            await source.settled()

    def found(self, query: str, most: int) -> Sequence[str]:
        """What sources know besides tools, such as skills."""
        asked = self._these.finding
        return [line for source in asked for line in source.found(query, most)][:most]

    def saw(self, event: AnyEvent) -> None:
        """Of the main agent: when the array may change, since the prompt begins anew anyway."""
        match event:
            case Cleared():
                self._offered.clear()
            case ModeChanged(mode=mode):
                before, self._mode = self._mode, mode
                if before != mode and ALONE in (before, mode):
                    self._offered.clear()
                    self.thawed()
            case _:
                pass

    def _mains(self, spec: ToolSpec) -> bool:
        """Whether the main agent may call it: as its kind says, and its mode."""
        return self.main_has(spec.name) and (self._mode != ALONE or self._coordinates(spec.name))

    def _put_off(self) -> set[str]:
        """What its source wants to be found and called, and not offered."""
        return {name for source in self._these.deferring for name in source.deferred()}


def _counted(names: Sequence[str]) -> str:
    """How many there are of each group: of a server's, what stands before the tool's own name."""
    groups = Counter(name.rpartition("__")[0] or name for name in names)
    told = [f"{group} ({count})" for group, count in list(groups.items())[:GROUPS]]
    more = len(groups) - GROUPS
    return ", ".join([*told, *([f"{more} more groups"] if more > 0 else [])])
