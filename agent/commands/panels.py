"""Panels that a screen draws from live data, and the rows they are made of.

A front end without such a panel shows the fallback.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

import msgspec

from gatewright.agent.commands.outcome import Offer, Outcome

if TYPE_CHECKING:
    from gatewright.agent.commands.rules.rule_editor import PermissionBook
    from gatewright.agent.workflows.runs.views import RunBook as RunBook
    from gatewright.agent.workflows.runs.views import RunView as RunView

Undo: TypeAlias = Callable[[], Awaitable[str]]
OptionKind: TypeAlias = Literal["switch", "choice", "number", "text", "list"]


class RuleRow(msgspec.Struct, frozen=True):
    """`mark` says in a word what is wrong, `about` in a sentence what the rule does or why not.

    `fixed` says why it cannot be changed here; empty where it can. `here`: it stands in the
    person's own file, but counts in this project alone.
    """

    behavior: str
    text: str
    source: str
    mark: str
    about: str
    place: str
    fixed: str = ""
    here: bool = False


class FolderRow(msgspec.Struct, frozen=True):
    """`text` is the directory as it was written, `path` where that leads."""

    path: str
    text: str
    source: str
    place: str
    fixed: str = ""


class Proposal(msgspec.Struct, frozen=True):
    """What is being typed: whether it can be added, and what to know. `doubt`: only on purpose."""

    valid: bool
    text: str
    hints: tuple[str, ...] = ()
    doubt: str = ""


class Done(msgspec.Struct, frozen=True):
    """What was done, and what takes it back."""

    text: str
    undo: Undo | None = None


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One setting that can be changed in place; `value` is JSON."""

    key: str
    help: str
    kind: OptionKind
    choices: tuple[str, ...] = ()
    belongs: str = ""
    value: str = ""
    source: str = ""
    own: bool = False  # the person's own file has a value
    fixed: str = ""


class Health(enum.StrEnum):
    GOOD = "ok"
    WARN = "!!"
    BAD = "XX"


class Finding(msgspec.Struct, frozen=True):
    """`advice` is what to do; empty when nothing is wrong."""

    name: str
    health: Health
    fact: str
    advice: str = ""


class Check(msgspec.Struct, frozen=True):
    """One check of the machine; it may take seconds and runs off the event loop."""

    name: str
    run: Callable[[], Iterable[Finding]]


class LivePanel(Offer, frozen=True, kw_only=True):
    """`needs` says to who cannot open it why, and what does the same."""

    needs: ClassVar[str]


class RulesPanel(LivePanel, frozen=True, kw_only=True):
    needs = (
        "To change rules in a list, the screen must run where the session does. From here it is "
        "/permissions allow, ask, deny or remove RULE."
    )
    book: PermissionBook
    tab: str = ""


class ConfigBook(Protocol):
    """The settings that a form can change. What is told is a sentence."""

    def options(self) -> Sequence[Option]: ...
    async def problem_of(self, key: str, text: str) -> str:
        """Why a text is no value of a setting; empty where it is one."""
        ...

    async def set(self, key: str, text: str) -> str:
        """Raises GatewrightError."""
        ...

    async def unset(self, key: str) -> str: ...


class ConfigPanel(LivePanel, frozen=True, kw_only=True):
    """`choices` are values of single settings that only the session knows, with what they mean.

    `taken_up` says what a change means for the session at hand.
    """

    needs = (
        "To change settings in a list, the screen must run where the session does. From here it is "
        "/config KEY VALUE."
    )
    book: ConfigBook
    taken_up: Callable[[str], Awaitable[Outcome]]
    choices: Mapping[str, Sequence[tuple[str, str]]] = {}


class Keeping(Protocol):
    """Keeps the script of a run as a saved workflow."""

    def place(self, run: str, where: str) -> str:
        """The file it would be, `where` is project or user; empty: nothing to be kept."""
        ...

    async def save(self, run: str, where: str, *, replace: bool) -> str:
        """What was done. Raises GatewrightError, also where there is one that is not replaced."""
        ...


class WorkflowsPanel(LivePanel, frozen=True, kw_only=True):
    """`past` are the runs of other sessions, `first` is the one that is looked into at once."""

    needs = (
        "To look into runs as they go, the screen must run where the session does. From here it is "
        "/workflows ID, /workflows stop ID and /workflows resume ID."
    )
    book: RunBook
    keeping: Keeping
    past: tuple[RunView, ...] = ()
    first: str = ""


class DoctorPanel(LivePanel, frozen=True, kw_only=True):
    needs = "These are the checks of the machine where the session runs."
    checks: Sequence[Check]
