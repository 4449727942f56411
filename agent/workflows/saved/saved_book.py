"""The saved workflows as they are at a moment: whose name counts, which are broken, what one says.

A look costs a stat a file; a script is read again only when it changed, and runs by nothing here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.text.printable import escaped
from gatewright.agent.workflows.saved.bundled import bundled
from gatewright.agent.workflows.saved.script_places import Ground, Origin, Seen, files_of, places_of
from gatewright.agent.workflows.script.checked import Checked, Meta
from gatewright.tools.system.patterns import later
from gatewright.tools.system.regular import read_regular

MAX_BYTES = 512_000
NAMED = 20  # workflows of an answer that lists them
KIND = "workflow"
NAME = later(r"[a-z0-9-]{1,40}")
UNREAD = "not read: the project is not trusted"


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """One script. `called` is what leads to it: its name, or a longer one where that is taken.

    A broken one has a `problem` in place of what it says of itself, and its file's name; that is
    also all that is known of one that nobody trusts.
    """

    name: str
    called: str
    description: str
    path: Path
    source: Origin
    trusted: bool = True
    plugin: str = ""
    meta: Meta | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()  # tools that its agents may use without asking, once it is begun

    @property
    def qualified(self) -> str:
        return f"{self.plugin}:{self.name}" if self.plugin else f"{self.source}:{self.name}"

    @property
    def names(self) -> frozenset[str]:
        """All that may mean it."""
        short = (self.name, self.qualified)
        return frozenset((self.called, *short, *(f"{KIND}:{each}" for each in short)))


class Shelf(msgspec.Struct, frozen=True):
    """What was found at one moment, in the order in which a name counts."""

    every: tuple[Saved, ...] = ()  # broken ones are not among them
    broken: tuple[Saved, ...] = ()
    names: Mapping[str, Saved] = {}  # folded

    def find(self, name: str) -> Saved | None:
        return self.names.get(name.strip().removeprefix("/").casefold())

    def problems(self) -> Sequence[str]:
        return [each.problem for each in self.broken]


class SavedBook:
    """Everything it asks for is asked anew at each question; it may be asked in a thread."""

    def __init__(
        self,
        ground: Callable[[], Ground],
        *,
        off: Callable[[], bool] = lambda: False,
        check: Callable[[str], Checked] | None = None,
    ) -> None:
        self._ground, self._off = ground, off
        self._check = check or _check
        self._lock = threading.Lock()
        self._read: dict[Seen, Saved] = {}
        self._made: tuple[tuple[Seen, ...], Shelf] | None = None

    def shelf(self) -> Shelf:
        """As the files are at this moment; nothing where workflows are off."""
        if self._off():
            return Shelf()
        with self._lock:
            found: dict[tuple[int, int, int, int], Seen] = {}
            for place in places_of(self._ground()):
                for each in files_of(place):  # one file under two names, as a link has it, is one
                    found.setdefault(each.mark, each)
            seen = tuple(found.values())
            if self._made is None or self._made[0] != seen:
                self._read = {each: self._read.get(each) or self._found(each) for each in seen}
                self._made = seen, shelved([*self._read.values(), *_built_in()])
            return self._made[1]

    def last(self) -> Shelf:
        """As they were when somebody looked last."""
        with self._lock:
            made = self._made
        return made[1] if made is not None and not self._off() else self.shelf()

    def now(self) -> tuple[Saved, ...]:
        return self.shelf().every

    def find(self, name: str) -> Saved | None:
        return self.shelf().find(name)

    def refusal(self, name: str) -> str:
        """Why nothing of that name is run; empty where it may be."""
        shelf = self.shelf()
        saved = shelf.find(name)
        if saved is None:
            said = name.strip().removeprefix("/")
            broken = next((each for each in shelf.broken if each.name == said), None)
            if broken is not None:
                return f"The workflow {said} cannot be run. {broken.problem}"
            names = [each.called for each in shelf.every if each.trusted]
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            there = f"{', '.join(names[:NAMED])}{more}" if names else "none"
            return f"There is no workflow {escaped(said)[:80]!r}. There are: {there}."
        if not saved.trusted:
            return (
                f"{saved.called} ({saved.path}) is this project's, which is not trusted: it is "
                "listed and not run. `agent trust add` trusts the project."
            )
        return ""

    def script(self, saved: Saved) -> Checked:
        """What it says at this moment, checked. Raises GatewrightError, ScriptProblem."""
        return self._check(text_of(saved.path))

    def _found(self, seen: Seen) -> Saved:
        place, path = seen.place, seen.path
        blank = Saved(
            name=path.stem,
            called="",
            description="",
            path=path,
            source=place.origin,
            trusted=place.trusted,
            plugin=place.plugin,
        )
        if not place.trusted:  # to parse what a stranger wrote may take a second
            wrong = "" if NAME.fullmatch(path.stem) else f"{path} has no name that can be typed."
            return msgspec.structs.replace(blank, description=UNREAD, problem=escaped(wrong))
        try:
            checked = self._check(text_of(path))
        except GatewrightError as error:
            return msgspec.structs.replace(blank, problem=escaped(f"{path}: {error}"))
        meta = checked.meta
        return msgspec.structs.replace(
            blank,
            name=meta.name,
            description=meta.description,
            meta=meta,
            warnings=tuple(escaped(f"{path}: {each}") for each in checked.warnings),
        )


def text_of(path: Path) -> str:
    """A script as it stands in a file. Raises GatewrightError."""
    try:
        return read_regular(path, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise GatewrightError(f"It is no UTF-8 text, from byte {error.start} on.") from error
    except OSError as error:
        raise GatewrightError(f"It cannot be read: {error.strerror or error}.") from error


def _built_in() -> Sequence[Saved]:
    """Before what nobody trusts, as `shelved` has it."""
    return [
        Saved(
            name=each.meta.name,
            called="",
            description=each.meta.description,
            path=each.path,
            source="builtin",
            meta=each.meta,
            allows=each.allows,
        )
        for each in bundled()
    ]


def shelved(found: Sequence[Saved]) -> Shelf:
    """With the names that lead to them: of two the first has the short one."""
    good = [each for each in found if not each.problem]
    broken = [each for each in found if each.problem]
    good.sort(key=lambda each: not each.trusted)
    names: dict[str, Saved] = {}
    every: list[Saved] = []
    for each in good:
        choices = [each.name, f"{KIND}:{each.name}", f"{KIND}:{each.qualified}"]
        if each.plugin:
            choices = [each.qualified, f"{KIND}:{each.qualified}"]
        called = next((name for name in choices if name.casefold() not in names), "")
        if not called:  # twice in one place: the first counts
            told = f"{each.path}: {each.name} is also in another file of the same place, which"
            problem = escaped(f"{told} counts: give this one another name.")
            broken.append(msgspec.structs.replace(each, problem=problem))
            continue
        saved = msgspec.structs.replace(each, called=called)
        names[called.casefold()] = saved
        every.append(saved)
    for saved in every:  # longer names lead to it too, as far as nobody needs them
        for name in (f"{KIND}:{saved.name}", saved.qualified, f"{KIND}:{saved.qualified}"):
            names.setdefault(name.casefold(), saved)
    return Shelf(tuple(every), tuple(broken), names)


def _check(source: str) -> Checked:
    from gatewright.agent.workflows.script.check import check  # noqa: PLC0415  lazy: with a parser

    return check(source)
