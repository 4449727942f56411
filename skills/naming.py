"""Which name leads to which skill, and what became of those whose name another one has.

A skill of a plugin and the last part of a command's path are names only while they are unique.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gatewright.skills.model import Diagnostic, Said, Skill
from gatewright.skills.places import Place
from gatewright.skills.walking import Filed, Looked

COMMAND = "command"
DIAGNOSTICS = 1_000
# Of a skill nobody trusts: what would act.
ACTING: Mapping[str, str] = {
    "allowed_tools": "allowed-tools", "hooks": "hooks", "model": "model", "effort": "effort",
}  # fmt: skip
_NOTHING = Said()


class Shadowed(msgspec.Struct, frozen=True):
    """One whose short name leads to another; `name` is what it is called by, if anything."""

    skill: Skill
    by: Skill
    name: str


class Skills(msgspec.Struct, frozen=True):
    """What was found at one moment, in the order in which a name counts."""

    every: tuple[Skill, ...] = ()  # those that some name leads to
    diagnostics: tuple[Diagnostic, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    names: Mapping[str, Skill] = {}  # folded

    def find(self, name: str) -> Skill | None:
        """By the short name, or the qualified one."""
        folded = name.strip().casefold()
        if (found := self.names.get(folded)) is not None:
            return found
        whose, _, short = folded.partition(":")
        same = (skill for skill in self.every if skill.name.casefold() == short)
        return next((skill for skill in same if skill.origin == whose), None)

    def called(self, skill: Skill) -> str:
        """The shortest name that leads to it."""
        if self.names.get(skill.name.casefold()) is skill:
            return skill.name
        return next((name for name in names_of(skill) if self._leads(name, skill)), "")

    def others(self, skill: Skill) -> tuple[Skill, ...]:
        """Those of the same name, that only a longer one leads to."""
        return tuple(each for each in self.every if each.name == skill.name and each != skill)

    def listable(self, skill: Skill) -> bool:
        """A project's that the person's own has the name of is for who asks for it by name."""
        own = skill.nested or skill.origin == "plugin"
        return bool(own) or self._leads(skill.name, skill)

    def _leads(self, name: str, skill: Skill) -> bool:
        found = self.names.get(name.casefold())
        return found is skill or found == skill


def names_of(skill: Skill) -> Iterator[str]:
    """The short one first."""
    yield skill.name
    yield skill.qualified
    if skill.form == "command":
        yield f"{COMMAND}:{skill.name}"


def joined(looks: Mapping[Place, Looked]) -> Skills:
    every: list[Skill] = []
    told: list[Diagnostic] = []
    seen: set[str] = set()
    for place, looked in looks.items():
        told += looked.diagnostics
        top = os.path.realpath(place.folder) if looked.files else ""
        base = Path(place.base)
        linked = {f"{at}/{name}" for at, each in looked.folders.items() for name in each.links}
        for path, filed in looked.files.items():
            real = _real(place, path, top, linked)
            if real in seen:  # one directory under two names is one skill
                continue
            seen.add(real)
            told += _held(filed)
            if filed.said is not None:
                every.append(_skill(place, base, Path(path), filed))
    return _named(every, told)


def _real(place: Place, path: str, top: str, linked: set[str]) -> str:
    """Where the skill's directory really is; that costs system calls only behind a link."""
    at = path
    while linked and len(at) > len(place.folder) and at not in linked:
        at = at.rpartition("/")[0]
    if at not in linked:
        return top + path[len(place.folder) :]
    if place.form == "command":
        return os.path.realpath(path)
    own, _, name = path.rpartition("/")
    return f"{os.path.realpath(own)}/{name}"


def _held(filed: Filed) -> tuple[Diagnostic, ...]:
    if not filed.held:
        return filed.diagnostics
    kept = (
        msgspec.structs.replace(
            each, fatal=False, text=f"{each.text}; what it said before still counts"
        )
        if each.fatal
        else each
        for each in filed.diagnostics
    )
    return tuple(kept)


def _skill(place: Place, base: Path, file: Path, filed: Filed) -> Skill:
    said, withheld = filed.said or _NOTHING, tuple[str, ...]()
    if not place.trusted:
        said, withheld = _tamed(said)
    return Skill(
        name=filed.name,
        form=place.form,
        origin=place.origin,
        whose=place.whose,
        file=file,
        folder=file.parent,
        said=said,
        trusted=place.trusted,
        nested=place.nested,
        base=base,
        withheld=withheld,
        size=filed.size,
    )


def _tamed(said: Said) -> tuple[Said, tuple[str, ...]]:
    """Without what acts by itself, or loosens anything; that it says so stays known."""
    values = {field: (msgspec.structs.asdict(said)[field], key) for field, key in ACTING.items()}
    nothing = msgspec.structs.asdict(_NOTHING)
    withheld = {field: key for field, (value, key) in values.items() if value}
    if not withheld:
        return said, ()
    without = {field: nothing[field] for field in withheld}
    return msgspec.structs.replace(said, **without), tuple(withheld.values())


def _named(every: list[Skill], told: list[Diagnostic]) -> Skills:
    counts = Counter(skill.name.casefold() for skill in every if skill.origin != "built-in")
    names: dict[str, Skill] = {}
    for skill in every:
        if skill.origin != "plugin" or counts[skill.name.casefold()] == 1:
            names.setdefault(skill.name.casefold(), skill)
    for skill in every:
        for name in names_of(skill):
            if name != skill.name:
                names.setdefault(name.casefold(), skill)
    lasts = Counter(_last(skill) for skill in every if ":" in skill.name)
    for skill in every:
        if ":" in skill.name and lasts[_last(skill)] == 1:
            names.setdefault(_last(skill), skill)
    found = Skills(names=names)
    called = {id(skill): found.called(skill) for skill in every}
    shadowed = tuple(
        Shadowed(skill, by, called[id(skill)])
        for skill in every
        if (by := names.get(skill.name.casefold())) is not None and by is not skill
    )
    kept = tuple(skill for skill in every if called[id(skill)])
    return Skills(kept, tuple(told[:DIAGNOSTICS]), shadowed, names)


def _last(skill: Skill) -> str:
    return skill.name.rpartition(":")[2].casefold()
