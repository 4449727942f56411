"""All skills and command files of a session: looked for at each question, read when they changed.

Of two with one name the first place counts; the other keeps its qualified name. A file that is
broken now keeps what it said before, as long as the session lasts.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from gatewright.skills.bundled import bundled
from gatewright.skills.model import Show, Skill, SkillError
from gatewright.skills.naming import Skills, joined
from gatewright.skills.places import BUILT_IN, Ground, Place, places_of
from gatewright.skills.walking import NOTHING, Candidate, Filed, Looked, look

BODIES = 4 * 1024 * 1024  # characters of texts that are kept in case a file breaks


class Kept(Protocol):
    """What an earlier session saw of a place."""

    def load(self, folder: str) -> Looked: ...
    def save(self, folder: str, looked: Looked) -> None: ...


class Choices(msgspec.Struct, frozen=True):
    """What settings and rules say. `denied` is asked for a skill's names."""

    disabled: frozenset[str] = frozenset()
    overrides: Mapping[str, Show] = {}
    denied: Callable[[str], bool] = lambda name: name == ""


class SkillBook:
    """Everything it asks for is asked anew at each question; it may be asked from any thread."""

    def __init__(
        self,
        ground: Callable[[], Ground],
        choices: Callable[[], Choices] = Choices,
        kept: Kept | None = None,
    ) -> None:
        self._ground, self._choices, self._kept = ground, choices, kept
        self._lock = threading.RLock()
        self._looked: dict[Place, Looked] = {}
        self._made: tuple[object, Skills] | None = None
        self._nested: tuple[str, ...] = ()
        self._where: tuple[object, Sequence[Place]] | None = None  # for which ground
        self._passed: set[str] = set()  # directories that were looked at for nested places
        self._awake: set[Path] = set()  # files with `paths` that were met
        self._bodies: OrderedDict[str, str] = OrderedDict()
        self._tops: dict[str, str] = {}  # where places lead, during one look

    def begin(self) -> None:
        """Look now, in a thread, so that the first question need not wait."""
        threading.Thread(target=self.now, name="skills", daemon=True).start()

    def now(self) -> Skills:
        """As the files are at this moment: a stat each where nothing changed."""
        with self._lock:
            places = self._places(self._ground())
            self._tops.clear()
            looks = {place: self._look(place) for place in places}
            key = tuple((place, id(looked)) for place, looked in looks.items())
            self._looked = looks
            if self._made is None or self._made[0] != key:
                self._made = (key, joined(looks))
            return self._made[1]

    def _places(self, ground: Ground) -> Sequence[Place]:
        """The same while nothing of the ground changed, nor where a link in it leads."""
        roots = (ground.root, *(plugin.root for plugin in ground.plugins))
        key = (ground, self._nested, tuple(map(os.path.realpath, roots)))
        if self._where is None or self._where[0] != key:
            self._where = (key, tuple(places_of(ground, self._nested)))
        return self._where[1]

    def last(self) -> Skills:
        """As they were when somebody looked last."""
        with self._lock:
            return self._made[1] if self._made is not None else self.now()

    def reload(self, *, nested: bool = False) -> Skills:
        """Read all files again; with `nested` all directories below cwd count as well."""
        with self._lock:
            if nested:
                self._nested = tuple(dict.fromkeys((*self._nested, *self._below())))
            self._looked = {
                place: msgspec.structs.replace(looked, folders={}, files=_aged(looked.files))
                for place, looked in self._looked.items()
                if place.folder != str(BUILT_IN)
            }
            return self.now()

    def _below(self) -> tuple[str, ...]:
        from gatewright.skills.nesting import nested_below  # noqa: PLC0415  lazy

        ground = self._ground()
        return nested_below(ground.cwd, ground.root)

    def touched(self, path: Path) -> bool:
        """A file was read or changed: whether that brings skills that were not listed before."""
        from gatewright.skills.nesting import nested_above  # noqa: PLC0415  lazy

        with self._lock:
            ground = self._ground()
            new = nested_above(path, ground.cwd, self._passed)
            self._nested = tuple(dict.fromkeys((*self._nested, *new)))
            before = len(self._awake)
            for skill in self.now().every if new else self.last().every:
                if skill.said.paths and skill.file not in self._awake and _about(skill, path):
                    self._awake.add(skill.file)
            return bool(new) or len(self._awake) > before

    def listed(self, now: Skills | None = None) -> tuple[Skill, ...]:
        """Those that the model may be told of: invocable by it, not off, their files met.

        Of a look that somebody had already, where there is one.
        """
        now, choices = self.now() if now is None else now, self._choices()
        return tuple(skill for skill in now.every if self._listable(now, skill, choices))

    def show(self, skill: Skill) -> Show:
        return _show(skill, self._choices())

    def shows(self, skills: Sequence[Skill]) -> Sequence[Show]:
        """Of many at once."""
        choices = self._choices()
        return [_show(skill, choices) for skill in skills]

    def refusal(self, name: str, *, typed: bool = False) -> str:
        """Why nothing of that name is invoked; empty where it may be."""
        skill = self.now().find(name)
        if skill is None:
            return f"There is no skill {name[:80]!r}.{self._near(name)}"
        choices = self._choices()
        show = _show(skill, choices)
        if show == "off":
            return f"The skill {skill.name} is off. Only the person turns it on, with /skills."
        if typed and not skill.said.user_invocable:
            return f"/{skill.name} is for the model: ask for what it does in your own words."
        if typed:
            return ""
        if not skill.said.model_invocable or show == "user-invocable-only":
            return (
                f"Only the person starts {skill.name}, by typing /{skill.name}. Do not do what it "
                "says by other means: tell them that they can."
            )
        if _denied(skill, choices):
            return f"A rule denies Skill({skill.name})."
        return ""

    def _near(self, name: str) -> str:
        from difflib import get_close_matches  # noqa: PLC0415  lazy: 3 ms, for a name of none

        now = self.last()
        names = [called for skill in now.every if (called := now.called(skill))]
        near = get_close_matches(name[:80].lower(), names, n=1)
        return f" Did you mean {near[0]}?" if near else ""

    def text(self, skill: Skill) -> str:
        """What it says behind its front matter; the last good text of a broken file.

        Raises SkillError.
        """
        from gatewright.skills.reading import read_file  # noqa: PLC0415  lazy: 3 ms

        within = partial(self._within, self._place(skill), str(skill.file))
        read = read_file(skill.file, skill.name, skill.form, within)
        if read.said is not None:
            with self._lock:
                self._keep(str(skill.file), read.body)
            return read.body
        with self._lock:
            if (body := self._bodies.get(str(skill.file))) is not None:
                return body
        raise SkillError(f"{skill.file}: {read.diagnostics[-1].text}.")

    def _listable(self, now: Skills, skill: Skill, choices: Choices) -> bool:
        said = skill.said
        return (
            said.model_invocable
            and (said.described or skill.form == "skill")
            and now.listable(skill)
            and (not said.paths or skill.file in self._awake)
            and _show(skill, choices) in ("on", "name-only")
            and not _denied(skill, choices)
        )

    def _place(self, skill: Skill) -> Place | None:
        with self._lock:
            file = str(skill.file)
            return next((at for at, looked in self._looked.items() if file in looked.files), None)

    def _look(self, place: Place) -> Looked:
        """What an untrusted project has is kept nowhere; what is built in is data."""
        if place.folder == str(BUILT_IN):
            return self._looked.get(place) or bundled()
        kept = self._kept if place.trusted else None
        before = self._looked.get(place)
        first = before is None
        if before is None:
            before = kept.load(place.folder) if kept is not None else NOTHING
        now = look(place, before, self._first if first else self._again)
        if kept is not None and now is not before:
            kept.save(place.folder, now)
        return now

    def _first(self, place: Place, found: Candidate, before: Filed | None) -> Filed:
        del before
        return self._read(place, found)[0]

    def _again(self, place: Place, found: Candidate, before: Filed | None) -> Filed:
        """During a session: what was good before stays, and its text is kept."""
        filed, body = self._read(place, found)
        if filed.said is not None:
            self._keep(found.path, body)
        elif before is not None and before.said is not None:
            return msgspec.structs.replace(filed, name=before.name, said=before.said, held=True)
        return filed

    def _read(self, place: Place, found: Candidate) -> tuple[Filed, str]:
        from gatewright.skills.reading import read_file  # noqa: PLC0415  lazy: 3 ms, on a change

        within = partial(self._within, place, found.path)
        read = read_file(Path(found.path), found.name, place.form, within)
        return Filed(found.mark, read.name, read.said, read.diagnostics, read.size), read.body

    def _within(self, place: Place | None, file: str) -> Iterator[str]:
        """Where a SKILL.md may lead: its place, what the place may not leave, its directory."""
        from gatewright.tools.system.exact import real_path  # noqa: PLC0415  on a read

        if place is not None:
            if place.folder not in self._tops:
                self._tops[place.folder] = real_path(place.folder)
            yield self._tops[place.folder]
            if place.inside:
                yield place.inside
        yield real_path(file.rpartition("/")[0])

    def _keep(self, file: str, body: str) -> None:
        self._bodies[file] = body
        self._bodies.move_to_end(file)
        while sum(map(len, self._bodies.values())) > BODIES:
            self._bodies.popitem(last=False)


def _about(skill: Skill, path: Path) -> bool:
    from gatewright.skills.globs import about  # noqa: PLC0415  for those alone that say `paths`

    return path.is_relative_to(skill.base) and about(skill.said.paths, path.relative_to(skill.base))


def _aged(files: Mapping[str, Filed]) -> dict[str, Filed]:
    """As if they had changed."""
    return {
        path: msgspec.structs.replace(filed, mark=(0, 0, 0, 0)) for path, filed in files.items()
    }


def _show(skill: Skill, choices: Choices) -> Show:
    if not choices.disabled and not choices.overrides:
        return "on"
    names = (skill.qualified, skill.name)
    if any(name in choices.disabled for name in names):
        return "off"
    for name in names:
        if name in choices.overrides:
            return choices.overrides[name]
    return "on"


def _denied(skill: Skill, choices: Choices) -> bool:
    return choices.denied(skill.name) or choices.denied(skill.qualified)
