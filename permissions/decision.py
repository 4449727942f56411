"""What the gate decides about one call, as plain data.

An `Ask` is data too: `gate.py` puts it to a person, `decide.py` never waits for anybody.
"""

from __future__ import annotations

import enum
from typing import Literal, TypeAlias

import msgspec

from gatewright.tools.access import MAIN
from gatewright.tools.judgement import Judgement


class Stage(enum.StrEnum):
    """The stage that settled a call; the names are public: records, hooks and tests use them."""

    HOOK = "hook"
    PATH = "path"
    URL = "url"
    DENY = "deny"
    SKILL = "skill"
    HUMAN = "human"
    MODE_GATE = "mode_gate"
    PLAN_FILE = "plan_file"
    OWN_MEMORY = "own_memory"
    FLOOR = "floor"
    TRUSTED_ALLOW = "trusted_allow"
    SKIP = "skip"
    SAFETY = "safety"
    ASK_RULE = "ask_rule"
    BYPASS = "bypass"
    UNTRUSTED_ALLOW = "untrusted_allow"
    MODE = "mode"
    NON_INTERACTIVE = "non_interactive"
    DONT_ASK = "dont_ask"
    CLASSIFIER = "classifier"


class Named(msgspec.Struct, frozen=True):
    """One word of a command line for a file, as far as it is known where it leads.

    `exact`: it spells out `path`, which no link decides; else `path` may be a glob, or one of
    several. A `maybe` is what an unknown program probably writes.
    """

    text: str
    path: str
    use: Literal["read", "write", "maybe"]
    exact: bool = False
    whole: bool = False  # moved or removed with all that is below


Answerer: TypeAlias = Literal["human", "classifier"]


class Reason(msgspec.Struct, frozen=True):
    """Why, in one sentence, and which rule of which source if one decided."""

    stage: Stage
    text: str
    rule: str = ""
    source: str = ""


class Grant(msgspec.Struct, frozen=True):
    """What "always" would do: store `rule`, or switch the session to `mode`.

    `steps` are narrower and wider rules that a person may want instead, the narrowest first.
    One of the `session` is consent to what the tool `rule` launches, and is no rule.
    """

    rule: str = ""
    mode: str = ""
    steps: tuple[str, ...] = ()
    session: bool = False


class Allow(msgspec.Struct, frozen=True):
    """`note` is set when the call runs although something about it deserves a log line.

    `command` replaces a shell call's command when what runs is narrower than what was asked.
    """

    reason: Reason
    note: str = ""
    command: str = ""
    judged: Judgement | None = None  # by a classifier
    names: tuple[Named, ...] = ()  # a person allowed exactly these before


class Deny(msgspec.Struct, frozen=True):
    """`asked` is the question it would have been, had there been a person."""

    reason: Reason
    asked: Ask | None = None
    judged: Judgement | None = None  # by a classifier
    barred: str = ""  # why the turn ends with it, as a failure
    shown: str = ""  # what people read of it, where the model is told more


class Ask(msgspec.Struct, frozen=True):
    """`grants` empty hides "always"; `explicit` asks may not be answered by a classifier.

    `lacking` are the parts of a command line that no rule covers, as they are written. `could` are
    rules that would settle it and are not offered by themselves; `unruled` says what no rule holds.
    """

    reason: Reason
    grants: tuple[Grant, ...] = ()
    explicit: bool = False
    answerer: Answerer = "human"
    lacking: tuple[str, ...] = ()
    names: tuple[Named, ...] = ()  # what a person who says yes says it to
    could: tuple[Grant, ...] = ()
    unruled: str = ""
    danger: bool = False  # what is lost may be lost for good: nobody says yes by the way
    judged: Judgement | None = None  # by a classifier, which leaves it to a person


Decision: TypeAlias = Allow | Deny | Ask


class DecisionRecord(msgspec.Struct, frozen=True):
    """What is kept of one decision: how it ended, who said so and how long it took."""

    call_id: str
    tool: str
    target: str
    behavior: Literal["allow", "deny"]
    stage: str
    reason: str
    rule: str = ""
    source: str = ""
    answer: str = ""
    ms: int = 0
    judged: Judgement | None = None
    agent: str = MAIN  # whose call it was
