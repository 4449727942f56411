"""The skills that a session started here would have, without a session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gatewright.agent.errors import GatewrightError
from gatewright.agent.extensions.skills.session_skills import USES, book_of
from gatewright.agent.extensions.skills.skill_rows import SkillRow, facts_of, rows_of, sentence
from gatewright.agent.extensions.skills.telling import described
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.agent.record.clock import SystemClock
from gatewright.agent.subcommands.questions.started_here import started_here
from gatewright.skills.model import Skill, SkillError
from gatewright.skills.places import HOMES, SKILL, SKILLS
from gatewright.skills.strict.verdict import checked
from gatewright.tools.counted import counted

MOST = 2_000  # skills that are validated at once


class ListedSkill(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    source: str
    state: str
    form: str
    path: Path
    description: str
    listed: int  # tokens
    uses: int


class Hidden(msgspec.Struct, frozen=True):
    """One whose name another has; `name` is what leads to it, if anything does."""

    path: Path
    by: str
    name: str


class Wrong(msgspec.Struct, frozen=True):
    text: str
    fatal: bool


class Verdict(msgspec.Struct, frozen=True):
    name: str
    path: Path
    errors: tuple[str, ...]
    warnings: tuple[str, ...]


class SkillsHere:
    def __init__(self) -> None:
        started = started_here()
        self.book = book_of(lambda: started.around, started.denied)
        uses = Uses(started.around.places.state / USES, SystemClock().time)
        self._rows = rows_of(self.book, uses)

    def rows(self) -> Sequence[ListedSkill]:
        return [_listed(row) for row in self._rows]

    def shadowed(self) -> Sequence[Hidden]:
        now = self.book.last()
        return [
            Hidden(each.skill.file, now.called(each.by) or each.by.name, each.name)
            for each in now.shadowed
        ]

    def problems(self) -> Sequence[Wrong]:
        return [Wrong(sentence(each), each.fatal) for each in self.book.last().diagnostics]

    def standing(self) -> tuple[str, Sequence[str], str]:
        """How many there are, which files cannot be used, how much there is to say of others."""
        problems = self.problems()
        bad = [each.text for each in problems if each.fatal]
        notes = len(problems) - len(bad)
        return counted(len(self._rows), "skill"), bad, counted(notes, "note") if notes else ""

    def find(self, name: str) -> tuple[ListedSkill, str]:
        """One, and its text. Raises GatewrightError."""
        row = self._row(name)
        try:
            return _listed(row), self.book.text(row.skill)
        except SkillError as error:
            raise GatewrightError(str(error)) from error

    def facts(self, name: str) -> Iterator[tuple[str, str]]:
        now = self.book.last()
        return facts_of(self._row(name), now, now.called)

    def _row(self, name: str) -> SkillRow:
        skill: Skill | None = self.book.last().find(name.removeprefix("/"))
        found = next((row for row in self._rows if row.skill == skill), None)
        if found is None:
            raise GatewrightError(self.book.refusal(name))
        return found


def _listed(row: SkillRow) -> ListedSkill:
    return ListedSkill(
        name=row.called,
        source=row.source,
        state=row.state,
        form=row.skill.form,
        path=row.skill.file,
        description=described(row.skill),
        listed=row.listed,
        uses=row.uses,
    )


def validated(folders: Sequence[Path]) -> Sequence[Verdict]:
    """Of each directory, of those in it, or of a skill by its name; without any of all that are
    found here.

    Raises GatewrightError.
    """
    found: list[Path] = []
    for folder in folders:
        found += _skills_in(folder) if folder.is_dir() else (_called(folder),)
    if not folders:
        now = SkillsHere().book.last()
        hidden = (each.skill for each in now.shadowed)
        known = [skill.folder for skill in (*now.every, *hidden) if skill.form == "skill"]
        bad = [each.file.parent for each in now.diagnostics if each.file.name == SKILL]
        found = list(dict.fromkeys((*known, *bad)))
    return [_verdict(folder) for folder in found[:MOST]]


def _called(path: Path) -> Path:
    """The directory of a skill that its file or its name stands for. Raises GatewrightError."""
    if path.name == SKILL and path.is_file():
        return path.parent
    if len(path.parts) > 1:
        raise GatewrightError(f"{path} is no directory.")
    book = SkillsHere().book
    skill = book.last().find(path.name)
    if skill is None:
        raise GatewrightError(f"{path} is no directory. {book.refusal(path.name)}")
    if skill.form != "skill":
        raise GatewrightError(f"{path} is a command file, and no skill by the format.")
    return skill.folder


def _skills_in(folder: Path) -> Sequence[Path]:
    """The directory itself, those in it, or those in the places that it has as a project."""
    if (folder / SKILL).exists():
        return (folder,)
    places = (folder, folder / SKILLS, *(folder / home / SKILLS for home in HOMES))
    files = (file for place in places for file in sorted(place.glob(f"*/{SKILL}")))
    inside = list(dict.fromkeys(file.parent for file in files))
    return inside or (folder,)


def _verdict(folder: Path) -> Verdict:
    found = checked(folder)
    errors = tuple(sentence(each) for each in found.errors)
    return Verdict(found.name, folder, errors, tuple(sentence(each) for each in found.warnings))
