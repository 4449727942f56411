"""The lines by which a session is shown from another process, beside those of the public dialect.

What comes from the session are these structs, what is asked of it are control requests whose
subtype begins with `session_`. Fields are added with defaults; what is not known is left out.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from gatewright.agent.client.port import SessionClient, Taken
from gatewright.agent.commands.outcome import (
    ClearHistory,
    SetEffort,
    SetMode,
    SetModel,
)
from gatewright.agent.commands.registry import Command
from gatewright.agent.record.codec import encode as encode_event
from gatewright.agent.record.events import Envelope, UsageChanged
from gatewright.agent.record.messages import Usage
from gatewright.agent.text.well_formed import well_formed_json
from gatewright.tools.access import MAIN
from gatewright.tools.interact import Answer

VERSION = 1
PREFIX = "session_"  # of every subtype and type that is ours
NOTHING_SPENT = UsageChanged(usage=Usage(), cost=0.0, context=0, window=0)


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What no event says, or what a client wants to know without having folded them."""

    id: str
    mode: str
    model: str
    moved: str = ""
    unsaved: str = ""
    answering: str = ""
    instructions: tuple[str, ...] | None = None
    setup_due: bool = False
    busy: bool = False
    spent: UsageChanged = NOTHING_SPENT

    @classmethod
    def of(cls, session: SessionClient) -> Facts:
        told = session.instructions
        return cls(
            id=session.id,
            mode=session.mode,
            model=session.model,
            moved=session.moved,
            unsaved=session.unsaved,
            answering=session.answering,
            instructions=None if told is None else tuple(told),
            setup_due=session.setup_due,
            busy=session.busy,
            spent=session.spent,
        )


class Listed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One command, as help and completion show it."""

    name: str
    summary: str
    args: str = ""
    aliases: tuple[str, ...] = ()
    source: str = ""
    leaves: bool = False
    kind: str = ""

    @classmethod
    def of(cls, command: Command) -> Listed:
        known = command.name, command.summary, command.args, command.aliases, command.source
        return cls(*known, leaves=command.leaves, kind=command.kind)


# From the session.


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="session_hello"):
    """The first line, unasked."""

    version: int
    app: str
    facts: Facts
    commands: tuple[Listed, ...]


class FactsChanged(msgspec.Struct, frozen=True, tag_field="type", tag="session_facts"):
    facts: Facts


class Ending(msgspec.Struct, frozen=True, tag_field="type", tag="session_ending"):
    """The session ends by itself, and why: no more comes, and nobody finds it again."""

    why: str


class CommandsChanged(msgspec.Struct, frozen=True, tag_field="type", tag="session_commands"):
    commands: tuple[Listed, ...]


class Happened(msgspec.Struct, frozen=True, tag_field="type", tag="session_event"):
    """An event as a transcript keeps it."""

    event: msgspec.Raw


class HappenedThere(msgspec.Struct, frozen=True, tag_field="type", tag="session_agent_event"):
    """An event of an agent that is watched; none once nothing more of it comes."""

    watch: int
    event: msgspec.Raw = msgspec.Raw()


class Responded(msgspec.Struct, frozen=True, tag_field="type", tag="control_response"):
    response: dict[str, Any]


FromSession: TypeAlias = (
    Hello | Ending | FactsChanged | CommandsChanged | Happened | HappenedThere | Responded
)


def encoded(value: object) -> str:
    """One line with its end, which every decoder takes."""
    try:
        line = msgspec.json.encode(value)
    except UnicodeEncodeError:  # a file name that is no text, for one
        line = msgspec.json.encode(well_formed_json(msgspec.to_builtins(value)))
    return line.decode("utf-8") + "\n"


def event_line(envelope: Envelope, session: str) -> str:
    """One line with its end."""
    event = encode_event(envelope, session)[:-1].decode("utf-8")
    return f'{{"type":"session_event","event":{event}}}\n'


def watched_line(watch: int, envelope: Envelope | None, session: str) -> str:
    """One line with its end, of an agent that is watched; without an event its last."""
    if envelope is None:
        return f'{{"type":"session_agent_event","watch":{watch}}}\n'
    event = encode_event(envelope, session)[:-1].decode("utf-8")
    return f'{{"type":"session_agent_event","watch":{watch},"event":{event}}}\n'


# To the session: what is done at once, in the order in which it was asked.


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="subtype"):
    pass


class Follow(Request, frozen=True, tag="session_follow"):
    """Send what is kept since then, what passes and still holds, and what happens from now on.

    `viewer` is what others are told of who it was that answered.
    """

    since: int = 0
    viewer: str = ""


class SendMessage(Request, frozen=True, tag="session_submit"):
    """`id` is the client's own, by which it finds its message again in what is kept."""

    text: str
    attachments: Taken = ()
    typed: str | None = None
    id: str = ""
    agent: str = MAIN


