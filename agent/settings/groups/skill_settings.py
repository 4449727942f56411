"""The settings of skills: which of them count, what listing them may cost, what they may do."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from gatewright.agent.settings.traits import (
    Section,
    chosen,
    forbidding,
    on_is_strict,
    personal,
)

# How a skill shows: to the model and the person, to the model without its description, to the
# person alone, to nobody.
Show: TypeAlias = Literal["on", "name-only", "user-invocable-only", "off"]


class Skills(Section, frozen=True):
    disabled: Annotated[
        tuple[str, ...], forbidding("Skills that nobody can invoke, such as code-review.")
    ] = ()
    listing_percent: Annotated[
        Annotated[float, msgspec.Meta(gt=0, le=10)],
        chosen("Percent of the model's window that the list of skills may take."),
    ] = 1.0
    learning: Annotated[
        Literal["off", "suggest"],
        personal("Whether a session that repeated a procedure suggests a skill at its end."),
    ] = "off"
    enforce_allowed_tools: Annotated[
        bool, on_is_strict("While a skill is active, only the tools it names may be used.")
    ] = False
