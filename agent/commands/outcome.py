"""What a slash command leads to, as data: the session applies changes, front ends show the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gatewright.tools.blocks import Block, Text, Tone
from gatewright.tools.protocol import Content

if TYPE_CHECKING:
    from gatewright.agent.record.events import AnyEvent
    from gatewright.agent.settings.schema import Ui


class SetMode(msgspec.Struct, frozen=True, tag_field="kind", tag="mode"):
    """`then` is sent to the model in that mode."""

    mode: str
    then: str = ""


class SetModel(msgspec.Struct, frozen=True, tag_field="kind", tag="model"):
    model: str


class SetEffort(msgspec.Struct, frozen=True, tag_field="kind", tag="effort"):
    """`ultracode`: and the model decides by itself which tasks deserve a workflow."""

    effort: str
    ultracode: bool = False


class ClearHistory(msgspec.Struct, frozen=True, tag_field="kind", tag="clear"):
    pass


class SetUi(msgspec.Struct, frozen=True):
    """A setting of the screen has another value: it is taken up where there is one."""

    key: str
    ui: Ui


Operation: TypeAlias = SetMode | SetModel | SetEffort | ClearHistory | SetUi


class Say(msgspec.Struct, frozen=True):
    """Show something; nothing changes."""

    blocks: tuple[Block, ...]

    @classmethod
    def text(cls, text: str, tone: Tone = "normal") -> Say:
        return Say((Text(text, tone),))


class Problem(Say, frozen=True):
    """It could not be done, and why."""

    @classmethod
    def of(cls, text: str) -> Problem:
        return cls((Text(text, "warning"),))


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What a command brings for the turns it starts, until the person's next message.

    Also what an agent is started with, for as long as it lives. It is never restored on resume.
    `trusted`: whoever wrote it may loosen; all others only forbid and ask. `only` limits what may
    be called to the tools it names, whatever else allows others.
    """

    by: str  # the command, as people call it
    trusted: bool = False
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    kept_to: tuple[tuple[str, ...], ...] = ()  # further limits, of skills: each has to name it
    named: Mapping[str, str] = {}  # whose a rule is, for people
    agreed: tuple[str, ...] = ()  # rules that the person was shown and said yes to
    wide: tuple[str, ...] = ()  # what it would allow and may not, for people
    model: str = ""
    effort: str = ""
    attachments: tuple[Content, ...] = ()
    begin: Begin | None = None
    line: bool = False  # its message is the line as the person typed it


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a message that had to be made first: hidden ones that go before it.

    `refused` says why it is not sent; then nothing of the rest counts. `declined`: the person did
    not want it, and gets nothing back.
    """

    before: tuple[tuple[Content, ...], ...] = ()
    told: tuple[AnyEvent, ...] = ()  # published before those
    refused: str = ""
    declined: bool = False


# Called when the message is taken up, in its turn and within its scope: an interrupt ends it.
Begin: TypeAlias = Callable[[], Awaitable[Begun]]


class Submit(msgspec.Struct, frozen=True):
    """Send text to the model as if it had been typed."""

    text: str
    scope: Scope | None = None


class Choice(msgspec.Struct, frozen=True):
    """One row: `typed` is the line that does the same, for people who read or type it.

    In a table it has `cells`, and for those that are numbers these, by which it is sorted. `agent`
    is the path of one that can be looked into live.
    """

    id: str
    label: str
    detail: str = ""
    source: str = ""
    typed: str = ""
    cells: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    agent: str = ""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """Something to open; a front end that cannot open it shows the fallback."""

    fallback: Say


class Pick(Offer, frozen=True, kw_only=True):
    """One of several: `choose` gets its id. `back` leads to where one came from.

    `head` says what the columns of the rows are.
    """

    title: str
    choices: tuple[Choice, ...]
    choose: Callable[[str], Awaitable[Outcome]]
    about: tuple[str, ...] = ()
    head: Choice | None = None
    at: int = 0
    back: Callable[[], Awaitable[Outcome]] | None = None


class Act(msgspec.Struct, frozen=True):
    """A further key for a row: `run` gets the id of the row. A capital one is pressed twice.

    A letter only where there are columns: elsewhere letters search.
    """

    key: str
    label: str
    run: Callable[[str], Awaitable[Outcome]]


class Look(msgspec.Struct, frozen=True):
    """A key for a row that shows something else of it: `read` gets the id of the row."""

    key: str
    label: str
    read: Callable[[str], Awaitable[Sequence[Block]]]


class Listing(Offer, frozen=True, kw_only=True):
    """Rows to look into, as they are when asked; `tabs` part them by their source.

    With `columns` they are a table, in which letters are keys and `/` begins a search.
    """

    title: str
    rows: Callable[[], Sequence[Choice]]
    read: Callable[[str], Awaitable[Sequence[Block]]]
    tabs: tuple[str, ...] = ()
    acts: tuple[Act, ...] = ()
    looks: tuple[Look, ...] = ()  # of one without columns
    columns: tuple[str, ...] = ()
    follows: bool = False  # they change by themselves, and what is read grows at its end


class Page(Offer, frozen=True, kw_only=True):
    """Something to look at: where it can be opened it leaves nothing in the conversation."""

    title: str

    @classmethod
    def text(cls, title: str, text: str) -> Page:
        """A word to somebody who opened what is empty."""
        return cls(title=title, fallback=Say.text(text))


class Form(Offer, frozen=True, kw_only=True):
    """A text to edit; `take` gets it when it was changed."""

    text: str
    take: Callable[[str], Awaitable[Outcome]]


class Draft(Offer, frozen=True, kw_only=True):
    """A line for the prompt, to be ended by the person; nothing is sent."""

    text: str


class Secret(Offer, frozen=True, kw_only=True):
    """Ask for something that is shown and kept nowhere; `take` gets it.

    `told` is said before it is asked for once more.
    """

    title: str
    about: tuple[str, ...]
    take: Callable[[str], Awaitable[Outcome]]
    told: tuple[Block, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """`said` is told before what the change itself says."""

    operation: Operation
    said: tuple[Block, ...] = ()


class Quit(msgspec.Struct, frozen=True):
    pass


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """Leave this session for another one: a stored one, a copy of one, or without a path a new one.

    Given only to a front end that can do it. `said` is told there; mode, model and effort are those
    of the session that is left, `rules` what was denied there, or had to ask, by behavior and text.
    `other`: the copy is of another session than the one that is left, and has what that one had.
    `attach` is the id of one in the background, to be looked at; of the one that is looked at, it
    begins anew.
    """

    path: str = ""
    copy: bool = False
    title: str = ""  # what the other one is called from now on
    said: str = ""
    mode: str = ""
    model: str = ""
    effort: str = ""
    rules: tuple[tuple[str, str], ...] = ()
    other: bool = False
    attach: str = ""

    @property
    def carries(self) -> bool:
        """Whether mode, model and effort go along: a stored session has its own."""
        return (self.copy and not self.other) or not self.path


Outcome: TypeAlias = Say | Submit | Offer | Change | Quit | Switch


def said(outcome: Outcome) -> tuple[Block, ...]:
    """What a front end that opens nothing shows."""
    match outcome:
        case Say(blocks=blocks) | Offer(fallback=Say(blocks=blocks)) | Change(said=blocks):
            return blocks
        case _:
            return ()