class GiveAnswer(Request, frozen=True, tag="session_answer"):
    ask: int
    answer: Answer


class Interrupt(Request, frozen=True, tag="session_interrupt"):
    pass


class Typing(Request, frozen=True, tag="session_typing"):
    """The person began to write."""


class TakeBack(Request, frozen=True, tag="session_take_back"):
    pass


class ToBackground(Request, frozen=True, tag="session_to_background"):
    pass


class Unwatch(Request, frozen=True, tag="session_unwatch"):
    watch: int


class CycleMode(Request, frozen=True, tag="session_cycle_mode"):
    pass


class StopSession(Request, frozen=True, tag="background_stop"):
    """A session that goes on by itself ends, as `agent stop` ends it. Answered before it does."""


# To the session: what may take as long as it wants.


class Lasting(Request, frozen=True):
    """Answered whenever it is done."""


class Opened(Lasting, frozen=True, tag="session_opened"):
    """Answered once what is asked at the beginning is."""


class Watch(Lasting, frozen=True, tag="session_watch"):
    """Send what an agent below did and does, under this number."""

    agent: str
    watch: int


class StopAgent(Lasting, frozen=True, tag="session_stop_agent"):
    agent: str


class ResumeAgent(Lasting, frozen=True, tag="session_resume_agent"):
    agent: str


class Mentions(Lasting, frozen=True, tag="session_mentions"):
    """How a name behind @ may go on."""

    begun: str


class WeighRules(Lasting, frozen=True, tag="session_weigh"):
    """What an "always" with these rules instead would do."""

    ask: int
    rules: tuple[str, ...]


class RunCommand(Lasting, frozen=True, tag="session_command"):
    line: str
    switches: bool = False
    panels: bool = False


class ApplyChange(Lasting, frozen=True, tag="session_apply"):
    operation: SetMode | SetModel | SetEffort | ClearHistory


class KeepSetting(Lasting, frozen=True, tag="session_keep_setting"):
    key: str
    value: str


class Remember(Lasting, frozen=True, tag="session_remember"):
    line: str


class Choose(Lasting, frozen=True, tag="session_choose"):
    """A row of a list that was offered; an `act` is a further key of it."""

    offer: int
    row: str
    act: str = ""


class GoBack(Lasting, frozen=True, tag="session_back"):
    offer: int


class ListRows(Lasting, frozen=True, tag="session_rows"):
    offer: int


class ReadRow(Lasting, frozen=True, tag="session_read"):
    """`look` is a further key of it."""

    offer: int
    row: str
    look: str = ""


class CallPanel(Lasting, frozen=True, tag="session_panel"):
    """Something that is done in a panel that was offered, by its name."""

    offer: int
    call: str
    args: tuple[str, ...] = ()


class Take(Lasting, frozen=True, tag="session_take"):
    """The text of a form, or a secret."""

    offer: int
    text: str


AtOnce: TypeAlias = (
    Follow
    | SendMessage
    | GiveAnswer
    | Interrupt
    | Typing
    | TakeBack
    | ToBackground
    | CycleMode
    | Unwatch
)
Later: TypeAlias = (
    Opened
    | Watch
    | StopAgent
    | ResumeAgent
    | Mentions
    | WeighRules
    | RunCommand
    | ApplyChange
    | KeepSetting
    | Remember
    | Choose
    | GoBack
    | ListRows
    | ReadRow
    | CallPanel
    | Take
)
AnyRequest: TypeAlias = AtOnce | Later
