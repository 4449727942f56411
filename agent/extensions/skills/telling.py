"""What the model is told of skills: a list in its first words, and later whatever came or went.

The list stays as it was first told, byte for byte, until a clear. What others wrote in it is one
line each, and no part of it acts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gatewright.agent.agents.inert_text import in_line
from gatewright.agent.context.announcements import Announcement
from gatewright.agent.extensions.skills.uses import Uses
from gatewright.agent.record.events import (
    AnyEvent,
    Cleared,
    Compacted,
    Rewound,
    Snipped,
    ToolFinished,
    ToolStarted,
)
from gatewright.agent.record.session_state import PATHS
from gatewright.skills.book import SkillBook
from gatewright.skills.model import Skill
from gatewright.skills.naming import Skills
from gatewright.skills.shown.listing import LONGEST, Entry, Listing, listed
from gatewright.tools.counted import counted
from gatewright.tools.protocol import Tool, ToolSpec
from gatewright.tools.system.exact import real_path

SUBJECT = "skills"
RUNNING = 200  # calls whose files are remembered
NAMED = 100  # of what is gone
HEAD = "# Skills\n\nWhen a task fits one of these, call Skill with its name before you begin.\n\n"


_Seen = tuple[Skill, str, str]  # with its name and what is said of it


class _Made(NamedTuple):
    seen: Sequence[_Seen]
    room: int
    listing: Listing


class SkillTelling:
    """`room` is what the list may take in bytes; `cwd` is where relative paths start.

    `tell` says at once what a file that was met brings: the turn that met it is about that file.
    """

    def __init__(
        self,
        book: SkillBook,
        uses: Uses,
        *,
        room: Callable[[], int],
        cwd: Callable[[], Path],
        warn: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        self._book, self.uses, self._room, self._cwd = book, uses, room, cwd
        self._warn, self._tell = warn, tell
        self._at_once: str = ""  # what was said within a turn
        self._announced: str = ""  # and with a message
        self._listed: Mapping[str, str] = {}  # what a list that was made says, by name
        self._first: Mapping[str, str] | None = None  # the same of the one in the prompt
        self._missing: int | None = None  # skills that the list has no room for
        self._running: dict[str, Path] = {}
        self._known: dict[int, tuple[Skill, str]] = {}  # what is said of each, by the object's id
        self._ready: _Made | None = None  # a list that was made before the prompt was
        self._told = False

    def section(self) -> str:
        """For the system prompt; empty where there is nothing to tell."""
        made = self._made(self._book.now())
        self._ready = None
        self._first = self._listed
        self._missing = made.missing
        self._count()
        return f"{HEAD}{made.text}\n" if made.text else ""

    def for_agent(self, room: int) -> str:
        """The list as it is now, for an agent that begins: what it is told stays as it is."""
        now = self._book.now()
        skills = self._book.listed(now)
        entries = [
            self._entry(skill, now.called(skill), described(skill) if show == "on" else "")
            for skill, show in zip(skills, self._book.shows(skills), strict=True)
        ]
        text = listed(entries, room - len(HEAD)).text
        return f"{HEAD}{text}\n" if text else ""

    def words(self) -> Announcement:
        """What is other than the prompt says, for a message, but for what was said at once."""
        text = self._other()
        if text != self._at_once:
            self._announced, self._at_once = text, ""
        return Announcement(SUBJECT, self._announced)

    def _other(self) -> str:
        """Nothing before there is a prompt."""
        if self._first is None:
            return ""
        now = self._view(self._book.now())
        self._count()
        new = [self._entry(*each) for each in now if self._first.get(each[1]) != each[2]]
        gone = sorted(self._first.keys() - {name for _, name, _ in now})
        return _changes(new, gone, self._room) if new or gone else ""

    def saw(self, event: AnyEvent) -> None:
        """Of the main agent: which files it works on, and when its prompt begins anew."""
        match event:
            case ToolStarted(call_id=call_id, input=input):
                name = next((str(input[key]) for key in PATHS if key in input), "")
                if name and len(self._running) < RUNNING:
                    self._running[call_id] = Path(real_path(self._cwd() / name))
            case ToolFinished(call_id=call_id, ok=ok):
                path = self._running.pop(call_id, None)
                if path is not None and ok and self._book.touched(path):
                    self._met()
            case Cleared():
                self._first = self._missing = None
                self._at_once = self._announced = ""
            case Compacted() | Rewound() | Snipped():
                self._at_once = self._announced = ""  # what was said may be gone
            case _:
                pass

    def _met(self) -> None:
        text = self._other()
        if text and text not in (self._at_once, self._announced):
            self._at_once = text
            self._tell(text)

    # a source of tools that has none: ToolSearch asks it

    def specs(self, *, short: bool = False) -> Sequence[ToolSpec]:
        del short
        return ()

    def find(self, name: str) -> Tool[object] | None:
        del name
        return None

    def grows(self) -> bool:
        """Whether there are skills that the model is not told of by name."""
        if self._missing is None:
            self._missing = self._made(self._book.last()).missing
        return self._missing > 0

    async def settled(self) -> None:
        return None

    def found(self, query: str, most: int) -> Sequence[str]:
        from gatewright.skills.shown.finding import found  # noqa: PLC0415  lazy

        now = self._book.now()
        fitting = found(self._book.listed(now), query)[:most]
        return [f"Skill({now.called(each)}): {described(each)}" for each in fitting]

    def _made(self, now: Skills) -> Listing:
        seen, room = self._view(now), self._room() - len(HEAD)
        self._listed = {name: text for _, name, text in seen}
        ready = self._ready
        if ready is None or (ready.seen, ready.room) != (seen, room):
            ready = _Made(seen, room, listed([self._entry(*each) for each in seen], room))
            self._ready = ready
        return ready.listing

    def _view(self, now: Skills) -> Sequence[_Seen]:
        """Each with its name and what is said of it, as of a look."""
        skills = self._book.listed(now)
        self._known = {id(skill): self._described(skill) for skill in skills}
        return [
            (skill, now.called(skill), self._known[id(skill)][1] if show == "on" else "")
            for skill, show in zip(skills, self._book.shows(skills), strict=True)
        ]

    def _described(self, skill: Skill) -> tuple[Skill, str]:
        before = self._known.get(id(skill))
        return before if before is not None and before[0] is skill else (skill, described(skill))

    def _entry(self, skill: Skill, name: str, text: str) -> Entry:
        ours = skill.origin == "built-in"
        return Entry(name=name, text=text, rank=self.uses.rank(skill.qualified), whole=ours)

    def _count(self) -> None:
        """Once: how many files of skills cannot be used."""
        bad = [each for each in self._book.last().diagnostics if each.fatal]
        if bad and not self._told:
            self._told = True
            first = bad[0]
            at = f"{first.file}:{first.line}" if first.line else str(first.file)
            count = counted(len(bad), "file")
            told = f"{count} of skills cannot be used; /skills lists them. {at}: {first.text}."
            self._warn(in_line(told))


def described(skill: Skill) -> str:
    """In one line, with what of it the model has to know."""
    said = skill.said
    text = in_line(f"{said.description} {said.when_to_use}"[: LONGEST * 2])
    text = f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text
    about = f" (for {in_line(skill.nested)})" if skill.nested else ""
    whose = "" if skill.trusted else " (of this project, which is not trusted)"
    return f"{text}{about}{whose}".strip()


def _changes(new: Sequence[Entry], gone: Sequence[str], room: Callable[[], int]) -> str:
    told: list[str] = []
    if new:
        made = listed(new, room())
        told.append(f"These skills can be invoked now as well, with Skill:\n{made.text}")
    if gone:
        told.append(f"These skills are gone: {', '.join(gone[:NAMED])}.")
    return "Notice of this program: " + "\n".join(told)
