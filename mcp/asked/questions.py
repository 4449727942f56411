"""What a server asks of us in the middle of a call, as plain data, and what is answered."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeAlias

import msgspec

Action: TypeAlias = Literal["accept", "decline", "cancel"]


class Elicitation(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the person: a form, or an address to go to. All text is the server's."""

    message: str
    schema: dict[str, Any] | None = None
    url: str = ""
    id: str = ""  # by which the server says that what the address is for is done

    @property
    def mode(self) -> str:
        return "url" if self.schema is None else "form"


class Reply(msgspec.Struct, frozen=True):
    action: Action
    content: dict[str, Any] | None = None


class Said(msgspec.Struct, frozen=True):
    """One message of a conversation; `own` is the model's."""

    text: str
    own: bool = False


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that a model of ours is to go on with. All text is the server's."""

    messages: tuple[Said, ...]
    system: str = ""
    most: int = 0  # tokens of the answer
    hints: tuple[str, ...] = ()  # names of models, or parts of them
    cheap: bool = False  # it would rather have a fast or cheap one


class Sampled(msgspec.Struct, frozen=True):
    text: str
    model: str


class Unfit(Exception):
    """What the server asks for cannot be asked; the text tells it why."""


Elicit: TypeAlias = Callable[[Elicitation], Coroutine[Any, Any, Reply]]  # raises Unfit
Sample: TypeAlias = Callable[[Sampling], Coroutine[Any, Any, Sampled]]  # raises Unfit
