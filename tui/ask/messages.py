"""What a question tells the screen: an answer, or a key that is somebody else's.

Each names the question it was said to, so that none reaches another one.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from gatewright.tools.interact import Answer
from gatewright.tui.ask.answer_keys import UNCLEAR
from gatewright.tui.state import Pending


@dataclass
class AnswerGiven(Message):
    pending: Pending
    answer: Answer


@dataclass
class KeyPassed(Message):
    """A key that is none of the question's; the question stays as it is."""

    key: str


@dataclass
class TypedDraft(Message):
    """Text for the draft; `key` is the key when it is none."""

    text: str
    key: str = ""


@dataclass
class KeyUnclear(Message):
    """The key may have been meant for the draft, or for what cannot be read."""

    hint: str = UNCLEAR


@dataclass
class StopAsking(Message):
    """The agent that asks is to end."""

    pending: Pending


@dataclass
class WantsText(Message):
    """The person wants to answer in words: the screen opens the line editor."""

    pending: Pending


@dataclass
class ToldDraft(Message):
    """The draft is the answer: what the agent is to do instead."""

    pending: Pending


@dataclass
class WeighRules(Message):
    """Rules that are being typed: what an "always" with them would do."""

    pending: Pending
    rules: tuple[str, ...]


@dataclass
class ShowWhole(Message):
    """The person wants to read the change within its file; the question stays as it is."""

    pending: Pending
