"""A run over the list: one feature, or one after the other until none is left.

A state machine over ports. What it comes to stands in the file before anything else happens, so
that whoever goes on after a crash begins where this one was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from gatewright.agent.autonomy.project.course import (
    IN_A_ROW,
    At,
    Outcome,
    Passed,
    Phase,
    after,
)
from gatewright.agent.autonomy.project.feature_prompts import first_prompt, repair_prompt
from gatewright.agent.autonomy.project.features import (
    Feature,
    FeatureList,
    ProjectError,
    noted,
)
from gatewright.agent.autonomy.project.project_file import ProjectFile
from gatewright.tools.blocks import Tone

How: TypeAlias = Literal["finished", "stopped", "paused", "limit", "error"]
REASON = 600  # characters of one in a note


class Ended(msgspec.Struct, frozen=True):
    how: How
    text: str


class RunOver(Exception):
    """Raised by a port: the run ends there, and what it was at goes on with the next one."""

    def __init__(self, how: How, text: str) -> None:
        super().__init__(text)
        self.ended = Ended(how, text)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the person asked for; zero is no limit."""

    auto: bool = False
    confirm: bool = False
    most: int = 0
    budget: float = 0.0


class ProjectPorts(msgspec.Struct, frozen=True, kw_only=True):
    """Any of them may raise RunOver or ProjectError."""

    file: ProjectFile
    begin: Callable[[FeatureList], Awaitable[None]]  # the branch is there, and the tree is clean
    work: Callable[[str], Awaitable[Outcome]]  # a turn of the model over this prompt
    check: Callable[[str], Awaitable[Outcome]]
    verify: Callable[[Feature], Awaitable[Outcome]]
    commit: Callable[[Feature], Awaitable[str]]
    clear: Callable[[], object]  # the model forgets what it was told
    confirm: Callable[[Feature], Awaitable[bool]]
    may: Callable[[], str]  # why no feature is begun any more
    tell: Callable[[str, Tone], object]


class ProjectRun:
    def __init__(self, ports: ProjectPorts, wanted: Wanted) -> None:
        self._ports, self._file, self.wanted = ports, ports.file, wanted
        self.at: Feature | None = None  # what is worked on
        self.phase: Phase = "work"
        self.done: list[str] = []
        self.blocked: list[str] = []
        self.ended: Ended | None = None

    async def go(self) -> Ended:
        """To its end, which is no error of ours. Cancelled, it leaves what it was at as begun."""
        try:
            ended = await self._all()
        except RunOver as over:
            ended = over.ended
        except ProjectError as error:
            ended = Ended("error", str(error))
        self.ended = ended
        return ended

    def state(self) -> str:
        """In a line, for who looks at it."""
        if self.at is None:
            return "begins"
        return f"{self.at.id}, {self.at.title}: {self.phase}"

    async def _all(self) -> Ended:
        ports, wanted, in_a_row, count = self._ports, self.wanted, 0, 0
        await ports.begin(self._file.read())
        while (feature := self._file.read().next) is not None:
            if wanted.auto and (ended := await self._before(feature, count)) is not None:
                return ended
            at = await self._one(feature)
            count, in_a_row = count + 1, in_a_row + 1 if at.phase == "blocked" else 0
            if not wanted.auto:
                return Ended("finished", self._summary())
            if in_a_row >= IN_A_ROW and self._file.read().next is not None:
                return Ended(
                    "paused",
                    f"{self._summary()} {IN_A_ROW} in a row are blocked: look at what is in the "
                    "way (/project list), then /project retry ID and /project auto.",
                )
        if not count:
            return Ended("finished", "Nothing of the list waits to be done.")
        return Ended("finished", f"{self._summary()} Nothing of the list is left.")

    async def _before(self, feature: Feature, count: int) -> Ended | None:
        """Why this one is not begun."""
        ports, wanted = self._ports, self.wanted
        if why := ports.may():
            return Ended("limit", f"{self._summary()} {why} {feature.id} is next.".lstrip())
        if wanted.most and count >= wanted.most:
            return Ended("finished", f"{self._summary()} {feature.id} is next.")
        if wanted.confirm and not await ports.confirm(feature):
            return Ended("stopped", f"{self._summary()} {feature.id} was not begun.".lstrip())
        if count:
            ports.clear()
        return None

    async def _one(self, feature: Feature) -> At:
        """From its beginning to done or blocked, and committed."""
        listed = self._file.put(replace(feature, state="doing"))
        self.at, at = feature, At()
        number = 1 + next(n for n, each in enumerate(listed.features) if each.id == feature.id)
        self._ports.tell(
            f"Feature {number} of {len(listed.features)}, {feature.id}: {feature.title}", "normal"
        )
        while not at.over:
            self.phase = at.phase
            outcome = await self._step(at, feature)
            now = self._file.read().find(feature.id)
            if now.state == "blocked" and at.phase == "work":  # the model says so itself
                at = At("blocked", at.repairs, "")
                break
            at = after(at, outcome, checks=bool(feature.check))
            if at.reason and not at.over:
                self._ports.tell(f"{feature.id}: {_short(at.reason)} It is repaired.", "warning")
        return await self._over(feature, at)

    async def _step(self, at: At, feature: Feature) -> Outcome:
        match at.phase:
            case "work":
                listed = self._file.read()
                now = listed.find(feature.id)
                if at.repairs:
                    return await self._ports.work(repair_prompt(now, at))
                return await self._ports.work(first_prompt(listed, now))
            case "check":
                return await self._ports.check(feature.check)
            case "verify":
                return await self._ports.verify(feature)
            case "done" | "blocked":
                return Passed()

    async def _over(self, feature: Feature, at: At) -> At:
        now = self._file.read().find(feature.id)
        note = noted(now.note, f"Blocked: {_short(at.reason)}") if at.reason else now.note
        made = replace(now, state="done" if at.phase == "done" else "blocked", note=note)
        self._file.put(made)
        (self.done if made.state == "done" else self.blocked).append(made.id)
        commit = await self._ports.commit(made)
        kept = f" ({commit})" if commit else ""
        if made.state == "done":
            self._ports.tell(f"Done: {made.id}, {made.title}{kept}", "good")
        else:
            why = _short(at.reason) or made.note[-REASON:] or "no reason was given."
            self._ports.tell(f"Blocked: {made.id}, {made.title}{kept}. {why}", "warning")
        self.at = None
        return at

    def _summary(self) -> str:
        parts = [f"{len(self.done)} done"] if self.done else []
        parts += (
            [f"{len(self.blocked)} blocked ({', '.join(self.blocked)})"] if self.blocked else []
        )
        return f"{', '.join(parts)}." if parts else ""


def _short(reason: str) -> str:
    text = " ".join(reason.split())
    return text if len(text) <= REASON else f"{text[:REASON]}…"
