"""One call on its way through the gate: what the gate is given, what it needs, how it may end."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gatewright.permissions.decision import DecisionRecord
from gatewright.permissions.machine.world import (
    Dirty,
    Keeps,
    Lookup,
    git_dirty,
    git_keeps,
    lookup_host,
)
from gatewright.permissions.sandbox.port import CLOSED, Opening
from gatewright.tools.access import MAIN, Access, Effect, Where
from gatewright.tools.calls import Facts, Foreseen, Prepared
from gatewright.tools.protocol import Asker, ToolCall, ToolResult

if TYPE_CHECKING:  # loaded with the first command; nobody listens in most sessions
    from gatewright.permissions.sandbox.commands import CommandSandbox
    from gatewright.tools.classify import Classify
    from gatewright.tools.moments import Moments, Verdict

# Keeps what the call is about to change; True: uncommitted work is about to be thrown away.
Saving: TypeAlias = Callable[[Access, bool], Awaitable[None]]
# Keeps an "always"; the word is empty, or says for where else.
Persist: TypeAlias = Callable[[tuple[str, ...], str], Awaitable[None]]


# What the call would change as things are now, or why it cannot succeed.
Foresee: TypeAlias = Callable[[], Awaitable[Foreseen]]


async def _nothing_foreseen() -> Foreseen:
    return Foreseen()


async def _no_barrier(agent: str) -> None:
    del agent


def _main_first(agent: str) -> bool:
    return agent == MAIN


def _nobody_minds(agent: str, waiting: bool) -> None:
    del agent, waiting


def _unsaid(agent: str, paths: tuple[Path, ...]) -> None:
    del agent, paths


async def _save_nothing(access: Access, losing: bool) -> None:
    del access, losing


def _ignore(_: object) -> None:
    return None


class GatePorts(msgspec.Struct, frozen=True):
    """What the gate needs from its surroundings. Only `record` is always wanted."""

    record: Callable[[DecisionRecord], None] = _ignore
    barrier: Callable[[str], Awaitable[None]] = _no_barrier  # what that agent said is kept
    saving: Saving = _save_nothing
    clock: Callable[[], float] = time.monotonic
    persist: Persist | None = None
    place: str = "this session"  # where an "always" is stored, as the prompt names it
    classify: Callable[[], Classify | None] = lambda: None  # in a person's place, in some modes
    mode_changed: Callable[[str], None] = _ignore
    lookup: Lookup = lookup_host
    dirty: Dirty = git_dirty
    keeps: Keeps = git_keeps
    sandbox: CommandSandbox | None = None
    wrote: Callable[[str, tuple[Path, ...]], object] = _unsaid  # which agent changed what
    urgent: Callable[[str], bool] = _main_first  # whether the person waits for that agent
    waits: Callable[[str, bool], object] = _nobody_minds  # an agent waits for an answer, or has it


class Passed(msgspec.Struct, frozen=True):
    """The call may run, with exactly this input; a person may have opened files to it."""

    call: ToolCall
    opening: Opening = CLOSED
    stood_in: bool = False  # somebody answered in a person's place
    narrowed: bool = False  # by us, and to nothing but less


class Refused(msgspec.Struct, frozen=True):
    """The call does not run; `ends_turn` when a person said a plain no."""

    message: str
    ends_turn: bool = False
    stopped: str = ""  # a hook ended the turn, and why
    told: bool = False  # the person wrote something: that text is the result
    barred: str = ""  # the turn ends as a failure, and why
    shown: str = ""  # what people read of it
    plain: bool = False  # nothing is told but what who said no knows


class Hopeless(msgspec.Struct, frozen=True):
    """The call could not succeed, so nobody was asked."""

    result: ToolResult


Outcome: TypeAlias = Passed | Refused | Hopeless


class Request(msgspec.Struct, frozen=True):
    """One call on its way through the gate."""

    prepared: Prepared
    where: Where
    ask: Asker
    agent: str = MAIN
    moments: Moments | None = None
    heard: Verdict | None = None  # what those who listen said when it was prepared
    stood_in: bool = False  # its input is of somebody who answered in a person's place
    narrowed: bool = False  # its input is ours, and what was allowed would do more
    rewritten: str = ""  # what it was before somebody else rewrote it, in a sentence
    stood: Callable[[float], None] = _ignore  # hears how long it took until it was put
    foreseen: Foresee = _nothing_foreseen  # asked only when a person is
    real: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])  # where its paths lead

    def said(self, word: str) -> str:
        """The text that came with this word; empty for another one."""
        return self.heard.text if self.heard is not None and self.heard.word == word else ""

    @property
    def answered(self) -> bool:
        """Whether the question that it is to the person was answered in their place."""
        heard, asks = self.heard, Effect.HUMAN in self.facts.access.effects
        return asks and heard is not None and heard.answers and heard.word == "allow"

    def was(self, what: str) -> str:
        """For the prompt and the record of the call that `what` made of this one."""
        facts = self.facts
        return f"{what} rewrote the call, which was: {facts.verb} {facts.target}".rstrip() + "."

    @property
    def call(self) -> ToolCall:
        return self.prepared.call

    @property
    def facts(self) -> Facts:
        return self.prepared.facts
