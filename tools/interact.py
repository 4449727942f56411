"""A question put to the person, as data; who waits for it and who draws it is elsewhere.

The permission gate, question and plan tools, trust and MCP elicitation all use these shapes.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import msgspec

from gatewright.tools.blocks import Block, Diff, plain

# The kinds that everybody knows. Who draws or passes on a question of another one, such as a form
# of a server, treats it like a question, and gives no consent that it does not understand.
ELICITATION = "elicitation"  # of a server: what is answered is kept nowhere
ACCEPT = "accept"  # the option of a form that brings its values
AskKind: TypeAlias = Literal["permission", "question", "plan", "trust"]
Answerer: TypeAlias = Literal["person", "classifier", "host"]
Place: TypeAlias = Literal["", "session", "user"]  # as it is kept anyway; elsewhere
FieldType: TypeAlias = Literal["text", "secret", "number", "integer", "boolean", "one", "several"]


class Option(msgspec.Struct, frozen=True):
    """One way to answer; `key` is the single key that picks it.

    After an answer that `leaves`, the front end closes the session and itself. One that stands
    `alone` answers by itself where several may be chosen.
    """

    id: str
    label: str
    key: str = ""
    help: str = ""
    leaves: bool = False
    alone: bool = False


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of a form; `options` are what "one" and "several" choose among.

    `least` and `most` are of a number, of the characters of a text, of how many are chosen;
    `format` is one of `form_values.FORMATS`.
    """

    name: str
    label: str
    type: FieldType = "text"
    options: tuple[str, ...] = ()
    required: bool = False
    default: Any = None
    help: str = ""
    least: float | None = None
    most: float | None = None
    format: str = ""


class Always(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an "always" would do: store `rules`, or switch to `mode`; `place` says where it is kept.

    For each rule `steps` are narrower and wider ones, the narrowest first. Rules that are not
    `offered` are only where a person who wants one may begin.
    """

    rules: tuple[str, ...] = ()
    steps: tuple[tuple[str, ...], ...] = ()
    mode: str = ""
    place: str = ""
    offered: bool = True


class RuleWeighed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One rule as it was typed: what it would do, or why it is none.

    `others` are earlier calls, asked about then, that it would have let run; `warnings` what a
    person must know before. One that is `wide` lets run any code.
    """

    about: str
    valid: bool = True
    others: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    wide: bool = False


class Weighed(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rules that a person might store instead; nobody may whose `problem` is told."""

    rules: tuple[RuleWeighed, ...] = ()
    problem: str = ""


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """`title` is one line, `body` shows exactly what is at stake, `reason` says why we ask.

    With `fields` it is a form, and the answer has their `values`. `answerer` is who is meant to
    answer: the person, a classifier, or the program that embeds us.
    `rewritten` is the input of the call that is judged, where it is not what the model wrote.
    `lacking` are the parts of a command in the body that are the reason: they must be seen. In
    `danger` the reason is what must be seen first, and nothing but a choice says yes. `always` is
    what the option of that name would store.
    """

    kind: str  # one of AskKind, or a later system's own
    title: str
    body: tuple[Block, ...]
    options: tuple[Option, ...]
    reason: str = ""
    tool: str = ""
    call_id: str = ""
    multiple: bool = False
    free_text: bool = False
    lacking: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    answerer: Answerer = "person"
    danger: bool = False
    rewritten: dict[str, Any] | None = None
    always: Always | None = None


def words(ask: Ask) -> str:
    """All it says, without the lines of changed files: what they name, nobody goes to."""
    shown = (plain(block) for block in ask.body if not isinstance(block, Diff))
    return "\n".join((ask.title, *shown, ask.reason))


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """`choices` are option ids; `text` is what the person typed instead or besides.

    `input` is what a call shall run with instead, when who answered changed it. `cancelled` means
    nobody answered: the turn was interrupted or the front end went away. `values` fill in a form.
    `rules` are what "always" is to store instead of what was offered, `place` where.
    """

    choices: tuple[str, ...] = ()
    text: str = ""
    cancelled: bool = False
    input: dict[str, Any] | None = None
    values: dict[str, Any] | None = None
    rules: tuple[str, ...] = ()
    place: Place = ""

    def __post_init__(self) -> None:
        """A text is a sequence of texts too: `Answer("once")` would choose o, n, c and e."""
        if not _texts(self.choices):
            raise TypeError(
                f"The choices of an Answer are a tuple of option ids, not {self.choices!r:.60}: "
                'write Answer.of("once").'
            )
        if not _texts(self.rules):
            raise TypeError(f"The rules of an Answer are a tuple of texts, not {self.rules!r:.60}.")
        _shaped("text", self.text, str)
        _shaped("cancelled", self.cancelled, bool)
        _shaped("input", self.input, dict, type(None))
        _shaped("values", self.values, dict, type(None))

    @classmethod
    def of(cls, *choices: str) -> Answer:
        """The answer that picks these options, by their ids."""
        return cls(choices)

    @property
    def choice(self) -> str:
        """The single choice, or an empty string."""
        return self.choices[0] if self.choices else ""


def _texts(value: object) -> bool:
    if not isinstance(value, tuple):
        return False
    return all(isinstance(item, str) for item in cast("tuple[object, ...]", value))


def _shaped(name: str, value: object, *kinds: type) -> None:
    if not isinstance(value, kinds):
        raise TypeError(f"The {name} of an Answer cannot be {value!r:.60}.")


def leaves(ask: Ask, answer: Answer) -> bool:
    """Whether the person chose to leave rather than to answer."""
    return any(option.leaves and option.id in answer.choices for option in ask.options)
